"""The samples of every public function, saved here and run by the real package.

    python -m tests.formats.paddle.written_functions --paddle PATH_OF_A_PYTHON_WITH_PADDLE [--only cumsum,gather] [--show]

Each sample (see `proa/eager/samples.py`) is captured as a model of its own, written in Paddle's newer format and run
there on the same arrays. What cannot be captured (results whose size depends on values) or has no counterpart in Paddle's
operations is counted apart; what is written must agree.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import proa as paddle
from proa.eager.declare import PUBLIC
from proa.eager.samples import Made
from proa.formats.paddle.files.writing import write_model
from proa.formats.paddle.writing import graph_to_model
from proa.graph.capture import capture
from proa.graph.structure import flatten
from proa.static import InputSpec

from .written import OtherSide

_TOLERANCE = 1e-3


def samples(only: list[str]) -> Iterator[tuple[str, Any, Any]]:
    """Title, function and sample, each function once."""
    seen: set[int] = set()
    for name, function in sorted(PUBLIC.items()):
        found = getattr(function, "samples", None)
        if found is None or found.random or found.unspecified or id(found) in seen or name.endswith("_"):
            continue
        if only and not any(part == name.rpartition(".")[2] for part in only):
            continue
        seen.add(id(found))
        for number, case in enumerate(found.cases):
            yield f"{name} {number} {case!r}", function, case


def save(function: Any, case: Any, folder: Path) -> str | None:
    """Writes a sample's model and arrays; why not, where that is not possible."""
    args, kwargs = case.arrays()
    made: list[Made] = []

    def collect(value: Any) -> Any:
        if isinstance(value, Made):
            made.append(value)
            return value
        if isinstance(value, (list, tuple)):
            return type(value)([collect(part) for part in value])
        return value

    collect(list(args))
    collect(list(kwargs.values()))
    if any(value.spec.layout is not None for value in made):
        return "sparse"
    if any(value.array.dtype.name in ("bfloat16", "float16", "uint16") for value in made) or not made:
        return "types that the other side has no kernels for, or no inputs"
    if any(value.array.size == 0 for value in made):
        return "no elements"

    def call(*tensors: Any) -> Any:
        left = iter(tensors)

        def placed(value: Any) -> Any:
            if isinstance(value, Made):
                return next(left)
            return type(value)([placed(part) for part in value]) if isinstance(value, (list, tuple)) else value

        return function(*[placed(a) for a in args], **{name: placed(value) for name, value in kwargs.items()})

    tensors = [paddle.to_tensor(value.array) for value in made]
    results: list[Any] = []
    try:
        with paddle.no_grad():
            flatten(call(*tensors), results)
            graph = capture(call, [InputSpec(list(value.array.shape), value.array.dtype) for value in made])
    except Exception as error:
        return f"cannot be captured: {str(error)[:80]}"
    if not results:
        return "no tensors as results"
    try:
        write_model(graph_to_model(graph), folder / "model")
    except NotImplementedError as error:
        return "no counterpart: " + str(error).split(";")[0].removeprefix("(jit.save) ")
    outputs = {f"output_{i}": tensor.numpy() for i, tensor in enumerate(results)}
    np.savez(folder / "data.npz", **{f"input_{i}": value.array for i, value in enumerate(made)}, **outputs)
    return None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--paddle", required=True, help="a Python that has paddlepaddle 3.3")
    parser.add_argument("--only", default="", help="names of functions, separated by commas")
    parser.add_argument("--show", action="store_true", help="also print what is left out, and why")
    chosen = parser.parse_args(arguments)
    ends: Counter[str] = Counter()
    other = OtherSide(chosen.paddle)
    for title, function, case in samples([part for part in chosen.only.split(",") if part]):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            try:
                left_out = save(function, case, folder)
            except Exception as error:
                ends["fails to be written"] += 1
                print(f"{title}: {type(error).__name__}: {str(error)[:200]}", flush=True)
                continue
            if left_out is not None:
                ends[left_out.split(":")[0]] += 1
                if chosen.show:
                    print(f"  {title}: {left_out}")
                continue
            answer = other.ask(folder / "model", folder / "data.npz", False)
            good = answer.get("worst", 9e9) <= _TOLERANCE
            ends["agree" if good else "do not load" if "error" in answer else "differ"] += 1
            if not good:
                print(f"{title}: {answer.get('error') or answer['worst']!s:.300}".replace("\n", " "), flush=True)
            if other.process.poll() is not None:
                other = OtherSide(chosen.paddle)
    other.close()
    for end, count in ends.most_common():
        print(f"{count:6} {end}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
