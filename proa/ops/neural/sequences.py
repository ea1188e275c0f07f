"""Functions on sequences: sequence_mask, gather_tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtype import to_numpy_dtype
from ...core.errors import type_error, value_error
from ...core.namespaces import can_write
from ...eager.annotations import DTypeLike
from ...eager.declare import op, public
from ...eager.infer import same_shape
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor, tensor_from_data
from ...ir.operation import Check
from ...ir.padding import rules
from ..arguments import integer, require_tensor
from ..basic import cast_to
from ..index.indexing_kernels import IndexOutOfRange


@samples(
    S(A(3, values=[1, 3, 0], dtype="int64")), S(A(2, 1, values=[[1], [3]], dtype="int32"), 4, "float32"),
    S(A(2, values=[5, 1], dtype="int64"), 2, "bool"), S(A(values=2, dtype="int64"), 3), gradient=False, why="whole numbers",
    reference=lambda x, maxlen=None, dtype="int64": (
        np.arange(x.max() if maxlen is None else maxlen) < x[..., None]).astype(dtype),
)  # fmt: skip
@public(module="nn.functional")
def sequence_mask(
    x: Tensor, maxlen: int | Tensor | None = None, dtype: DTypeLike = "int64", name: str | None = None
) -> Tensor:
    """1 for the first `x` places of a new last axis, 0 behind.

    Args:
        x: lengths.
        maxlen: the number of places; None for the largest of `x`, which is read on the host.
        dtype: that of the result.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape of `x` with a last axis of `maxlen`.

    Examples:
        >>> paddle.nn.functional.sequence_mask(paddle.to_tensor([1, 3]), maxlen=4).tolist()
        [[1, 0, 0, 0], [1, 1, 1, 0]]
    """
    aval = require_tensor("sequence_mask", "x", x)._aval
    if maxlen is None or (isinstance(maxlen, int) and maxlen < 0):  # -1 is how older programs say None
        length = int(np.max(np.asarray(x._data()), initial=0))
    else:
        length = integer("sequence_mask", "maxlen", maxlen)
    if length < 0:
        raise value_error("sequence_mask", "maxlen cannot be negative", f"maxlen: {length}")
    numbers = tensor_from_data(np.arange(length, dtype=aval.dtype), place=aval.place)
    return cast_to(numbers < x.unsqueeze(-1), to_numpy_dtype(dtype))  # type: ignore


# The parents of the first step are never followed.
@op(
    "ids parents",
    infer=same_shape,
    check=Check(
        lambda xp, ids, parents, beams: xp.all((parents[1:] >= 0) & (parents[1:] < beams)),
        lambda kinds, attributes: f"a parent is out of range; allowed: 0 to {attributes[0] - 1}",
        IndexOutOfRange,
        (1,),
    ),
    name="gather_tree",
    padding=rules.refused("it follows the steps from the last one back"),
)
def follow_parents(xp: Any, ids: Any, parents: Any, beams: int) -> Any:
    """Each beam's whole path, by following the parents from the last step back."""
    steps = ids.shape[0]
    if not steps or not ids.size:
        return ids
    parents = xp.clip(parents, 0, beams - 1)
    place = xp.broadcast_to(xp.arange(beams).astype(parents.dtype), ids.shape[1:])
    if can_write(xp):
        out = xp.empty_like(ids)
        for t in reversed(range(steps)):
            out[t] = xp.take_along_axis(ids[t], place, 1)
            place = xp.take_along_axis(parents[t], place, 1)
        return out
    import jax

    def back(at: Any, values: Any) -> Any:
        words, before = values
        return xp.take_along_axis(before, at, axis=1), xp.take_along_axis(words, at, axis=1)

    return jax.lax.scan(back, place, (ids, parents), reverse=True)[1]


def _reference_tree(ids: np.ndarray, parents: np.ndarray) -> np.ndarray:
    out = np.zeros_like(ids)
    for b in range(ids.shape[1]):
        for k in range(ids.shape[2]):
            at = k
            for t in reversed(range(len(ids))):
                out[t, b, k] = ids[t, b, at]
                at = parents[t, b, at]
    return out


def _numbers(*shape: int, high: int = 9) -> A:
    return A(*shape, dtype="int64", low=0, high=high)


@samples(
    S(_numbers(3, 2, 2), _numbers(3, 2, 2, high=2)), S(_numbers(1, 1, 3), _numbers(1, 1, 3, high=3)),
    S(_numbers(4, 1, 1), _numbers(4, 1, 1, high=1)), reference=_reference_tree, gradient=False, why="whole numbers",
)  # fmt: skip
@public(module="nn.functional")
def gather_tree(ids: Tensor, parents: Tensor) -> Tensor:
    """Whole sequences from a beam search's choices and parents.

    Args:
        ids: the choices, `[time, batch, beam]`.
        parents: for each choice the beam that it continues, of the same shape.

    Returns:
        A tensor of the shape of `ids`: each beam of the last step, followed back to the first.

    Examples:
        >>> ids = paddle.to_tensor([[[1, 2]], [[3, 4]]])
        >>> parents = paddle.to_tensor([[[0, 0]], [[1, 0]]])
        >>> paddle.nn.functional.gather_tree(ids, parents).tolist()
        [[[2, 1]], [[3, 4]]]
    """
    first, second = (
        require_tensor("gather_tree", "ids", ids)._aval,
        require_tensor("gather_tree", "parents", parents)._aval,
    )
    if first.ndim != 3 or first.shape != second.shape:
        raise value_error(
            "gather_tree", "ids and parents must be [time, batch, beam]", f"ids: {first}, parents: {second}"
        )
    if first.dtype.kind not in "iu" or second.dtype.kind not in "iu":
        raise type_error("gather_tree", "ids and parents must be integers", f"ids: {first}, parents: {second}")
    return follow_parents(ids, parents, first.shape[2])
