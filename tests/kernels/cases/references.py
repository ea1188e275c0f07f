"""Random cases of the native kernels and their float64 references, shared by the tests and the long random run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from proa.core import flags


@contextlib.contextmanager
def native(on: bool) -> Iterator[None]:
    """Programs traced inside use native kernels, or none."""
    before = flags.get("FLAGS_native_kernels")
    flags.set_flags({"FLAGS_native_kernels": on})
    try:
        yield
    finally:
        flags.set_flags({"FLAGS_native_kernels": before})


def jitted(kernel: Any, arrays: list[Any], attributes: tuple[Any, ...] = ()) -> list[np.ndarray]:
    """Results of one kernel of the op table, compiled alone; absent operands are None."""
    from proa.ir.xla import started_jax

    jax = started_jax()
    present = [array for array in arrays if array is not None]

    def run(*given: Any) -> Any:
        values = iter(given)
        return kernel(jax.numpy, *[None if a is None else next(values) for a in arrays], *attributes)

    results = jax.jit(run)(*present)
    return [np.asarray(r) for r in (results if isinstance(results, tuple) else (results,))]


def calls_native(kernel: Any, arrays: list[Any], attributes: tuple[Any, ...] = ()) -> bool:
    """Whether a kernel, traced on these arrays, contains a call of native code."""
    from proa.ir.xla import started_jax

    jax = started_jax()
    present = [array for array in arrays if array is not None]

    def run(*given: Any) -> Any:
        values = iter(given)
        return kernel(jax.numpy, *[None if a is None else next(values) for a in arrays], *attributes)

    return "custom_call @proa" in jax.jit(run).lower(*present).as_text()


def error_of(found: np.ndarray, reference: np.ndarray) -> float:
    """The largest difference, relative to the largest value of the reference."""
    assert found.shape == reference.shape, (found.shape, reference.shape)
    if not reference.size:
        return 0.0
    assert np.isfinite(found).all()
    return float(np.abs(found - reference).max() / max(np.abs(reference).max(), 1e-30))


def draw(generator: np.random.Generator, *shape: int) -> np.ndarray:
    return generator.standard_normal(shape).astype(np.float32)


def some_size(generator: np.random.Generator, most: float) -> int:
    """A size of any order up to `most`; often one that just fills vectors, or does not."""
    if generator.random() < 0.35:
        return int(generator.choice([n for n in (1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65) if n <= most]))
    return int(2 ** generator.uniform(0, np.log2(most)))


# ---- products ------------------------------------------------------------------------------------


def product_case(generator: np.random.Generator) -> tuple[list[np.ndarray], tuple[bool, bool]]:
    """Operands of `matmul` of random size: tiles with every remainder, vectors, batches, transposed or not."""
    sizes = [some_size(generator, 181) for _ in range(3)]
    if generator.random() < 0.3:
        sizes[int(generator.integers(3))] = int(generator.integers(300, 3000))
    if generator.random() < 0.15:
        sizes[int(generator.integers(2)) * 2] = 1
    rows, depth, columns = sizes
    batch = tuple(int(n) for n in generator.integers(1, 5, int(generator.integers(0, 3))))
    transpose_x, transpose_y = (bool(b) for b in generator.integers(0, 2, 2))
    x = draw(generator, *batch, *((depth, rows) if transpose_x else (rows, depth)))
    y = draw(generator, *batch, *((columns, depth) if transpose_y else (depth, columns)))
    if rows * columns < 32:  # among a few sums there may be none that is larger than the rounding of its terms
        x, y = np.abs(x), np.abs(y)
    return [x, y], (transpose_x, transpose_y)


def product_reference(arrays: list[np.ndarray], flags: tuple[bool, bool]) -> np.ndarray:
    x, y = (a.astype(np.float64).swapaxes(-1, -2) if t else a.astype(np.float64) for a, t in zip(arrays, flags))
    return x @ y


# ---- convolutions --------------------------------------------------------------------------------


def convolution_case(
    generator: np.random.Generator, spatial: int = 0, form: str = ""
) -> tuple[list[np.ndarray], tuple[Any, ...]]:
    """Input, weight and bias of a random convolution over one to three axes, and its window.

    Strides may be larger than the window, and padding than the image. `form`: dense, grouped, depthwise, or any of them.
    """
    spatial = spatial or int(generator.choice([1, 2, 2, 3]))
    groups = int(generator.choice({"": [1, 1, 1, 2, 3, 8], "dense": [1], "grouped": [2, 3, 8]}.get(form, [3, 8, 17])))
    channels = groups * (1 if form == "depthwise" else int(generator.choice([1, 1, 2, 3, 7, 16, 31, 32])))
    filters = groups * int(generator.choice([1, 1, 2, 5, 16, 32, 33]))
    images = int(generator.integers(1, 4))
    kernel, stride, dilation = (
        tuple(int(n) for n in generator.integers(1, most, spatial)) for most in (5, 4, 3)
    )  # fmt: skip
    padding = tuple((int(a), int(b)) for a, b in generator.integers(0, 6, (spatial, 2)))
    largest = 4 if generator.random() < 0.2 else 8 if spatial == 3 else 24
    extents = [
        max(int(generator.integers(1, largest)), spread * (width - 1) + 1 - before - after, 1)
        for width, spread, (before, after) in zip(kernel, dilation, padding)
    ]
    channels_last = bool(generator.integers(2))
    shape = (images, *extents, channels) if channels_last else (images, channels, *extents)
    weight = draw(generator, filters, channels // groups, *kernel)
    bias = draw(generator, filters)
    return [draw(generator, *shape), weight, bias], (stride, padding, dilation, groups, channels_last)


# ---- normalisation -------------------------------------------------------------------------------


def norm_case(generator: np.random.Generator) -> tuple[list[Any], tuple[Any, ...]]:
    """x, gradient, weight and bias of a random batch, layer, RMS or group norm, and its attributes."""
    form = str(generator.choice(["batch", "last", "rows", "group"]))
    sizes = [int(n) for n in generator.integers(2, 14, 4)]
    if form == "batch":
        shape = (sizes[0], 3 * sizes[1], *sizes[2:], int(generator.integers(1, 20)))
        axes, view, broadcast = (0, 2, 3, 4), shape, (1, shape[1], 1, 1, 1)
    elif form == "last":
        shape = (sizes[0], *sizes[2:], 7 * sizes[1])
        axes, view, broadcast = (0, 1, 2), shape, (1, 1, 1, shape[-1])
    elif form == "rows":
        shape = (sizes[0], 4 * sizes[1], 9 * sizes[2])
        axes, view, broadcast = (2,), shape, shape[2:]
    else:
        shape = (sizes[0], 2 * sizes[1], sizes[2], 3 * sizes[3])
        axes, view, broadcast = (2,), (shape[0], 2, sizes[1] * sizes[2] * 3 * sizes[3]), (1, shape[1], 1, 1)
    centred = form != "rows" or bool(generator.integers(2))
    parameter_shape = broadcast if form == "rows" else (max(broadcast),)
    x = draw(generator, *shape) * np.float32(generator.uniform(0.1, 5)) + np.float32(generator.uniform(-3, 3))
    weight = draw(generator, *parameter_shape) if generator.random() < 0.8 else None
    bias = draw(generator, *parameter_shape) if generator.random() < 0.8 else None
    return [x, draw(generator, *shape), weight, bias], (view, axes, broadcast, centred)


def norm_references(arrays: list[Any], epsilon: float, attributes: tuple[Any, ...]) -> list[np.ndarray]:
    """Result, gradient of x and gradient of the weight, in float64."""
    view, axes, broadcast, centred = attributes
    x, grad, weight, bias = (None if a is None else a.astype(np.float64) for a in arrays)
    parts = x.reshape(view)
    mean = parts.mean(axes, keepdims=True) if centred else 0.0
    factor = 1 / np.sqrt(((parts - mean) ** 2).mean(axes, keepdims=True) + epsilon)
    standard = ((parts - mean) * factor).reshape(x.shape)
    out = standard * (1.0 if weight is None else weight.reshape(broadcast))
    out = out + (0.0 if bias is None else bias.reshape(broadcast))
    scaled = (grad * (1.0 if weight is None else weight.reshape(broadcast))).reshape(view)
    turned = standard.reshape(view)
    inner = scaled - turned * (scaled * turned).mean(axes, keepdims=True)
    inner = inner - (scaled.mean(axes, keepdims=True) if centred else 0.0)
    full = (1,) * (x.ndim - len(broadcast)) + tuple(broadcast)
    summed = tuple(axis for axis, n in enumerate(full) if n == 1)
    return [out, (inner * factor).reshape(x.shape), (grad * standard).sum(summed, keepdims=True).reshape(broadcast)]


# ---- rows and pooling ----------------------------------------------------------------------------


def pool_case(generator: np.random.Generator) -> tuple[list[np.ndarray], tuple[Any, ...]]:
    """Input and gradient of a random maximum pooling, and its window."""
    spatial = int(generator.integers(1, 4))
    kernel, stride = (tuple(int(n) for n in generator.integers(1, 5, spatial)) for _ in range(2))
    padding = tuple((int(generator.integers(0, k)), int(generator.integers(0, k))) for k in kernel)
    if not generator.integers(3):  # the commonest window, which has code of its own
        kernel = stride = (2,) * spatial
        padding = ((0, 0),) * spatial
    extents = [int(n) for n in generator.integers(4, 14 if spatial == 3 else 80, spatial)]
    out = [(n + a + b - k) // s + 1 for n, k, s, (a, b) in zip(extents, kernel, stride, padding)]
    channels_last = bool(generator.integers(2))
    images, channels = int(generator.integers(1, 4)), int(generator.integers(1, 40))
    # Whole numbers, so that there are equals among which the first must win.
    x = generator.integers(-4, 5, (images, channels, *extents)).astype(np.float32)
    y = draw(generator, images, channels, *out)
    if channels_last:
        x, y = np.moveaxis(x, 1, -1).copy(), np.moveaxis(y, 1, -1).copy()
    return [x, y], (kernel, stride, padding, channels_last)
