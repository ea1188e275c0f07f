"""Taylor mode: all directional derivatives up to some order in one pass forwards.

Nested `grad(create_graph=True)` grows about threefold with each order. Here the function runs once, as usual; then
power series in t are carried along the tape from `x + t v` to the results (the rules are in `eager/series`), which takes
work in proportion to the order for linear layers, and to its square for products and elementwise functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, overload

from ..core.errors import message, value_error
from ..eager.backward.engine import _leading_to, zeros_of
from ..eager.backward.tape import GradNode, OutputNode, PassNode, edge_of
from ..eager.declare import PUBLIC
from ..eager.modes import enable_grad
from ..eager.series.calls import Call, Series
from ..eager.series.derived import advance
from ..eager.tensor import Tensor
from .functional import _call, _vectors

Tensors = Tensor | Sequence[Tensor]


@overload
def taylor(func: Callable[[Tensor], Tensor], xs: Tensor, order: int, v: Tensor | None = None) -> list[Tensor]: ...
@overload
def taylor(func: Callable[..., Tensor], xs: Tensors, order: int, v: Tensors | None = None) -> list[Tensor]: ...
@overload
def taylor(func: Callable[..., Any], xs: Tensors, order: int, v: Tensors | None = None) -> Any: ...
def taylor(func: Callable[..., Any], xs: Tensors, order: int, v: Tensors | None = None) -> Any:
    """The derivatives of `func(xs + t v)` in t at t = 0: a list `[y, y', y'' ...]` of `order + 1` tensors.

    `v` has the shapes of `xs`; ones if it is left out. For a function of points in rows, that is the derivative in one
    coordinate at every point. Where `func` returns several tensors there is a list for each. Everything can be
    differentiated again, with respect to `xs`, `v` and parameters that `func` uses.

        >>> import proa as paddle
        >>> x = paddle.to_tensor([0.0, 1.0])
        >>> y, dy, d2y = paddle.incubate.autograd.taylor(lambda x: x**3, x, 2)
        >>> d2y.tolist()
        [0.0, 6.0]
    """
    if isinstance(order, bool) or not isinstance(order, int) or order < 0:
        raise value_error("taylor", "order must be a whole number, not negative", f"order: {order!r}")
    inputs, ys, outputs = _call("taylor", func, xs)
    vectors = _vectors("taylor", v, inputs)
    with enable_grad():
        series = _carry(inputs, vectors, outputs, order)
        results = []
        for y, coefficients in zip(outputs, series):
            rest = [zeros_of(y._aval) if c is None else _times(c, math.factorial(k)) for k, c in coefficients]
            results.append([y, *rest])
    return results[0] if isinstance(ys, Tensor) else tuple(results)


def _times(coefficient: Any, factor: int) -> Any:
    return coefficient if factor == 1 else coefficient * float(factor)


def _carry(
    inputs: list[Tensor], vectors: list[Tensor | None], outputs: list[Tensor], order: int
) -> list[list[tuple[int, Any]]]:
    """For each output its coefficients, numbered from 1, None for zero."""
    known: dict[Any, Series] = {}
    for x, vector in zip(inputs, vectors):
        first = PUBLIC["ones_like"](x) if vector is None else vector
        known[edge_of(x)] = [None, first, *[None] * order][: order + 1]
    roots = [edge_of(y) for y in outputs]
    reached = _leading_to([edge for edge in roots if edge is not None], set(known), set())
    for node in sorted((edge for edge in reached if not isinstance(edge, Tensor)), key=lambda node: node.sequence):
        if node not in known:
            known[node] = _through(node, known, order)
    nothing: Series = [None] * (order + 1)
    return [list(enumerate(known.get(edge, nothing)))[1:] for edge in roots]


def _through(node: Any, known: dict[Any, Series], order: int) -> Series:
    if isinstance(node, OutputNode):
        return [None if c is None else c[node.position] for c in known[node.node]]
    if node.__class__ is PassNode:
        return known[node.edges[0]]
    if not isinstance(node, GradNode):
        raise NotImplementedError(
            message("taylor", f"there is no rule for {node.name()}", fix="use paddle.grad(create_graph=True)")
        )
    return advance(Call(node, [None if edge is None else known.get(edge) for edge in node.edges], order))


PUBLIC["incubate.autograd.taylor"] = taylor
