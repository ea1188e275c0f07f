"""Choosing from vectors: cartesian_prod, combinations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.aval import make_aval
from ...core.dtype import INT64
from ...core.errors import type_error, value_error
from ...core.memory import check_allocation
from ...core.symbols import fixed
from ...eager.declare import public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor, tensor_from_data
from ..arguments import integer, require_tensor
from ..basic import full_of, reshape_to
from ..index.search import pick_along
from ..shape.joining import stack
from .statistics.counting import meshgrid


def _reference_product(x: Any) -> Any:
    if len(x) == 1:
        return x[0]
    return np.stack([m.reshape(-1) for m in np.meshgrid(*x, indexing="ij")], 1)


@samples(
    S([A(2), A(3)]), S([A(2, dtype="int64"), A(1, dtype="int64"), A(3, dtype="int64")]), S([A(0), A(2)]), S([A(3)]),
    reference=_reference_product,
)  # fmt: skip
@public()
def cartesian_prod(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """Every way of taking one element from each vector, a row for each.

    Args:
        x: a list of vectors.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.cartesian_prod([paddle.to_tensor([1, 2]), paddle.to_tensor([5, 6])]).tolist()
        [[1, 5], [1, 6], [2, 5], [2, 6]]
    """
    if not isinstance(x, (list, tuple)) or not x:
        raise type_error("cartesian_prod", "x must be a list of tensors, one at least", f"x: {type(x).__name__}")
    for position, part in enumerate(x):
        aval = require_tensor("cartesian_prod", f"x[{position}]", part)._aval
        if aval.ndim != 1:
            raise value_error("cartesian_prod", "every tensor must have one dimension", f"x[{position}]: {aval}")
    if len(x) == 1:
        return x[0]
    size = math.prod(part._aval.size for part in x)
    return stack([reshape_to(grid, (size,)) for grid in meshgrid(*x)], 1)


def _reference_combinations(x: Any, r: int = 2, with_replacement: bool = False) -> Any:
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return np.array(list(choose(x.tolist(), r)), x.dtype).reshape(-1 if r else 0, *([r] if r else []))


@samples(
    S(A(4)), S(A(3), 2, True), S(A(3, dtype="int64"), 1), S(A(3), 5), S(A(3), 0), S(A(0), 2), S(A(4), 3),
    reference=_reference_combinations,
)  # fmt: skip
@public(method=True)
def combinations(x: Tensor, r: int = 2, with_replacement: bool = False, name: str | None = None) -> Tensor:
    """Every way of taking some elements of a vector, in their order, a row for each.

    Args:
        x: a vector.
        r: how many are taken.
        with_replacement: whether an element may be taken again.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.combinations(paddle.to_tensor([1, 2, 3])).tolist()
        [[1, 2], [1, 3], [2, 3]]
    """
    aval = require_tensor("combinations", "x", x)._aval
    if aval.ndim != 1:
        raise type_error("combinations", "x must have one dimension", f"x: {aval}")
    count = integer("combinations", "r", r)
    if count < 0:
        raise value_error("combinations", "r must not be negative", f"r: {r}")
    if count == 0:
        return full_of(0, (0,), aval.dtype)
    size = fixed(aval.size)
    rows = math.comb(size + count - 1, count) if with_replacement and size else math.comb(size, count)
    check_allocation("combinations", (make_aval((rows, count), INT64, aval.place),))
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    chosen = itertools.chain.from_iterable(choose(range(size), count))
    places = np.fromiter(chosen, np.int64, rows * count)
    return reshape_to(pick_along(x, tensor_from_data(places, place=aval.place), 0, False), (rows, count))
