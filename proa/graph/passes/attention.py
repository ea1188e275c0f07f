"""Attention written as products and a softmax becomes the one operation for it.

Invariant: softmax(scale * query keyᵀ + mask) value with the same scale and mask, up to rounding; the heads may stand
before or behind the sequence, transposes that the operation does not need cancel.
"""

from __future__ import annotations

from typing import Any as Anything

from ...ops.basic import transpose_to
from ...ops.neural.attention import attention
from .matching import Any, Attribute, Either, Number, node, pattern


def _has_heads(aval: Anything) -> bool:
    return aval.ndim == 4 and aval.dtype.kind == "f"


_query, _keys, _values = (Any(name, where=_has_heads) for name in ("query", "keys", "values"))
_products = node.matmul(_query, _keys, transpose_x=False, transpose_y=Attribute("upright"))
_scaled = Either(
    node.multiply(_products, Number("scale")), node.divide(_products, Number("divisor")),
    node.scale(_products, Number("scale"), 0.0), _products,
)  # fmt: skip
_scores = Either(node.add(_scaled, Any("mask", where=lambda aval: aval.ndim <= 4)), _scaled)


@pattern(
    node.matmul(node.softmax(_scores, axis=3), _values, transpose_x=False, transpose_y=False), name="attention", order=31,
)  # fmt: skip
def _attention(
    query: Anything,
    keys: Anything,
    values: Anything,
    upright: bool,
    mask: Anything = None,
    scale: float = 1.0,
    divisor: float = 1.0,
) -> Anything:
    if not upright:
        keys = transpose_to(keys, (0, 1, 3, 2))
    shapes = [tensor._aval.shape for tensor in (query, keys, values)]
    if len({shape[:2] for shape in shapes}) > 1 or shapes[0][3] != shapes[1][3] or shapes[1][2] != shapes[2][2]:
        return None
    if len({tensor._aval.dtype for tensor in (query, keys, values)}) > 1 or divisor == 0:
        return None
    if mask is not None:
        # A mask with more than one row for a size of 1 would make the scores larger.
        scores = (*shapes[0][:3], shapes[1][2])
        own = mask._aval.shape
        if any(size not in (1, whole) for size, whole in zip(own[::-1], scores[::-1], strict=False)):
            return None
    forward = (0, 2, 1, 3)
    result = attention(
        *(transpose_to(tensor, forward) for tensor in (query, keys, values)), mask, float(scale / divisor), False
    )
    return transpose_to(result, forward)
