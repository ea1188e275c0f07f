"""Taking parts of tensors and writing to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .....eager.tensor import Tensor
from ..functions import F, paddle
from ..known import NotKnown
from ..registry import reads

if TYPE_CHECKING:
    from ..registry import Integer, Integers


def _numbers(value: Any) -> list[int] | None:
    """Integers if they are known, else None."""
    from ..known import Known

    if isinstance(value, Known):
        return [int(n) for n in value.array.reshape(-1)]
    if isinstance(value, list):
        parts = [_numbers(part) for part in value]
        return None if any(part is None for part in parts) else [n for part in parts for n in part or ()]
    return None


@reads("slice", translates_blocks=True)
def slice_(translation: Any, op: Any, inputs: list[Any]) -> Any:
    """Bounds that are known only at run time are possible where the size of the result is known all the same."""
    result = translation.computed(op, _SLICE, inputs)
    if result is not None:
        return result
    x = translation.tensor(inputs[0])
    axes = list(op.attributes["axes"])
    dropped: list[int] = list(op.attributes.get("decrease_axis") or ())
    bounds = [*inputs[1:3], None, None][:2]
    numbers = [
        list(op.attributes.get(name) or ()) if value is None else _numbers(value)
        for name, value in zip(("starts", "ends"), bounds, strict=True)
    ]
    if translation.immediate:
        numbers = [
            translation.integers(value) if found is None else found
            for found, value in zip(numbers, bounds, strict=True)
        ]
    if numbers[0] is None or numbers[1] is None:
        return _slice_at(x, axes, translation.tensor(bounds[0]), dropped)
    return _slice_known(x, numbers[0], numbers[1], axes=axes, decrease_axis=dropped)


def _slice_at(x: Tensor, axes: list[int], starts: Any, dropped: list[int]) -> Tensor:
    """x[..., start, ...] for starts that the graph computes: one element along each axis, which is then dropped."""
    if sorted(axes) != sorted(dropped):
        raise NotKnown("(slice) the size of a slice is computed from the values of tensors.")
    if isinstance(starts, list):
        starts = paddle.concat([s.reshape([1]) for s in starts])
    for position, axis in enumerate(axes):
        index = starts.reshape([-1])[position : position + 1]
        index = paddle.where(index < 0, index + x._aval.shape[axis], index)
        x = paddle.index_select(x, index, axis)
    return paddle.squeeze(x, axes)


def _slice_known(x: Tensor, starts: Any, ends: Any, *, axes: Any, decrease_axis: Any = ()) -> Tensor:
    sizes = x._aval.shape
    # Zero steps beyond the end: Paddle lets a bound run over.
    ends = [min(end, sizes[axis]) if end >= 0 else end for axis, end in zip(axes, ends, strict=True)]
    # x[-1] of the kernel is written as start -1, end 0.
    for position, axis in enumerate(axes):
        if axis in decrease_axis and starts[position] == -1 and ends[position] == 0:
            ends[position] = sizes[axis]
    result = paddle.slice(x, list(axes), list(starts), list(ends))
    return paddle.squeeze(result, list(decrease_axis)) if decrease_axis else result


def _slice_computed(
    x: Tensor, starts: Integers | None = None, ends: Integers | None = None, *, axes: Any, decrease_axis: Any = ()
) -> Tensor:
    return _slice_known(x, starts, ends, axes=list(axes), decrease_axis=list(decrease_axis or ()))


def _reader_of(function: Any) -> Any:
    from ..registry import Reader

    return Reader(function, False, False)


_SLICE = _reader_of(_slice_computed)


@reads("strided_slice")
def strided_slice(
    x: Tensor, starts: Integers, ends: Integers, strides: Integers, *, axes: Any, decrease_axis: Any = ()
) -> Tensor:
    result = paddle.strided_slice(x, list(axes), starts, ends, strides)
    return paddle.squeeze(result, list(decrease_axis)) if decrease_axis else result


@reads("gather")
def gather(x: Tensor, index: Tensor, place: Integer | None = None, *, axis: Any = 0) -> Tensor:
    return paddle.gather(x, index, axis if place is None else place)


@reads("gather_nd")
def gather_nd(x: Tensor, index: Tensor) -> Tensor:
    return paddle.gather_nd(x, index)


@reads("index_select", "index_select_strided")
def index_select(x: Tensor, index: Any, *, axis: int = 0) -> Tensor:
    return paddle.index_select(x, index, axis)


@reads("index_sample")
def index_sample(x: Tensor, index: Tensor) -> Tensor:
    return paddle.index_sample(x, index)


@reads("take_along_axis")
def take_along_axis(x: Tensor, index: Tensor, *, axis: int) -> Tensor:
    return paddle.take_along_axis(x, index, axis, broadcast=False)


@reads("masked_select")
def masked_select(x: Tensor, mask: Tensor) -> Tensor:
    return paddle.masked_select(x, mask)


@reads("nonzero", "where_index")
def nonzero(x: Tensor) -> Tensor:
    return paddle.nonzero(x)


@reads("multiplex")
def multiplex(tensors: Tensor, index: Tensor) -> Tensor:
    return paddle.multiplex(tensors, index)


@reads("one_hot", creates=True)
def one_hot(x: Tensor, classes: Integers | None = None, *, num_classes: Any = None, depth: Any = None) -> Tensor:
    count = classes[0] if classes else num_classes or depth
    return F.one_hot(x, count)


@reads("sequence_mask", creates=True)
def sequence_mask(x: Tensor, limit: Integers | None = None, *, max_len: Any = None, out_dtype: str = "int64") -> Tensor:
    longest = limit[0] if limit else max_len
    return F.sequence_mask(x, None if longest is None or longest < 0 else longest, out_dtype)


@reads("gather_tree")
def gather_tree(ids: Tensor, parents: Tensor) -> Tensor:
    return F.gather_tree(ids, parents)


@reads("shard_index")
def shard_index(x: Tensor, *, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1) -> Tensor:
    return paddle.shard_index(x, index_num, nshards, shard_id, ignore_value)


@reads("searchsorted")
def searchsorted(sequence: Tensor, values: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    return paddle.searchsorted(sequence, values, out_int32, right)


@reads("tril")
def tril(x: Tensor, *, diagonal: int = 0) -> Tensor:
    return paddle.tril(x, diagonal)


@reads("triu")
def triu(x: Tensor, *, diagonal: int = 0) -> Tensor:
    return paddle.triu(x, diagonal)


@reads("tril_triu")
def tril_triu(x: Tensor, *, diagonal: int = 0, lower: bool = True) -> Tensor:
    return (paddle.tril if lower else paddle.triu)(x, diagonal)


@reads("diag")
def diag(x: Tensor, *, offset: int = 0, padding_value: float = 0.0) -> Tensor:
    return paddle.diag(x, offset, padding_value)


@reads("diag_embed")
def diag_embed(x: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    return paddle.diag_embed(x, offset, dim1, dim2)


@reads("diagonal")
def diagonal(x: Tensor, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    return paddle.diagonal(x, offset, axis1, axis2)
