"""Distances between points: cdist, pdist."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.dtype import FLOAT32, is_differentiable
from ...core.errors import failed_check, type_error, value_error
from ...eager.declare import public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ..arguments import require_tensor
from ..basic import cast_to, reshape_to
from ..math.norm import p_norm

_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


def _order(where: str, p: Any) -> float:
    order = float(p)
    if not order >= 0:
        raise failed_check(where, "p cannot be negative", f"p: {p}")
    return order


def _points(where: str, name: str, x: Any) -> Tensor:
    aval = require_tensor(where, name, x)._aval
    if not is_differentiable(aval.dtype) or aval.dtype.kind == "c":
        raise type_error(where, f"{name} must be floating", f"{name}: {aval}", "use astype()")
    if aval.ndim < 2:
        raise value_error(where, f"{name} must have two dimensions at least", f"{name}: {aval}")
    return x


def _reference_cdist(x: Any, y: Any, p: float = 2.0, compute_mode: str = "") -> Any:
    difference = x[..., :, None, :] - y[..., None, :, :]
    return np.linalg.norm(difference, p, axis=-1) if difference.shape[-1] else difference.sum(-1)


@samples(
    S(A(3, 2), A(4, 2)), S(A(2, 3, 2), A(4, 2)), S(A(3, 2), A(4, 2), 1.0), S(A(3, 2, unique=True), A(2, 2), math.inf),
    S(A(3, 2), A(4, 2), 0.0), S(A(3, 2), A(4, 2), 3.0), S(A(0, 2), A(4, 2)), S(A(3, 0), A(4, 0)),
    S(A(3, 2), A(4, 2), 2.0, "donot_use_mm_for_euclid_dist"), S(A(3, 2), A(4, 2), 2.0, _MODES[1]),
    reference=_reference_cdist,
)  # fmt: skip
@public(method=True)
def cdist(x: Tensor, y: Tensor, p: float = 2.0, compute_mode: str = _MODES[0], name: str | None = None) -> Tensor:
    """The distances of every row of `x` from every row of `y`.

    They are always taken from the differences, which is exact for points that lie close together.

    Args:
        x: points, [..., n, size].
        y: points, [..., m, size]; other axes broadcast.
        p: which norm of the difference.
        compute_mode: accepted; it makes no difference.
        name: a label; it changes nothing.

    Returns:
        Distances, [..., n, m].

    Examples:
        >>> paddle.cdist(paddle.to_tensor([[0.0, 0.0]]), paddle.to_tensor([[3.0, 4.0], [0.0, 1.0]])).tolist()
        [[5.0, 1.0]]
    """
    order = _order("cdist", p)
    if isinstance(x, Tensor) and isinstance(y, Tensor) and x._aval.dtype.kind == y._aval.dtype.kind == "i":
        nothing = not (x._aval.size and y._aval.size)  # then the type stays as it is
        distances = cdist(cast_to(x, FLOAT32), cast_to(y, FLOAT32), order, compute_mode)
        return cast_to(distances, x._aval.dtype) if nothing else distances
    first, second = _points("cdist", "x", x)._aval, _points("cdist", "y", y)._aval
    if compute_mode not in _MODES:
        raise value_error("cdist", f"compute_mode is one of {list(_MODES)}", f"compute_mode: {compute_mode!r}")
    if first.shape[-1] != second.shape[-1]:
        raise failed_check("cdist", "the points of x and y must have as many numbers", f"x: {first}, y: {second}")
    left = reshape_to(x, (*first.shape[:-1], 1, first.shape[-1]))
    right = reshape_to(y, (*second.shape[:-2], 1, *second.shape[-2:]))
    difference = left - right
    return p_norm(difference, order, (difference._aval.ndim - 1,), False)


def _reference_pdist(x: Any, p: float = 2.0) -> Any:
    rows, columns = np.triu_indices(len(x), 1)
    return np.linalg.norm(x[rows] - x[columns], p, axis=-1)


@samples(
    S(A(4, 2)), S(A(4, 2), 0.0), S(A(4, 2), 1.0), S(A(4, 2), 3.0), S(A(1, 2)), S(A(0, 2)),
    S(A(3, 2, unique=True), math.inf),
    reference=_reference_pdist,
)  # fmt: skip
@public()
def pdist(x: Tensor, p: float = 2.0, name: str | None = None) -> Tensor:
    """The distances of every two rows of a matrix, in the order (0, 1), (0, 2) …

    Args:
        x: points, [n, size].
        p: which norm of the difference.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.pdist(paddle.to_tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])).numpy().round(4)
        array([5.    , 1.    , 4.2426], dtype=float32)
    """
    order = _order("pdist", p)
    count = _points("pdist", "x", x)._aval.shape[0]
    if x._aval.ndim != 2:
        raise failed_check("pdist", "x must be a matrix", f"x: {x._aval}")
    rows, columns = (indices.tolist() for indices in np.triu_indices(count, 1))
    if not rows:
        return p_norm(x[:0], order, (1,), False)
    return p_norm(x[rows] - x[columns], order, (1,), False)
