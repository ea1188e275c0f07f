"""Many random cases of every native kernel: `python -m tests.kernels.random_shapes --cases 10000`.

    --sanitize             native code compiled with AddressSanitizer and UBSan, called without XLA (`sanitizing.py`)
    --sanitize threads     the same with ThreadSanitizer
    --sanitize none        the same in the ordinary build
    (without it)           in programs compiled by XLA, eight cases in each: minutes for a thousand

The code for other kinds of processor that this one can run: PROA_NATIVE_VARIANT=avx2, or sse2. For those that it cannot run,
arm64 among them: `emulated.py`.
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
from proa.ops.linear import linalg
from proa.ops.neural import normalization
from proa.ops.neural.windowed import convolution_kernels, pooling_kernels, transposed_convolution
from tests.kernels.cases import (
    attentions,
    bfloat_cases,
    block_cases,
    channel_cases,
    fused_cases,
    image_cases,
    light_cases,
    quantised_cases,
    recurrences,
)
from tests.kernels.cases import references as r

# What one program holds: compiling it costs far more than running it.
_AT_ONCE = 8


def _kernel(primitive: Any) -> Any:
    return primitive.operation.kernels["cpu"]


def _product(generator: np.random.Generator) -> tuple[list[Any], Callable[..., Any], list[np.ndarray]]:
    arrays, flags = r.product_case(generator)
    return arrays, lambda xp, *given: (_kernel(proa.matmul)(xp, *given, *flags),), [r.product_reference(arrays, flags)]


def _linear(generator: np.random.Generator) -> tuple[list[Any], Callable[..., Any], list[np.ndarray]]:
    """Rows times a weight, a bias added: `linear` over one or two axes of rows, with its gradients."""
    lead = tuple(r.some_size(generator, 40) for _ in range(int(generator.integers(1, 3))))
    depth, columns = r.some_size(generator, 300) + 1, r.some_size(generator, 300)
    x, weight, grad = (r.draw(generator, *shape) for shape in ((*lead, depth), (depth, columns), (*lead, columns)))
    if x.size * columns < 32 * depth:
        x, weight, grad = np.abs(x), np.abs(weight), np.abs(grad)
    bias = None if generator.random() < 0.2 else np.abs(r.draw(generator, columns))
    wide = [a.astype(np.float64) for a in (x, weight, grad)]
    rows, slopes = wide[0].reshape(-1, depth), wide[2].reshape(-1, columns)

    def run(xp: Any, x: Any, weight: Any, bias: Any, grad: Any) -> Any:
        product = _kernel(proa.matmul)
        return (
            _kernel(linalg.linear)(xp, x, weight, bias),
            product(xp, grad, weight, False, True),
            product(xp, x.reshape(-1, depth), grad.reshape(-1, columns), True, False),
        )

    expected = [wide[0] @ wide[1] + (0.0 if bias is None else bias), wide[2] @ wide[1].T, rows.T @ slopes]
    return [x, weight, bias, grad], run, expected


def convolution(
    generator: np.random.Generator, spatial: int = 0, form: str = ""
) -> tuple[list[Any], Callable[..., Any], list[np.ndarray]]:
    """A convolution and its gradients; see `references.convolution_case`."""
    ops = convolution_kernels
    (x, weight, bias), window = r.convolution_case(generator, spatial, form)
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


def transposed(
    generator: np.random.Generator, spatial: int = 0
) -> tuple[list[Any], Callable[..., Any], list[np.ndarray]]:
    """A transposed convolution (the input's gradient of another one, as an operation) and its gradients."""
    ops = convolution_kernels
    (x, weight, _), window = r.convolution_case(generator, spatial)
    shape = ops._numpy_conv(np, x, weight, None, *window).shape
    y = r.draw(generator, *shape)
    axes = range(1, x.ndim - 1) if window[-1] else range(2, x.ndim)
    extra = tuple(
        x.shape[axis] - ((shape[axis] - 1) * step - sum(pair) + spread * (width - 1) + 1)
        for axis, step, pair, spread, width in zip(axes, *window[:3], weight.shape[2:], strict=True)
    )

    def run(xp: Any, y: Any, weight: Any, dx: Any) -> Any:
        return (
            _kernel(transposed_convolution.conv_transpose)(xp, y, weight, extra, *window),
            _kernel(ops.conv)(xp, dx, weight, None, *window),
            _kernel(ops.conv_grad_weight)(xp, dx, y, weight.shape, *window),
        )

    wide, slopes, filters = (a.astype(np.float64) for a in (y, x, weight))
    expected = [
        ops._numpy_grad_input(np, wide, filters, x.shape, *window),
        ops._numpy_conv(np, slopes, filters, None, *window),
        ops._numpy_grad_weight(np, slopes, wide, weight.shape, *window),
    ]
    return [y, weight, x], run, expected


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


def recurrence(
    generator: np.random.Generator, layer: str = ""
) -> tuple[list[Any], Callable[..., Any], list[np.ndarray]]:
    """A recurrent layer and its gradients: LSTM, GRU, RNN_TANH, RNN_RELU, or any of them."""
    arrays, attributes = recurrences.recurrence_case(generator, layer or str(generator.choice(recurrences.KINDS)))
    grads = 2 if attributes[0] == "LSTM" else 1
    given = arrays + [r.draw(generator, arrays[0].shape[0], *arrays[1].shape) for _ in range(grads)]
    references = recurrences.both(np, tuple(recurrences.wide(given)), grads, False, attributes)
    return given, lambda xp, *flat: recurrences.both(xp, flat, grads, True, attributes), list(references)


KINDS: dict[str, Callable[[np.random.Generator], Any]] = {
    "product": _product,
    "linear": _linear,
    "convolution": convolution,
    "transposed convolution": transposed,
    "norm": _norm,
    "channels": channel_cases.channel_case,
    "pool": _pool,
    "average": image_cases.average_case,
    "depthwise": image_cases.depthwise_case,
    "fused depthwise": image_cases.fused_depthwise_case,
    "recurrence": recurrence,
    "rows": light_cases.rows_case,
    "update": light_cases.update_case,
    "attention": attentions.random_attention,
    "cross entropy": attentions.random_loss,
    "embedding": attentions.random_rows,
    "fused product": fused_cases.linear_case,
    "fused convolution": fused_cases.conv_case,
    "squeeze and excite": fused_cases.squeeze_case,
    **bfloat_cases.CASES,
    **block_cases.CASES,
    **quantised_cases.CASES,
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


# Compared with llama.cpp's own numbers, bit by bit, in tests/llm/engine/test_ggml.py; no random shape has such numbers.
WITHOUT_CASES = {"GgmlAttention", "GgmlNorm", "GgmlProduct", "GgmlSilu", "GgmlTurn"}


def handlers_without_a_case(seeds: range = range(24)) -> set[str]:
    """Handlers of the sources that no kind of case calls: each must have one."""
    return library.handlers() - WITHOUT_CASES - {handler for kind in KINDS for handler in handlers_of(kind, seeds)}


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
    parser.add_argument(
        "--sanitize", nargs="?", const="memory", choices=("memory", "threads", "none"), help="see above"
    )
    arguments = parser.parse_args()
    kinds = [arguments.only] if arguments.only else list(KINDS)
    if arguments.sanitize:
        from tests.kernels.emulation import sanitizing

        return sanitizing.run(arguments.sanitize, kinds, arguments.cases, arguments.seed)
    if library.why_not():
        print(f"There are no native kernels: {library.why_not()}")
        return 1
    if not arguments.only and (missing := handlers_without_a_case()):
        print(f"There are no cases for: {', '.join(sorted(missing))}")
        return 1
    each = -(-arguments.cases // len(kinds))
    for kind in kinds:
        started, worst = time.perf_counter(), 0.0
        for first in range(arguments.seed, arguments.seed + each, _AT_ONCE):
            worst = max(worst, run_cases(kind, range(first, min(first + _AT_ONCE, arguments.seed + each))))
        print(f"{kind}: {each} cases, largest error {worst:.1e}, {time.perf_counter() - started:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
