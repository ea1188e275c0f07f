"""Random cases of native attention, cross entropy and embedding gradients, and what they are compared with."""

from __future__ import annotations

from typing import Any

import numpy as np

from proa.ops.neural import attention as ops
from proa.ops.neural import embedding
from proa.ops.neural.losses import labels
from tests.kernels.cases.references import draw, some_size

GRADIENTS = (ops.attention_grad_query, ops.attention_grad_key, ops.attention_grad_value)


def attention_case(generator: np.random.Generator) -> tuple[list[Any], tuple[float, bool]]:
    """Query, keys, values, gradient and mask of a random attention, its scale, and whether it is causal."""
    batch, heads = (int(n) for n in generator.integers(1, 4, 2))
    # Where all rows see but one key, gradients are 0, and there is nothing to be relative to.
    queries, keys = (max(8, some_size(generator, 360)) for _ in range(2))
    width, value_width = (int(n) for n in generator.choice([1, 3, 8, 16, 31, 32, 33, 64], 2))
    arrays: list[Any] = [
        draw(generator, batch, length, heads, size)
        for length, size in ((queries, width), (keys, width), (keys, value_width), (queries, value_width))
    ]
    form = str(generator.choice(["none", "none", "bool", "float"]))
    mask = None
    if form != "none":
        full = (batch, heads, queries, keys)
        shape = tuple(n if generator.random() < 0.6 else 1 for n in full)[int(generator.integers(0, 3)) :]
        mask = draw(generator, *shape) if form == "float" else generator.random(shape) < 0.8
    return [*arrays, mask], (width**-0.5, bool(generator.integers(2)))


def attend(xp: Any, native: bool, arrays: Any, attributes: tuple[float, bool]) -> tuple[Any, ...]:
    """The result and the three gradients, by native kernels or by the XLA ones."""
    query, keys, values, grad, mask = arrays
    kernels = [p.operation.kernels["cpu"] if native else p.operation.kernel for p in (ops.attention, *GRADIENTS)]
    return (
        kernels[0](xp, query, keys, values, mask, *attributes),
        *(kernel(xp, grad, query, keys, values, mask, *attributes) for kernel in kernels[1:]),
    )


def wide(arrays: list[Any]) -> list[Any]:
    return [a if a is None or a.dtype.kind != "f" else a.astype(np.float64) for a in arrays]


def loss_case(generator: np.random.Generator) -> tuple[list[Any], tuple[Any, ...]]:
    """Logits, labels (some of them left out) and gradient of a cross entropy, and its attributes."""
    shape = tuple(some_size(generator, 40) for _ in range(int(generator.integers(1, 3))))
    classes = int(generator.choice([2, 8, 31, 32, 33, 96, 300, 1031]))
    reduction, ignored = str(generator.choice(["mean", "sum", "none"])), int(generator.choice([-100, 3]))
    keeps = bool(generator.integers(2))
    label = generator.integers(0, classes, shape)
    label[generator.random(shape) < 0.2] = ignored
    label = label[..., None] if keeps else label
    grad = draw(generator, *(label.shape if reduction == "none" else ()))
    # A single loss may be so close to 0 that nothing is exact relative to it, if logits are far apart.
    spread = np.float32(4 if label.size >= 32 else 1)
    return [draw(generator, *shape, classes) * spread, label, np.asarray(grad)], (
        reduction,
        len(shape),
        classes,
        ignored,
        keeps,
    )


def loss_and_gradient(xp: Any, native: bool, arrays: Any, attributes: tuple[Any, ...]) -> tuple[Any, ...]:
    logits, label, grad = arrays
    pair = (labels.softmax_cross_entropy, labels.softmax_cross_entropy_grad)
    value, slope = [p.operation.kernels["cpu"] if native else p.operation.kernel for p in pair]
    return value(xp, logits, label, *attributes), slope(xp, logits, label, grad, *attributes)


def rows_case(generator: np.random.Generator) -> tuple[list[Any], tuple[int, int]]:
    """Row numbers and vectors, the number of rows, and the one that counts nothing (-1: none)."""
    count, vectors = (some_size(generator, 2048) for _ in range(2))
    width = int(generator.choice([1, 7, 15, 16, 31, 32, 33, 100, 192]))
    numbers = generator.integers(0, count, vectors).astype(generator.choice(["int32", "int64"]))
    return [numbers, draw(generator, vectors, width)], (count, int(generator.integers(-1, count)))


def sum_rows(xp: Any, native: bool, arrays: Any, attributes: tuple[int, int]) -> tuple[Any, ...]:
    operation = embedding.sum_of_rows.operation
    return ((operation.kernels["cpu"] if native else operation.kernel)(xp, *arrays, *attributes),)


# ---- for random_shapes.py: arrays, what computes them natively, and what they should give ---------


def _as_case(function: Any, arrays: list[Any], attributes: Any) -> tuple[list[Any], Any, list[np.ndarray]]:
    references = [np.asarray(a) for a in function(np, False, wide(arrays), attributes)]
    return arrays, lambda xp, *given: function(xp, True, given, attributes), references


def random_attention(generator: np.random.Generator) -> tuple[list[Any], Any, list[np.ndarray]]:
    return _as_case(attend, *attention_case(generator))


def random_loss(generator: np.random.Generator) -> tuple[list[Any], Any, list[np.ndarray]]:
    return _as_case(loss_and_gradient, *loss_case(generator))


def random_rows(generator: np.random.Generator) -> tuple[list[Any], Any, list[np.ndarray]]:
    return _as_case(sum_rows, *rows_case(generator))
