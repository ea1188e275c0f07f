"""The samples of every public function as ONNX models, run by ONNX Runtime.

    python -m tests.onnx.functions [--only cumsum,gather] [--unknown] [--show]

Each sample (see `proa/eager/samples.py`) is captured as a model of its own, translated, checked by the package onnx and run
on the same arrays; with `--unknown`, every size of the model is unknown before it runs. What cannot be captured (results
whose size depends on values) or has no counterpart in ONNX is counted apart; what is translated must agree.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import onnxruntime

import proa as paddle
from proa.eager.declare import PUBLIC
from proa.eager.samples import Made
from proa.graph.capture import capture
from proa.graph.structure import flatten
from proa.onnx import model_of
from proa.onnx.verifying import difference
from proa.static import InputSpec

TOLERANCE = 1e-4
_UNFEEDABLE = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "complex64", "complex128")


def samples(only: list[str]) -> Iterator[tuple[str, Any, Any]]:
    """Title, function and sample, each function once."""
    seen: set[int] = set()
    for name, function in sorted(PUBLIC.items()):
        found = getattr(function, "samples", None)
        if found is None or found.unspecified or id(found) in seen or name.endswith("_"):
            continue
        if only and not any(part == name.rpartition(".")[2] for part in only):
            continue
        seen.add(id(found))
        for number, case in enumerate(found.cases):
            yield f"{name} {number} {case!r}", function, case


def made_in(value: Any) -> list[Made]:
    """The arrays among arguments, in order."""
    if isinstance(value, Made):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [found for part in parts for found in made_in(part)]


def placed(value: Any, tensors: Iterator[Any]) -> Any:
    """Arguments with tensors in the place of arrays."""
    if isinstance(value, Made):
        return next(tensors)
    if isinstance(value, dict):
        return {key: placed(part, tensors) for key, part in value.items()}
    return type(value)([placed(part, tensors) for part in value]) if isinstance(value, (list, tuple)) else value


def tried(function: Any, case: Any, unknown: bool = False) -> str | None:
    """Runs one sample; why not, where that is not possible; AssertionError where results differ.

    With `unknown`, the model is captured for inputs of any size.
    """
    args, kwargs = case.arrays()
    made = made_in([list(args), kwargs])
    if any(value.spec.layout is not None for value in made):
        return "sparse"
    if any(value.array.dtype.name in _UNFEEDABLE for value in made):
        return "a type that ONNX Runtime cannot be fed"

    def call(*tensors: Any) -> Any:
        left = iter(tensors)
        return function(*placed(list(args), left), **placed(kwargs, left))

    results: list[Any] = []
    try:
        with paddle.no_grad():
            flatten(call(*[paddle.to_tensor(value.array) for value in made]), results)
            shapes = [[None] * value.array.ndim if unknown else list(value.array.shape) for value in made]
            specs = [InputSpec(s, v.array.dtype, f"x{i}") for i, (s, v) in enumerate(zip(shapes, made, strict=True))]
            graph = capture(call, specs)
            if unknown and not graph.holds_for([paddle.to_tensor(value.array) for value in made]):
                return "captured for other sizes"
    except Exception as error:
        return f"cannot be captured: {str(error)[:80]}"
    if not results:
        return "no tensors as results"
    try:
        proto = model_of(graph)
    except NotImplementedError as error:
        return "no counterpart: " + str(error).split(";")[0].removeprefix("(onnx.export) ")
    onnx.checker.check_model(proto, full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    theirs = session.run(None, {f"x{i}": np.asarray(value.array) for i, value in enumerate(made)})
    assert len(theirs) == len(results)
    for position, (ours, other) in enumerate(zip(results, theirs, strict=True)):
        wanted = ours.numpy()
        assert other.shape == wanted.shape, f"result {position} is {other.shape}, expected {wanted.shape}"
        assert other.dtype == wanted.dtype, f"result {position} is {other.dtype}, expected {wanted.dtype}"
        if not function.samples.random:
            allowed = 2e-2 if wanted.dtype == np.float16 else TOLERANCE if wanted.dtype.kind == "f" else 0.0
            error = difference(wanted, other)
            assert error <= allowed, f"result {position} differs by {error:.3g}:\n{other}\nexpected\n{wanted}"
    return None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", default="", help="names of functions, separated by commas")
    parser.add_argument("--unknown", action="store_true", help="models for inputs of any size")
    parser.add_argument("--show", action="store_true", help="also print what is left out, and why")
    chosen = parser.parse_args(arguments)
    ends: Counter[str] = Counter()
    for title, function, case in samples([part for part in chosen.only.split(",") if part]):
        try:
            left_out = tried(function, case, chosen.unknown)
        except Exception as error:
            ends["FAILS"] += 1
            print(f"{title}: {type(error).__name__}: {str(error)[:400]}", flush=True)
            continue
        if left_out is not None and chosen.show:
            print(f"{title}: {left_out}")
        ends["good" if left_out is None else left_out.split(":")[0]] += 1
    print(dict(ends))
    return 1 if ends["FAILS"] else 0


if __name__ == "__main__":
    sys.exit(main())
