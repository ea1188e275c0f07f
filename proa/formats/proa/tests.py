"""Recorded test vectors: inputs and the results they gave when the model was saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.dtype import is_reduced_precision
from ...core.symbols import SymbolicSize
from ...eager.tensor import Tensor, tensor_from_data
from ...eager.views import replace_value
from ...graph.graph import Graph
from ...graph.structure import flatten

_SEED = 20_240_229
_UNKNOWN = (2, 8, 32, 64, 224)  # what an unknown dimension is in recorded inputs: the first size that suits the model
_MOST_BYTES = 64 << 20


@dataclass
class Recorded:
    """One run."""

    inputs: list[np.ndarray]
    outputs: list[np.ndarray]


@dataclass
class Verdict:
    """How a replay compares; `worst` is the largest difference relative to what was allowed (1: just allowed)."""

    method: str
    number: int
    good: bool
    worst: float
    text: str


def make_inputs(graph: Graph, unknown: int = _UNKNOWN[0]) -> list[np.ndarray]:
    """Numbers that fit the graph's inputs: normal ones, and zeros and ones where integers are wanted."""
    generator = np.random.default_rng(_SEED)
    found: list[np.ndarray] = []
    for given in graph.inputs:
        sizes = [unknown if isinstance(size, SymbolicSize) else size for size in given.aval.shape]
        dtype = given.aval.dtype
        if dtype.kind in "iub":
            array = generator.integers(0, 2, sizes)
        elif dtype.kind == "c":
            array = generator.standard_normal(sizes) + 1j * generator.standard_normal(sizes)
        else:
            array = generator.standard_normal(sizes)
        found.append(np.asarray(array).astype(dtype))
    return found


def run(graph: Graph, inputs: Sequence[Any]) -> list[np.ndarray]:
    """The graph's results; buffers that it changes get their old values back."""
    tensors = [value if isinstance(value, Tensor) else tensor_from_data(np.asarray(value)) for value in inputs]
    before = [tensor_from_data(np.array(tensor._data())) for tensor in graph.updates]
    results: list[Tensor] = []
    try:
        flatten(graph(*tensors), results)
        return [np.asarray(tensor._data()) for tensor in results]
    finally:
        for tensor, value in zip(graph.updates, before, strict=True):
            replace_value(tensor, value)


def record(graph: Graph, given: Sequence[Sequence[Any]] | None = None) -> tuple[list[Recorded], str | None]:
    """Vectors for a graph, and a note where there can be none."""
    if graph._draws:
        return [], "draws random numbers, so no test vectors are recorded"
    if sum(i.aval.size * i.aval.dtype.itemsize for i in graph.inputs if not i.aval.symbolic) > _MOST_BYTES:
        return [], "its inputs are too large to be recorded"
    if given is not None:
        chosen = [[np.asarray(v._data() if isinstance(v, Tensor) else v) for v in inputs] for inputs in given]
        return [Recorded(arrays, run(graph, arrays)) for arrays in chosen], None
    problem = ""
    for size in _UNKNOWN if graph.has_unknown_sizes else _UNKNOWN[:1]:
        arrays = make_inputs(graph, size)
        try:
            return [Recorded(arrays, run(graph, arrays))], None
        except Exception as error:  # made-up inputs need not make sense to a model
            problem = problem or str(error)[:120]
    return [], f"made-up inputs do not suit it ({problem}); give test_inputs"


def replay(graph: Graph, method: str, tests: Sequence[Recorded], tolerance: float | None = None) -> list[Verdict]:
    """Runs the recorded inputs again."""
    verdicts: list[Verdict] = []
    for number, test in enumerate(tests):
        try:
            results = run(graph, test.inputs)
        except Exception as error:
            verdicts.append(Verdict(method, number, False, float("inf"), f"{type(error).__name__}: {str(error)[:300]}"))
            continue
        if len(results) != len(test.outputs):
            text = f"gives {len(results)} results, {len(test.outputs)} were recorded"
            verdicts.append(Verdict(method, number, False, float("inf"), text))
            continue
        pairs = zip(results, test.outputs, strict=True)
        worst = max([_distance(a, b, tolerance) for a, b in pairs], default=0.0)
        verdicts.append(
            Verdict(method, number, worst <= 1, worst, f"largest difference {worst:.3g} of what is allowed")
        )
    return verdicts


def _distance(result: np.ndarray, expected: np.ndarray, tolerance: float | None) -> float:
    if result.shape != expected.shape or result.dtype != expected.dtype:
        return float("inf")
    if result.dtype.kind in "iub":
        return 0.0 if np.array_equal(result, expected) else float("inf")
    allowed = tolerance if tolerance is not None else 2e-2 if is_reduced_precision(result.dtype) else 1e-4
    wide = np.complex128 if result.dtype.kind == "c" else np.float64
    a, b = result.astype(wide), expected.astype(wide)
    same = (a == b) | ((a != a) & (b != b))
    with np.errstate(all="ignore"):
        distance = np.where(same, 0, np.abs(a - b) / (allowed + allowed * np.abs(b)))
    distance = np.where(np.isnan(distance), np.inf, distance)
    return float(distance.max(initial=0.0))


# ---- as tensors of a file ----------------------------------------------------------------------------------------


def to_arrays(method: str, tests: Sequence[Recorded], into: dict[str, np.ndarray]) -> None:
    for number, test in enumerate(tests):
        for side, arrays in (("input", test.inputs), ("output", test.outputs)):
            for position, array in enumerate(arrays):
                name = f"{method}/{number}/{side}/{position}/{array.dtype.name}"
                array = np.ascontiguousarray(array).reshape(array.shape)
                if array.dtype.name == "complex128":  # which safetensors has no name for
                    array = array.reshape(*array.shape, 1).view(np.float64)
                into[name] = array


def from_arrays(arrays: dict[str, np.ndarray]) -> dict[str, list[Recorded]]:
    found: dict[str, dict[int, Recorded]] = {}
    parts: dict[tuple[str, int, str], dict[int, np.ndarray]] = {}
    for name, array in arrays.items():
        pieces = name.rsplit("/", 4)
        if (
            len(pieces) != 5
            or pieces[2] not in ("input", "output")
            or not (pieces[1].isdecimal() and pieces[3].isdecimal())
        ):
            raise ValueError(f"{name[:60]!r} is not a recorded test")
        if pieces[4] == "complex128" and array.dtype == np.float64 and array.ndim and array.shape[-1] == 2:
            array = array.view(np.complex128).reshape(array.shape[:-1])
        parts.setdefault((pieces[0], int(pieces[1]), pieces[2]), {})[int(pieces[3])] = array
    for (method, number, side), columns in parts.items():
        test = found.setdefault(method, {}).setdefault(number, Recorded([], []))
        values = [columns[position] for position in sorted(columns)]
        if side == "input":
            test.inputs = values
        else:
            test.outputs = values
    return {method: [tests[number] for number in sorted(tests)] for method, tests in found.items()}
