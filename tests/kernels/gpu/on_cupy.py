"""Every instruction that the samples record, on CuPy beside NumPy.

`python -m tests.kernels.gpu.on_cupy --part 0/8 --out FILE` writes down what agrees, what CuPy refuses and gets wrong;
the test of the same name runs all of it. Needs an NVIDIA GPU and CuPy; with `--emulated` neither: the kernels that are
written in CUDA run on the CPU, thread by thread (a minute), and what else CuPy would do is NumPy's.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import proa as paddle
from proa.core.dtype import is_reduced_precision
from proa.core.place import make_place
from proa.eager.declare import PUBLIC
from proa.eager.samples import Made, SampleSet
from proa.eager.tensor import Tensor
from proa.ir.keys import attribute_key
from proa.ir.recording import running
from proa.ir.tiers import cupy_tier
from proa.kernels.gpu.cold import arithmetic, channels, pooling, rows, updates

from .emulated import running as emulation

GPU = make_place("gpu", 0)
# How far results may lie apart, as a part of the largest one: two implementations of the same functions.
TOLERANCES = {"float64": 1e-9, "complex128": 1e-9, "float32": 3e-5, "complex64": 3e-5}
REDUCED = 2e-2
# Their results are whatever memory holds, or (of several values for one place) whichever comes last.
UNSPECIFIED = {"empty"}
UNORDERED = {"put_along_axis": "assign", "index_set": "", "scatter_nd": ""}


class Case:
    """One instruction with its operands and what NumPy makes of them."""

    def __init__(self, instruction: Any, arguments: list[Any], results: list[Any]) -> None:
        self.instruction, self.results = instruction, results
        self.arguments = [
            a[()] if isinstance(operand, type) else a
            for a, operand in zip(arguments, instruction.operands, strict=True)
        ]


def _tensors(value: Any, leaves: list[Tensor]) -> Any:
    if isinstance(value, Made):
        tensor = paddle.to_tensor(value.array)
        if value.spec.grad and value.array.dtype.kind in "fcV":
            tensor.stop_gradient = False
            leaves.append(tensor)
        return value.in_layout(tensor)
    if isinstance(value, (list, tuple)):
        return type(value)(_tensors(v, leaves) for v in value)
    if isinstance(value, dict):
        return {k: _tensors(v, leaves) for k, v in value.items()}
    return value


def _results(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    return [leaf for item in value for leaf in _results(item)] if isinstance(value, (list, tuple)) else []


def _run(function: Any, sample: Any) -> None:
    """One sample, forwards and, where it can be, backwards."""
    leaves: list[Tensor] = []
    args, kwargs = sample.arrays()
    paddle.seed(2024)
    outputs = _results(function(*_tensors(args, leaves), **_tensors(kwargs, leaves)))
    usable = [out for out in outputs if not out.stop_gradient and not out.is_sparse()]
    if usable and leaves:
        paddle.grad(usable, leaves, allow_unused=True)


def recorded_cases(part: int, parts: int) -> Iterator[Case]:
    """Each kind of instruction once: the operation, its operands' types and shapes, its attributes."""
    functions = [f for f in PUBLIC.values() if isinstance(getattr(f, "samples", None), SampleSet)]
    original = running.run_on_numpy
    found: dict[Any, Case] = {}

    def noting(program: Any, inputs: Any, scalars: Any, watch: Any = None, every: bool = True) -> Any:
        def note(instruction: Any, arguments: Any, results: Any) -> None:
            if watch is not None:
                watch(instruction, arguments, results)
            key = (instruction.operation.name, instruction.kinds, attribute_key(instruction.attributes))
            if key not in found:
                given = [None if argument is None else np.array(argument) for argument in arguments]
                found[key] = Case(instruction, given, list(results))

        return original(program, inputs, scalars, note, True)

    before = paddle.get_device()
    paddle.set_device("cpu")
    running.run_on_numpy = noting  # type: ignore[assignment]
    try:
        with paddle.jit.eager_mode("immediate"):
            for function in functions[part::parts]:
                for sample in function.samples.cases:
                    try:
                        _run(function, sample)
                    except Exception:
                        continue
    finally:
        running.run_on_numpy = original
        paddle.set_device(before)
    yield from found.values()


def differs(actual: np.ndarray, expected: np.ndarray) -> str:
    """How a result differs from the expected one; empty where it does not."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return f"{actual.dtype}{actual.shape} instead of {expected.dtype}{expected.shape}"
    if expected.dtype.kind in "biu":
        return "" if np.array_equal(actual, expected) else f"{np.sum(actual != expected)} of {actual.size} differ"
    tolerance = REDUCED if is_reduced_precision(expected.dtype) else TOLERANCES[expected.dtype.name]
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    actual, expected = actual.astype(wide), expected.astype(wide)
    if not np.array_equal(np.isfinite(actual), np.isfinite(expected)):
        return "NaN or infinity at other places"
    good = np.isfinite(expected)
    scale = max(1.0, float(np.max(np.abs(expected[good]), initial=0.0)))
    apart = float(np.max(np.abs(actual[good] - expected[good]), initial=0.0))
    return "" if apart <= tolerance * scale else f"{apart:.3g} apart, values up to {scale:.3g}"


def _whole(name: str, parts: list[np.ndarray]) -> list[np.ndarray]:
    """What a factorisation stands for, where the factors themselves are free up to signs."""
    if name == "svd":
        left, values, right = parts
        count = values.shape[-1]
        return [values, (left[..., :count] * values[..., None, :]) @ right[..., :count, :]]
    if name == "eigh":
        values, vectors = parts
        return [values, (vectors * values[..., None, :]) @ np.conj(np.swapaxes(vectors, -1, -2))]
    return parts


def check(device: Any, case: Case) -> tuple[str, str]:
    """("same" | "refused" | "wrong", why) of one case."""
    cupy, operation = device.cupy, case.instruction.operation
    name, kernel = operation.name, operation.kernels.get("cupy") or operation.kernel
    try:
        given = [cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in case.arguments]
        given = [given] if operation.variadic else given
        results = kernel(device.xp, *given, *case.instruction.attributes)
        results = results if isinstance(results, tuple) else (results,)
        made = [cupy.asnumpy(result) for result in cupy_tier._as_inferred(device, case.instruction, results)]
    except Exception as error:
        return "refused", f"{type(error).__name__}: {str(error).strip()[:160]}"
    for actual, expected in zip(_whole(name, made), _whole(name, case.results), strict=True):
        difference = differs(actual, expected)
        if difference:
            return "wrong", difference
    return "same", ""


def sweep(part: int = 0, parts: int = 1, device: Any = None) -> dict[str, dict[str, Any]]:
    """By operation: how many cases agree, the reasons of refusals, and what is wrong."""
    device = device or cupy_tier._device(GPU)
    assert device is not None, "CuPy cannot be used here"
    table: dict[str, dict[str, Any]] = {}
    with device.device, device.stream:
        for case in recorded_cases(part, parts):
            name = case.instruction.operation.name
            if name in UNSPECIFIED or UNORDERED.get(name, "-") in ("", *case.instruction.attributes):
                continue
            verdict, why = check(device, case)
            row = table.setdefault(name, {"same": 0, "refused": {}, "wrong": []})
            if verdict == "same":
                row["same"] += 1
            elif verdict == "refused":
                kinds = ",".join(str(getattr(k, "dtype", k)) for k in case.instruction.kinds)
                row["refused"].setdefault(why, []).append(kinds)
            else:
                row["wrong"].append(f"{case.instruction!r}: {why}")
    return table


def emulated_device() -> Any:
    """A stand-in for a GPU on which the kernels written in CUDA run."""
    for module in (arithmetic, channels, pooling, rows, updates):
        module.function = emulation.function
    cupy = SimpleNamespace(asarray=lambda array: np.asarray(array).view(emulation.Array), asnumpy=np.asarray)
    nothing = contextlib.nullcontext()
    return SimpleNamespace(
        cupy=cupy, xp=emulation.Namespace(), array_type=emulation.Array, device=nothing, stream=nothing
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--emulated", action="store_true", help="without a GPU")
    arguments = parser.parse_args()
    part, parts = map(int, arguments.part.split("/"))
    table = sweep(part, parts, emulated_device() if arguments.emulated else None)
    arguments.out.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    counts = [sum(bool(row[key]) for row in table.values()) for key in ("same", "refused", "wrong")]
    print(f"{len(table)} operations: {counts[0]} agree somewhere, {counts[1]} refuse something, {counts[2]} are wrong")
    return 0


if __name__ == "__main__":
    sys.exit(main())
