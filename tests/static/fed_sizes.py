"""The samples of every public function as static programs that are fed other sizes than they state.

    python -m tests.static.fed_sizes [--only cumsum,gather] [--show]

A program with the shapes of a sample (and gradients, where there are any) is fed arrays that are twice as long along their
first axis, then along their last one. Eager code says what is right: the program gives that, or refuses.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import proa as paddle
from proa import static
from proa.graph.structure import flatten
from tests.onnx.functions import made_in, placed, samples

TOLERANCE = 1e-4


def longer(array: np.ndarray, axis: int) -> np.ndarray:
    return np.concatenate([array, array], axis) if array.ndim else array


def built(function: Any, arguments: Any, named: Any, tensors: list[Any]) -> list[Any]:
    """The results of a call, and gradients of what is differentiable."""
    given = iter(tensors)
    positional = placed(arguments, given)
    found: list[Any] = []
    flatten(function(*positional, **placed(named, given)), found)
    return found


def gradients(found: list[Any], tensors: list[Any], grad: Callable[..., Any]) -> list[Any]:
    floats = [t for t in found if t.dtype.name == "float32" and not t.stop_gradient]
    wanted = [t for t in tensors if not t.stop_gradient]
    if not floats or not wanted:
        return []
    total = sum(((t * t).sum() for t in floats), paddle.zeros([]))
    return [g for g in grad(total, wanted) if g is not None]


def arrays_of(case: Any) -> tuple[Any, Any, list[np.ndarray]]:
    arguments, named = case.arrays()
    arguments = list(arguments)
    return arguments, named, [np.asarray(made.array) for made in (*made_in(arguments), *made_in(named))]


def programs(function: Any, case: Any) -> tuple[Callable[..., list[Any]], Callable[..., list[Any]], list[np.ndarray]]:
    """How the static program and eager code compute a sample for arrays."""
    arguments, named, arrays = arrays_of(case)
    main = static.Program()
    with static.program_guard(main):
        tensors = [static.data(f"x{n}", list(a.shape), a.dtype.name) for n, a in enumerate(arrays)]
        for tensor, array in zip(tensors, arrays, strict=True):
            tensor.stop_gradient = array.dtype.name != "float32"
        found = built(function, arguments, named, tensors)
        found += gradients(found, tensors, static.gradients)
    executor = static.Executor()

    def run(given: list[np.ndarray]) -> list[Any]:
        return executor.run(main, feed={f"x{n}": a for n, a in enumerate(given)}, fetch_list=found)

    def eager(given: list[np.ndarray]) -> list[Any]:
        paddle.disable_static()
        try:
            tensors = [paddle.to_tensor(a, stop_gradient=a.dtype.name != "float32") for a in given]
            found = built(function, arguments, named, tensors)
            found += gradients(found, tensors, lambda total, wanted: paddle.grad(total, wanted, allow_unused=True))
            return [np.asarray(tensor.numpy()) for tensor in found]
        finally:
            paddle.enable_static()

    return run, eager, arrays


def tried(function: Any, case: Any) -> Iterator[str]:
    """What comes of a sample: agrees, refused, both refuse, or what is wrong."""
    try:
        run, eager, arrays = programs(function, case)
        run(arrays)
    except Exception as problem:
        yield f"not built ({type(problem).__name__})"
        return
    for axis in (0, -1):
        given = [longer(array, axis) for array in arrays]
        try:
            wanted: Any = eager(given)
        except Exception:
            wanted = None
        try:
            found = run(given)
        except Exception as problem:
            yield "both refuse" if wanted is None else f"refused ({type(problem).__name__})"
            continue
        if wanted is None:
            yield "taken, though eager code refuses"
        elif not all(map(agree, found, wanted)):  # a program has zeros where eager code has no gradient
            yield f"WRONG along axis {axis}: {[a.shape for a in found]} for {[a.shape for a in wanted]}"
        else:
            yield "agrees"


def agree(found: Any, wanted: Any) -> bool:
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return False
    if found.dtype.kind not in "fc":
        return bool((found == wanted).all())
    tolerance = 1e-2 if found.dtype == np.float16 else TOLERANCE
    return np.allclose(found, wanted, tolerance, tolerance, equal_nan=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--numbers", default="0,1", help="which samples of each function")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    paddle.enable_static()
    for title, function, case in samples([part for part in options.only.split(",") if part]):
        if getattr(function.samples, "random", False):
            continue
        if title.split()[1] not in options.numbers.split(","):
            continue
        for outcome in tried(function, case):
            counts[outcome.split(" along")[0]] += 1
            if options.show or outcome.startswith(("WRONG", "taken")):
                print(f"{title}: {outcome}", flush=True)
    print(dict(counts))
    return 1 if counts["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())
