"""Does a written file compute what the model computes? Asked before anybody is told that it was written.

The file is checked by the package onnx and run by ONNX Runtime. Beside it runs the captured Program, operation by operation
and without any pass, so that passes and translators are both looked at. Where sizes are unknown, several are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.dtype import is_reduced_precision
from ..core.errors import value_error
from ..core.symbols import SymbolicSize, UnknownSize
from ..eager.tensor import Tensor, tensor_from_data
from ..graph.graph import Graph
from ..graph.structure import flatten
from ..ir.block import blocks_in
from ..ir.operation import Operation
from ..ir.program import Program
from ..ir.tiers.interpreter import Problem, run_on_numpy
from .protos import needed_onnx
from .sources import Source

TOLERANCE = 1e-4  # of float32, beside the largest number of a result
_SMALLEST = 1e-2  # that a largest number is taken for: of less, rounding elsewhere in the model may be all there is
_HALF_TOLERANCE = 2e-2
_GRID_TOLERANCE = 2e-2  # where numbers are rounded to grids: one that lies between two levels may go to either
_SEED = 2024
_SIZES = (2, 3, 1, 5, 8, 16, 32, 48, 64, 96, 224)  # that unknown dimensions get, in the order in which they are tried
_MOST_CHECKS = 2
# Products with weights in bytes are compared as the file says them: by itself the runtime would round the other operand to
# 8 bits as well.
SETTINGS = {"session.qdq_matmulnbits_accuracy_level": "1"}


class MismatchError(RuntimeError):
    """A file that does not compute what the model computes; it is not kept."""


class Comparison(NamedTuple):
    """One result of one run, by both."""

    name: str
    shape: list[int]
    dtype: str
    error: float  # largest difference, beside the largest number
    allowed: float
    ours: np.ndarray
    theirs: np.ndarray

    @property
    def good(self) -> bool:
        return self.error <= self.allowed


class Check(NamedTuple):
    """One run: what was fed, and what came out."""

    inputs: dict[str, np.ndarray]
    results: list[Comparison]
    random: bool


def needed_runtime() -> Any:
    """The package onnxruntime, or an error that says how to get it."""
    try:
        import onnxruntime
    except ImportError as error:
        raise ImportError(
            f"(onnx.export) a file is run before it is handed out, and onnxruntime cannot be imported: {error}. Run pip "
            "install proa[onnx], or export with verify=False."
        ) from error
    return onnxruntime


def verify(
    path: str, source: Source, test_inputs: Sequence[Any] | None = None, tolerance: float | None = None
) -> list[Check]:
    """Checks a file; MismatchError where it is not what the model is."""
    onnx, runtime = needed_onnx(), needed_runtime()
    try:
        onnx.checker.check_model(path, full_check=True)
    except Exception as error:
        raise MismatchError(f"(onnx.export) what was written is no valid model: {str(error)[:2000]}") from error
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    for key, value in SETTINGS.items():
        options.add_session_config_entry(key, value)
    try:
        session = runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise MismatchError(f"(onnx.export) ONNX Runtime cannot load what was written: {str(error)[:2000]}") from error
    checks = [_check(session, source, arrays, wanted, tolerance) for arrays, wanted in _runs(source, test_inputs)]
    for check in checks:
        for result in check.results:
            if not result.good:
                sizes = ", ".join(f"{name}: {list(array.shape)}" for name, array in check.inputs.items())
                raise MismatchError(
                    f"(onnx.export) {result.name} differs by {result.error:.3g} of its largest number, more than "
                    f"{result.allowed:g}, for inputs {sizes}; the file was not kept. If the difference is what you expect, "
                    "give tolerance=…; verify=False writes without looking."
                )
    return checks


# ---- runs of our own -----------------------------------------------------------------------------------------------


def _runs(source: Source, given: Sequence[Any] | None) -> Iterator[tuple[list[np.ndarray], list[np.ndarray]]]:
    """Inputs and the results that are wanted for them."""
    if given is not None:
        arrays = [_as_array(value) for value in given]
        names = [given.name for given in source.graph.inputs]
        if len(arrays) != len(names):
            raise value_error("onnx.export", f"test_inputs: one for each of {', '.join(names)}", f"{len(arrays)}")
        yield arrays, reference(source, arrays)
        return
    unknown = source.graph.has_unknown_sizes
    found, problem = 0, ""
    for size in _SIZES if unknown else _SIZES[:1]:
        arrays = _made_up(source.graph, size)
        try:
            wanted = reference(source, arrays)
        except (UnknownSize, ValueError, TypeError, IndexError, ZeroDivisionError) as error:
            problem = problem or str(error)
            if not unknown:
                break
            continue
        yield arrays, wanted
        found += 1
        if found == (_MOST_CHECKS if unknown else 1):
            return
    if not found:
        raise value_error(
            "onnx.export", f"the model does not run on made-up inputs: {problem[:500]}", "", "give test_inputs=[…]"
        )


def _as_array(value: Any) -> np.ndarray:
    return value.numpy() if isinstance(value, Tensor) else np.asarray(value)


def _made_up(graph: Graph, unknown: int) -> list[np.ndarray]:
    """Inputs with `unknown` where a size is not known: floats around 0, integers that are indices of anything."""
    random = np.random.default_rng(_SEED)
    arrays: list[np.ndarray] = []
    for given in graph.inputs:
        sizes = [unknown if isinstance(size, SymbolicSize) else int(size) for size in given.aval.shape]
        dtype = given.aval.dtype
        if dtype.kind in "iu":
            arrays.append(random.integers(0, 2, sizes).astype(dtype))
        elif dtype.kind == "b":
            arrays.append(random.random(sizes) < 0.5)
        else:
            arrays.append(random.standard_normal(sizes).astype(dtype))
    return arrays


def reference(source: Source, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """What the captured Program gives, operation by operation."""
    tensors = [tensor_from_data(array) for array in arrays]
    if source.graph.is_staged:
        source.graph.check_inputs(tensors)
        found: list[Tensor] = []
        flatten(source.graph(*tensors), found)
        return [result.numpy() for result in found]
    graph = source.graph_for(tensors)
    graph.check_inputs(tensors)
    program, scalars, held = graph.specialised(tensors)
    values = [np.asarray(value) for value in (*(t._data() for t in tensors), *held)]
    try:
        results = run_on_numpy(program, values, graph.fresh_scalars(scalars))
    except Problem as problem:
        raise problem.error from None
    numbers = program.outputs[: graph.num_results]
    return [np.asarray(results[n] if n >= 0 else values[~n]) for n in numbers]


def _any_operation(program: Program, test: Callable[[Operation], bool]) -> bool:
    return any(
        test(instruction.operation)
        or any(_any_operation(block.program, test) for block in blocks_in(instruction.attributes))
        for instruction in program.instructions
    )


def is_random(program: Program) -> bool:
    """Whether its results differ from run to run."""
    return _any_operation(program, lambda operation: "seed" in operation.operand_names)


def is_on_grids(program: Program) -> bool:
    return _any_operation(program, lambda operation: operation.name in ("to_levels", "quantise"))


# ---- the comparison ------------------------------------------------------------------------------------------------


def _check(
    session: Any, source: Source, arrays: list[np.ndarray], wanted: list[np.ndarray], tolerance: float | None
) -> Check:
    feeds = {given.name: array for given, array in zip(source.graph.inputs, arrays, strict=True)}
    used = {given.name for given in session.get_inputs()}
    try:
        results = session.run(source.output_names, {n: _plain(a) for n, a in feeds.items() if n in used})
    except Exception as error:
        raise MismatchError(f"(onnx.export) ONNX Runtime cannot run what was written: {str(error)[:2000]}") from error
    random = is_random(source.graph.program)
    if tolerance is None and is_on_grids(source.graph.program):
        tolerance = _GRID_TOLERANCE
    compared = [
        _compare(name, ours, np.asarray(theirs), random, tolerance)
        for name, ours, theirs in zip(source.output_names, wanted, results, strict=True)
    ]
    return Check(feeds, compared, random)


def _plain(array: np.ndarray) -> np.ndarray:
    if array.dtype.name == "bfloat16":
        raise NotImplementedError(
            "(onnx.export) ONNX Runtime cannot be fed bfloat16 from Python; give the model inputs in float32, or export "
            "with verify=False."
        )
    return np.ascontiguousarray(array)


def _compare(name: str, ours: np.ndarray, theirs: np.ndarray, random: bool, tolerance: float | None) -> Comparison:
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        raise MismatchError(
            f"(onnx.export) {name} is {ours.dtype}{list(ours.shape)}, and the file gives {theirs.dtype}"
            f"{list(theirs.shape)}; the file was not kept."
        )
    exact = ours.dtype.kind in "biu"
    allowed = 0.0 if exact else _HALF_TOLERANCE if is_reduced_precision(ours.dtype) else TOLERANCE
    allowed = allowed if tolerance is None else tolerance
    error = 0.0 if random else difference(ours, theirs)
    return Comparison(name, list(ours.shape), ours.dtype.name, error, allowed, ours, theirs)


def difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The largest difference beside the largest number of ours; infinite where one is NaN and the other is not."""
    if not ours.size:
        return 0.0
    a, b = ours.astype(np.float64), theirs.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if same.all():
        return 0.0
    if not (np.isfinite(a) | same).all() or not (np.isfinite(b) | same).all():
        return float("inf")
    finite = np.isfinite(a)
    largest = max(_SMALLEST, float(np.abs(a[finite]).max(initial=0.0)))
    return float(np.abs(np.where(same, 0.0, a) - np.where(same, 0.0, b)).max()) / largest
