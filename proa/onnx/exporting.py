"""`paddle.onnx.export`: a file that was checked and run before it appears at its place.

Everything is written into a folder beside the target first. What fails on the way leaves nothing behind: neither a file
nor a changed one.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from typing import TYPE_CHECKING, Any

from ..core.errors import naming, value_error, warn
from ..core.tracebacks import boundary
from ..core.waiting import waiting
from ..eager.declare import public
from ..framework.writing import sync_folder, writable_target
from .certificate import ENDING, certificate, text_of
from .conversion import NEWEST, OLDEST, model_of
from .protos import needed_onnx
from .sources import source_of
from .verifying import needed_runtime, verify

if TYPE_CHECKING:
    pass

_PADDLES_DEFAULT = 9
_LARGEST = 1_900_000_000  # bytes of weights in one file: a protobuf message holds 2 GiB
# Options of paddle2onnx. Those without meaning here are accepted: checks always run, the opset is raised where needed.
_OPTIONS = frozenset({
    "output_spec", "verify", "test_inputs", "tolerance", "external_data", "auto_upgrade_opset", "enable_onnx_checker",
    "enable_optimize", "enable_experimental_op", "verbose", "input_shape_dict", "save_file", "enable_dev_version",
})  # fmt: skip


@public(module="onnx")
@boundary
def export(layer: Any, path: str, input_spec: Any = None, opset_version: int = 9, **configs: Any) -> None:
    """Writes a layer or function, captured in evaluation mode, as `path.onnx`; the package paddle2onnx is not needed.

    The file is checked, run by ONNX Runtime and compared with the model before it appears; a certificate (JSON) with what
    was compared is written beside it. Dimensions that are None in `input_spec` stay free. Opsets from 17 on are written;
    a smaller number means 17.

    Options: `output_spec` (positions of the results to keep), `test_inputs` (tensors to compare with, instead of
    made-up ones), `tolerance` (largest difference allowed, beside the largest number of a result), `verify=False` (write
    without running), `external_data=True` (weights in a file of their own, as models above 2 GB have them anyway).

    Args:
        layer: a Layer, or a function.
        path: where, without its suffix.
        input_spec: an `InputSpec` for each input.
        opset_version: of ONNX's operators.
        **configs: the options above.

    Raises:
        NotImplementedError: ONNX cannot say an operation; the message names it and its line.
        ValueError: there is no such option.

    Examples:
        >>> import os
        >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
        >>> paddle.onnx.export(paddle.nn.Linear(2, 3), "linear", input_spec=[spec])
        >>> os.path.exists("linear.onnx")
        True
    """
    unknown = sorted(set(configs) - _OPTIONS)
    if unknown:
        raise value_error(
            "onnx.export", f"there is no option {', '.join(unknown)}", f"known: {', '.join(sorted(_OPTIONS))}"
        )
    if not isinstance(path, (str, os.PathLike)) or not os.path.basename(os.fspath(path)):
        raise value_error("onnx.export", "path must name a file, without its suffix", repr(path))
    name = os.fspath(path)
    source = source_of(layer, input_spec, configs.get("output_spec"))
    write_onnx(
        source, name if name.endswith(".onnx") else f"{name}.onnx", opset_version=_opset(opset_version),
        check=bool(configs.get("verify", True)), test_inputs=configs.get("test_inputs"), tolerance=configs.get("tolerance"),
        external_data=bool(configs.get("external_data", False)),
    )  # fmt: skip


def _opset(asked: Any) -> int:
    if asked.__class__ is not int or not 1 <= asked <= NEWEST:
        raise value_error("onnx.export", f"opset_version is a number up to {NEWEST}", f"{asked!r}")
    if _PADDLES_DEFAULT < asked < OLDEST:
        warn(f"(onnx.export) opset {asked} was asked for; {OLDEST}, the oldest that is written, is taken.", UserWarning)
    return max(asked, OLDEST)


def write_onnx(
    model: Any, path: str, *, opset_version: int = OLDEST, check: bool = True, test_inputs: Any = None,
    tolerance: float | None = None, external_data: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Writes a model (see `model_of`) to `path` and its certificate beside it; gives the certificate.

    Args:
        model: a Layer's or function's graph, or a model that was loaded from files.
        path: where.
        opset_version: of ONNX's operators.
        check: whether the file is run and compared.
        test_inputs: tensors to compare with, instead of made-up ones.
        tolerance: the largest difference allowed, beside the largest number of a result.
        external_data: whether weights are in a file of their own.

    Examples:
        >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
        >>> paddle.jit.save(paddle.nn.Linear(2, 3), "model", input_spec=[spec])
        >>> certificate = paddle.onnx.write_onnx(paddle.jit.load("model"), "model.onnx", check=False)
        >>> isinstance(certificate, dict)
        True
    """
    needed_onnx()
    if check:
        needed_runtime()
    source = source_of(model)
    target = writable_target("onnx.export", path)
    folder = tempfile.mkdtemp(prefix=f".{os.path.basename(target)}.", dir=os.path.dirname(target))
    try:
        with naming(target), waiting("exporting to ONNX", "seconds; a minute for large models"):
            proto = model_of(source, opset_version=opset_version)
            written, data = _write(proto, folder, os.path.basename(target), external_data)
            del proto.graph.initializer[:]  # they are in the file; what follows needs memory, too
            checks = verify(written, source, test_inputs, tolerance) if check else []
            document = certificate(proto, written, os.path.basename(target), checks, data)
        _move(written, data, target, text_of(document))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return document


def _write(proto: Any, folder: str, name: str, external: bool) -> tuple[str, list[str]]:
    """The file in a folder, and the files with weights that it refers to."""
    onnx = needed_onnx()
    path = os.path.join(folder, name)
    total = sum(tensor.ByteSize() for tensor in proto.graph.initializer)
    if not external and total <= _LARGEST:
        onnx.save_model(proto, path)
        return path, []
    # A name of its own: an older model at this place keeps its weights until it is replaced.
    data = f"{name}.{os.urandom(4).hex()}.data"
    onnx.save_model(
        proto, path, save_as_external_data=True, all_tensors_to_one_file=True, location=data, size_threshold=1024
    )
    found = os.path.join(folder, data)
    return path, [found] if os.path.exists(found) else []


def _move(written: str, data: list[str], target: str, text: bytes) -> None:
    """Weights first, then the model, which makes them valid, then the certificate."""
    folder = os.path.dirname(target)
    old = _old_data(target)
    for part in (*data, written):
        _sync(part)
    for part in data:
        os.replace(part, os.path.join(folder, os.path.basename(part)))
    os.replace(written, target)
    proof = written + ENDING
    with open(proof, "wb") as file:
        file.write(text)
    _sync(proof)
    os.replace(proof, target + ENDING)
    sync_folder(folder)
    for name in old - {os.path.basename(part) for part in data}:
        if os.path.exists(os.path.join(folder, name)):
            os.unlink(os.path.join(folder, name))


def _old_data(target: str) -> set[str]:
    """Files with weights that the model now at this place refers to, by its certificate."""
    try:
        with open(target + ENDING, "rb") as file:
            names = [str(part["file"]) for part in json.load(file)["external_data"]]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    prefix = os.path.basename(target) + "."
    return {
        name for name in names if name == os.path.basename(name) and name.startswith(prefix) and name.endswith(".data")
    }


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
