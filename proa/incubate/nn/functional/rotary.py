"""Rotary position embeddings: pairs of elements are turned by an angle that grows with the position."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.errors import failed_check, value_error
from ....eager.tensor import Tensor, tensor_from_data
from ....ops.basic import cast_to
from ....ops.shape.joining import concat_along


def fused_rotary_position_embedding(
    q: Tensor, k: Tensor | None = None, v: Tensor | None = None, sin: Tensor | None = None, cos: Tensor | None = None,
    position_ids: Tensor | None = None, use_neox_rotary_style: bool = True, time_major: bool = False,
    rotary_emb_base: float = 10000.0,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Turns queries, keys and values by angles that grow with their position.

    Args:
        q: `[batch, sequence, heads, size]`, or with the sequence first.
        k: the keys, or None.
        v: the values, or None.
        sin: the sines, `[sequence, size]` or `[1, sequence, 1, size]`; without them angles are `position / base^(2i /
            size)`.
        cos: the cosines.
        position_ids: the positions, `[batch, sequence]`; None for 0, 1, 2 and so on.
        use_neox_rotary_style: whether neighbours are turned (0 with 1, 2 with 3 …); otherwise the first half with the
            second.
        time_major: whether the sequence comes first.
        rotary_emb_base: the base of the angles.

    Returns:
        The three, None for those that are not given.

    Examples:
        >>> q = paddle.to_tensor([[[[1.0, 0.0]], [[1.0, 0.0]]]])
        >>> q, k, v = paddle.incubate.nn.functional.fused_rotary_position_embedding(q)
        >>> print(q[0, :, 0].numpy().round(4))
        [[1.     0.    ]
         [0.5403 0.8415]]
        >>> k is None
        True
    """
    where = "fused_rotary_position_embedding"
    if (sin is None) != (cos is None):
        raise value_error(where, "sin and cos belong together", f"sin: {sin is not None}, cos: {cos is not None}")
    if sin is None and not use_neox_rotary_style:
        raise failed_check(where, "turning halves needs sin and cos", "neither", "pass sin= and cos=")
    size = q._aval.shape[-1]
    if size % 2:
        raise value_error(where, "the size of a head must be even", f"q: {q._aval}")
    length = q._aval.shape[0 if time_major else 1]
    if sin is None or cos is None:
        sin, cos = _tables(length, size, rotary_emb_base)
    sines, cosines = (_rows(table, size, position_ids, length, time_major) for table in (sin, cos))
    turned = [None if x is None else turn(x, sines, cosines, use_neox_rotary_style) for x in (q, k, v)]
    return turned[0], turned[1], turned[2]


def _tables(length: int, size: int, base: float) -> tuple[Tensor, Tensor]:
    angles = np.outer(np.arange(length), base ** -(np.arange(0, size, 2) / size)).repeat(2, axis=1)
    return tensor_from_data(np.sin(angles).astype("float32")), tensor_from_data(np.cos(angles).astype("float32"))


def _rows(table: Any, size: int, position_ids: Any, length: int, time_major: bool) -> Any:
    """The table as it multiplies queries: [batch or 1, sequence, 1, size]."""
    rows = table.reshape([-1, size])
    if position_ids is not None:
        rows = rows[position_ids].unsqueeze(2)
        return rows.transpose([1, 0, 2, 3]) if time_major else rows
    rows = rows[:length]
    return rows.reshape([length, 1, 1, size] if time_major else [1, length, 1, size])


def turn(x: Any, sin: Any, cos: Any, neighbours: bool) -> Any:
    """`x` turned by angles whose sines and cosines multiply it, computed in float32 at least."""
    kind = x._aval.dtype
    wide = _as(x, np.dtype("float32")) if kind.itemsize < 4 else x
    sin, cos = (_as(table, wide._aval.dtype) for table in (sin, cos))
    return _as(wide * cos + _quarter_turn(wide, neighbours) * sin, kind)


def _as(x: Any, kind: np.dtype) -> Any:
    return x if x._aval.dtype == kind else cast_to(x, kind)


def _quarter_turn(x: Any, neighbours: bool) -> Any:
    """Each pair (a, b) as (-b, a)."""
    shape = list(x.shape)
    if not neighbours:
        first, second = x.chunk(2, axis=-1)
        return concat_along([-second, first], x.ndim - 1)
    pairs = x.reshape([*shape[:-1], shape[-1] // 2, 2])
    return concat_along([-pairs[..., 1:], pairs[..., :1]], pairs.ndim - 1).reshape(shape)


def fused_partial_rope(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turns the last elements by angles, as many as `cos` has; those before stay.

    Args:
        x: `[batch, sequence, heads, size]`.
        cos: the cosines of the angles, `[1, sequence, 1, turned]`.
        sin: the sines.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> x, cos = paddle.ones([1, 2, 1, 6]), paddle.ones([1, 2, 1, 4])
        >>> paddle.incubate.nn.functional.fused_partial_rope(x, cos, paddle.zeros([1, 2, 1, 4])).equal_all(x).item()
        True
    """
    size = cos._aval.shape[-1]
    kept, turned = x[..., : x.shape[-1] - size], x[..., x.shape[-1] - size :]  # type: ignore[index]
    shape = [*turned.shape[:-1], size // 2, 2]
    # Pairs of neighbours become two halves first.
    halves = (
        turned.reshape(shape).transpose([*range(turned.ndim - 1), turned.ndim, turned.ndim - 1]).reshape(turned.shape)
    )
    return concat_along([kept, turn(halves, sin, cos, False)], x._aval.ndim - 1)
