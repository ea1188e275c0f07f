"""Many random cases of every native kernel: `python -m tests.kernels.random_shapes --cases 10000`.

For a run that finds reads and writes out of bounds:

    PROA_NATIVE_FLAGS="-fsanitize=address -O1" ASAN_OPTIONS=detect_leaks=0 \\
        LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libstdc++.so)" \\
        python -m tests.kernels.random_shapes --cases 10000

The code for smaller processors: PROA_NATIVE_FLAGS=-mno-avx512f, or "-mno-avx512f -mno-avx2 -mno-fma".
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import proa
from proa.kernels.cpu import library, products, updates
from proa.ops.neural import convolution_kernels, normalization, pooling_kernels
from tests.kernels import attentions, fused_cases, light_cases, recurrences
from tests.kernels import references as r

# What one program holds: compiling it costs far more than running it.
_AT_ONCE = 8


def _kernel(primitive: Any) -> Any:
    return primitive.operation.kernels["cpu"]


def _product(generator: np.random.Generator) -> tuple[list[Any], Callable[..., Any], list[np.ndarray]]:
    arrays, flags = r.product_case(generator)
    return arrays, lambda xp, *given: (_kernel(proa.matmul)(xp, *given, *flags),), [r.product_reference(arrays, flags)]


def _convolution(generator: np.random.Generator) -> tuple[list[Any], Callable[..., Any], list[np.ndarray]]:
    ops = convolution_kernels
    (x, weight, bias), window = r.convolution_case(generator)
    wide = [a.astype(np.float64) for a in (x, weight, bias)]
    y = ops._numpy_conv(np, *wide, *window)
    dy = r.draw(generator, *y.shape)

    def run(xp: Any, x: Any, weight: Any, bias: Any, dy: Any) -> Any:
        return (
            _kernel(ops.conv)(xp, x, weight, bias, *window),
            _kernel(ops.conv_grad_input)(xp, dy, weight, x.shape, *window),
            _kernel(ops.conv_grad_weight)(xp, x, dy, weight.shape, *window),
        )

    grads = dy.astype(np.float64)
    dx = ops._numpy_grad_input(np, grads, wide[1], x.shape, *window)
    dw = ops._numpy_grad_weight(np, wide[0], grads, weight.shape, *window)
    return [x, weight, bias, dy], run, [y, dx, dw]


def _norm(generator: np.random.Generator) -> tuple[list[Any], Callable[..., Any], list[np.ndarray]]:
    ops = normalization
    arrays, attributes = r.norm_case(generator)

    def run(xp: Any, x: Any, grad: Any, weight: Any, bias: Any) -> Any:
        epsilon = 1e-3
        return (
            _kernel(ops.normalise)(xp, x, weight, bias, epsilon, *attributes),
            _kernel(ops.normalise_grad_input)(xp, x, grad, weight, epsilon, *attributes),
            _kernel(ops.normalise_grad_weight)(xp, x, grad, epsilon, *attributes),
        )

    return arrays, run, r.norm_references(arrays, 1e-3, attributes)


def _pool(generator: np.random.Generator) -> tuple[list[Any], Callable[..., Any], list[np.ndarray]]:
    primitive = pooling_kernels.max_pool_grad
    (x, y), window = r.pool_case(generator)
    forward = pooling_kernels.max_pool

    def run(xp: Any, x: Any, y: Any) -> Any:
        return _kernel(primitive)(xp, x, y, *window), forward.operation.kernel_for("cpu")(xp, x, *window)

    references = [
        primitive.operation.kernel(np, x, y.astype(np.float64), *window),
        forward.operation.kernel_for("numpy")(np, x, *window),
    ]
    return [x, y], run, references


def _recurrence(generator: np.random.Generator) -> tuple[list[Any], Callable[..., Any], list[np.ndarray]]:
    arrays, attributes = recurrences.recurrence_case(generator, str(generator.choice(recurrences.KINDS)))
    grads = 2 if attributes[0] == "LSTM" else 1
    given = arrays + [r.draw(generator, arrays[0].shape[0], *arrays[1].shape) for _ in range(grads)]
    references = recurrences.both(np, tuple(recurrences.wide(given)), grads, False, attributes)
    return given, lambda xp, *flat: recurrences.both(xp, flat, grads, True, attributes), list(references)


KINDS: dict[str, Callable[[np.random.Generator], Any]] = {
    "product": _product,
    "convolution": _convolution,
    "norm": _norm,
    "pool": _pool,
    "recurrence": _recurrence,
    "rows": light_cases.rows_case,
    "update": light_cases.update_case,
    "attention": attentions.random_attention,
    "cross entropy": attentions.random_loss,
    "embedding": attentions.random_rows,
    "fused product": fused_cases.linear_case,
    "fused convolution": fused_cases.conv_case,
}


def as_one_program(cases: list[Any]) -> tuple[Callable[..., Any], list[Any]]:
    """All cases as one function, and what it is given."""

    def run(xp: Any, *flat: Any) -> Any:
        values, results = iter(flat), []
        for arrays, function, _ in cases:
            results += function(xp, *[None if a is None else next(values) for a in arrays])
        return tuple(results)

    return run, [a for arrays, _, _ in cases for a in arrays if a is not None]


def run_cases(kind: str, seeds: range) -> float:
    """The largest error of the cases, which are compiled into one program."""
    cases = [KINDS[kind](np.random.default_rng(seed)) for seed in seeds]
    found = iter(r.jitted(*as_one_program(cases)))
    worst = 0.0
    for seed, (arrays, _, expected) in zip(seeds, cases, strict=True):
        for reference in expected:
            error = r.error_of(next(found), reference)
            assert error < 1e-5, f"{kind}, seed {seed}: {error:.1e}; {[None if a is None else a.shape for a in arrays]}"
            worst = max(worst, error)
    return worst


def handlers_of(kind: str, seeds: range) -> set[str]:
    """The native handlers that the cases call."""
    from proa.ir.xla import started_jax

    run, given = as_one_program([KINDS[kind](np.random.default_rng(seed)) for seed in seeds])
    jax = started_jax()
    text = jax.jit(lambda *flat: run(jax.numpy, *flat)).lower(*given).as_text()
    return set(re.findall(r"custom_call @proa\.[\w.]*?\.(\w+)\(", text))


def handlers_without_a_case(seeds: range = range(24)) -> set[str]:
    """Handlers of the sources that no kind of case calls: each must have one."""
    return library.handlers() - {handler for kind in KINDS for handler in handlers_of(kind, seeds)}


def let_small_work_be_native() -> None:
    """Small cases are to reach the native code as well."""
    products.WORTHWHILE = 4096
    updates.WORTHWHILE = 0


def main() -> int:
    let_small_work_be_native()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000, help="how many in all")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--only", choices=sorted(KINDS), help="one kind of kernel")
    arguments = parser.parse_args()
    if library.why_not():
        print(f"There are no native kernels: {library.why_not()}")
        return 1
    if not arguments.only and (missing := handlers_without_a_case()):
        print(f"There are no cases for: {', '.join(sorted(missing))}")
        return 1
    kinds = [arguments.only] if arguments.only else list(KINDS)
    each = -(-arguments.cases // len(kinds))
    for kind in kinds:
        started, worst = time.perf_counter(), 0.0
        for first in range(arguments.seed, arguments.seed + each, _AT_ONCE):
            worst = max(worst, run_cases(kind, range(first, min(first + _AT_ONCE, arguments.seed + each))))
        print(f"{kind}: {each} cases, largest error {worst:.1e}, {time.perf_counter() - started:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
