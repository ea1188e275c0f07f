"""From a model of elsewhere to a file: read, saved beside its place, tried, compared, and only then put there."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..core.errors import value_error
from ..ir.capture import CaptureError
from ..jit.saving import load, save
from ..static.input_spec import InputSpec
from .certificate import Certificate, check_result, file_digest
from .layer import ConvertedLayer
from .samples import InputShape, from_file, tries
from .uncovered import UncoveredOperators

_OWN = ".proa"
_WRONG = (
    ValueError,
    TypeError,
    IndexError,
    KeyError,
    NotImplementedError,
    ArithmeticError,
    RuntimeError,
    AttributeError,
)


@dataclass
class Source:
    """A model to convert: how to read it, what gives its own results, and what its inputs are."""

    path: str
    kind: str
    read: Callable[[], ConvertedLayer]
    reference: Callable[[], Any]  # has `title`; called with arrays it gives arrays
    inputs: Callable[[], list[InputShape]]
    examples: Callable[[], list[list[np.ndarray]]] | None = None  # inputs that came with the model
    find_difference: Callable[[Sequence[np.ndarray], float, float], dict[str, Any] | None] | None = None


class NotEquivalent(RuntimeError):
    """The converted model gives other results; nothing was written but the certificate.

    Examples:
        >>> issubclass(paddle.convert.NotEquivalent, RuntimeError)
        True
    """


def convert_source(
    source: Source, output: str, *, inputs: Any = None, rtol: float = 1e-4, atol: float = 1e-4
) -> Certificate:
    """Converts a model and writes it, with a certificate beside it; raises where the two do not agree."""
    certificate = Certificate(source.path, source.kind, tolerance={"rtol": rtol, "atol": atol})
    certificate.versions = _versions()
    path = certificate_path(output)
    if not os.path.basename(output):
        raise value_error("convert", "the output must be a file, not a folder", repr(output))
    folder = os.path.dirname(os.path.abspath(output))
    os.makedirs(folder, exist_ok=True)
    workplace = tempfile.mkdtemp(dir=folder, prefix=".converting-")
    try:
        _converted(source, output, workplace, certificate, inputs, rtol, atol)
    except Exception as error:
        if isinstance(error, UncoveredOperators):
            certificate.uncovered = [asdict(entry) for entry in error.missing]
        certificate.reason = certificate.reason or f"{type(error).__name__}: {error}"
        error.add_note(f"Nothing was converted; what is known is in {path}.")
        raise
    finally:
        shutil.rmtree(workplace, ignore_errors=True)
        certificate.write(path)
    return certificate


def certificate_path(output: str) -> str:
    """Beside the result. Not `OUTPUT.certificate.json`: that is where Paddle's files have a method of that name."""
    return f"{output.removesuffix(_OWN)}-certificate.json"


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": platform.python_version(), "machine": platform.machine()}
    for name in ("proa", "numpy", "jax", "onnxruntime", "torch"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _converted(
    source: Source, output: str, workplace: str, certificate: Certificate, inputs: Any, rtol: float, atol: float
) -> None:
    layer = source.read()
    reference = source.reference()
    certificate.reference = reference.title
    sets, expected = _tried(source, reference, inputs, certificate)
    temporary = os.path.join(workplace, os.path.basename(output))
    certificate.fixed_dimensions = _saved(layer, temporary, sets[0])
    loaded = load(temporary)
    for arrays, wanted in zip(sets, expected, strict=True):
        if certificate.fixed_dimensions and arrays is not sets[0]:
            continue  # other sizes are not kept, as the certificate says
        certificate.describe_inputs(layer.input_names, arrays)
        results = loaded(*arrays)
        results = results if isinstance(results, (list, tuple)) else [results]
        found = [np.asarray(result.numpy()) for result in results]
        if len(found) != len(wanted):
            raise NotEquivalent(f"(convert) {len(found)} results, the model gives {len(wanted)}.")
        certificate.checks.append([
            check_result(name, mine, other, rtol, atol)
            for name, mine, other in zip(layer.output_names, found, wanted, strict=True)
        ])  # fmt: skip
    wrong = [check for checks in certificate.checks for check in checks if not check.agrees]
    if wrong:
        certificate.reason = "; ".join(f"{check.name}: {check.reason}" for check in wrong[:5])
        if source.find_difference is not None:
            certificate.first_difference = source.find_difference(sets[0], rtol, atol)
        where = (
            f" The first node that differs is {certificate.first_difference}." if certificate.first_difference else ""
        )
        raise NotEquivalent(f"(convert) the converted model gives other results: {certificate.reason}.{where}")
    _moved(workplace, os.path.dirname(os.path.abspath(output)), certificate)
    certificate.output, certificate.agrees = output, True


def _moved(workplace: str, folder: str, certificate: Certificate) -> None:
    """Weights first, so that a program without its weights is never seen."""
    for name in sorted(os.listdir(workplace), key=lambda name: not name.endswith(".pdiparams")):
        certificate.checksums[name] = file_digest(os.path.join(workplace, name))
        os.replace(os.path.join(workplace, name), os.path.join(folder, name))


def _tried(
    source: Source, reference: Any, inputs: Any, certificate: Certificate
) -> tuple[list[list[np.ndarray]], list[list[np.ndarray]]]:
    """Inputs that the model itself takes, with its results."""
    shapes = source.inputs()
    if inputs is not None:
        given = list(inputs) if isinstance(inputs, (list, tuple)) else from_file(inputs, [one.name for one in shapes])
        return [given], [reference(given)]
    if source.examples is not None:
        sets = source.examples()
        if sets:
            return _taken(sets, reference, certificate)
    failure: Exception | None = None
    for first, *others in tries(shapes):
        try:
            return _taken([first, *others], reference, certificate)
        except Exception as error:  # whatever an engine raises for inputs that it does not take
            failure = failure or error
    raise value_error(
        "convert", f"the model takes none of the inputs that were made up for it: {failure}", "",
        "give some with --inputs FILE.npz",
    )  # fmt: skip


def _taken(
    sets: list[list[np.ndarray]], reference: Any, certificate: Certificate
) -> tuple[list[list[np.ndarray]], list[list[np.ndarray]]]:
    """The first set must be one that the model takes; the others may have sizes that it was never meant for."""
    kept, expected = [sets[0]], [reference(sets[0])]
    for arrays in sets[1:]:
        try:
            expected.append(reference(arrays))
            kept.append(arrays)
        except Exception as error:
            certificate.notes.append(f"The model itself does not take a second set of sizes: {str(error)[:200]}")
    return kept, expected


def _saved(layer: ConvertedLayer, path: str, arrays: Sequence[np.ndarray]) -> list[str]:
    """Saves with unknown dimensions where that is possible; which ones became fixed, and why."""
    failure: Exception | None = None
    for specs in _forms(layer, arrays):
        options = {"test_inputs": [list(arrays)]} if path.endswith(_OWN) else {}
        try:
            save(layer, path, input_spec=specs, **options)
        except (CaptureError, *_WRONG) as error:
            failure = failure or error
            continue
        return _fixed(layer, specs, failure)
    assert failure is not None
    raise failure


def _forms(layer: ConvertedLayer, arrays: Sequence[np.ndarray]) -> list[list[InputSpec]]:
    """The input specs to try: as the model says, with the first dimension unknown only, and with none."""
    declared = [
        list(array.shape) if spec is None else list(spec.shape)
        for spec, array in zip(layer.input_spec, arrays, strict=True)
    ]
    first = [[d if axis == 0 else s for axis, (d, s) in enumerate(zip(shape, array.shape, strict=True))]
             for shape, array in zip(declared, arrays, strict=True)]  # fmt: skip
    none = [list(array.shape) for array in arrays]
    found: list[Any] = []
    for form in (declared, first, none):
        if form not in found:
            found.append(form)
    return [
        [
            InputSpec(shape, array.dtype, name)
            for shape, array, name in zip(form, arrays, layer.input_names, strict=True)
        ]
        for form in found
    ]


def _fixed(layer: ConvertedLayer, specs: list[InputSpec], failure: Exception | None) -> list[str]:
    lines = []
    for spec, own in zip(specs, layer.input_spec, strict=True):
        for axis, (size, declared) in enumerate(
            zip(spec.shape, own.shape if own is not None else spec.shape, strict=True)
        ):
            if declared in (-1, None) and size not in (-1, None):
                lines.append(f"{spec.name}, axis {axis}: {size} ({str(failure).splitlines()[0]})")
    return lines


__all__ = ["NotEquivalent", "Source", "certificate_path", "convert_source"]
