"""Taking elements, putting elements, and finding them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .... import detection
from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import paddle
from ..registry import reads

if TYPE_CHECKING:
    from ....formats.paddle.reading.registry import Integer, Number


def _positive(indices: Tensor, size: Any) -> Tensor:
    places = indices.astype("int64")
    return paddle.where(places < 0, places + size, places)


@reads("Gather")
def gather(x: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    axis = axis % x.ndim
    own = x._aval.shape
    places = _positive(indices, own[axis])
    if indices.ndim == 1:
        return paddle.index_select(x, places, axis)
    taken = paddle.index_select(x, places.reshape([-1]), axis)
    return taken.reshape([*own[:axis], *indices._aval.shape, *own[axis + 1 :]])


@reads("GatherElements")
def gather_elements(x: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    return paddle.take_along_axis(x, _positive(indices, x._aval.shape[axis]), axis, broadcast=False)


@reads("GatherND")
def gather_nd(x: Tensor, indices: Tensor, *, batch_dims: int = 0) -> Tensor:
    places = indices.astype("int64")
    if batch_dims:
        # The position in the batch becomes part of the index.
        shape = indices._aval.shape
        leading = []
        for axis in range(batch_dims):
            steps = paddle.arange(shape[axis], dtype="int64")
            steps = steps.reshape([-1 if a == axis else 1 for a in range(len(shape) - 1)] + [1])
            leading.append(paddle.expand(steps, [*shape[:-1], 1]))
        places = paddle.concat([*leading, places], -1)
    return paddle.gather_nd(x, _wrapped(places, x))


def _wrapped(places: Tensor, x: Tensor) -> Tensor:
    """Negative indices count from the end."""
    sizes = paddle.to_tensor(list(x._aval.shape[: places._aval.shape[-1]]), dtype="int64")
    return paddle.where(places < 0, places + sizes, places)


_REDUCTIONS = {"add": "add", "mul": "multiply", "max": "amax", "min": "amin"}


@reads("ScatterElements", "Scatter")
def scatter_elements(x: Tensor, indices: Tensor, updates: Tensor, *, axis: int = 0, reduction: str = "none") -> Tensor:
    places = _positive(indices, x._aval.shape[axis])
    if reduction == "none":
        return paddle.put_along_axis(x, places, updates, axis, broadcast=False)
    return paddle.put_along_axis(x, places, updates, axis, _REDUCTIONS[reduction], True, False)


@reads("ScatterND")
def scatter_nd(x: Tensor, indices: Tensor, updates: Tensor, *, reduction: str = "none") -> Tensor:
    """As a scatter of elements into the flattened tensor."""
    own, depth = x._aval.shape, indices._aval.shape[-1]
    places = _wrapped(indices.astype("int64"), x)
    inner = int(np.prod([int(size) for size in own[depth:]], dtype=np.int64))
    steps = [1] * depth
    for axis in range(depth - 2, -1, -1):
        steps[axis] = steps[axis + 1] * own[axis + 1]
    rows = paddle.sum(places * paddle.to_tensor(steps, dtype="int64"), -1).reshape([-1, 1])
    flat = (rows * inner + paddle.arange(inner, dtype="int64").unsqueeze(0)).reshape([-1])
    made = scatter_elements(x.reshape([-1]), flat, updates.reshape([-1]), axis=0, reduction=reduction)
    return made.reshape(list(own))


@reads("TensorScatter")
def tensor_scatter(
    cache: Tensor, update: Tensor, starts: Tensor | None = None, *, axis: int = -2, mode: str = "linear"
) -> Tensor:
    """Writes new steps into a cache, for each sample from its own position on."""
    axis = axis % cache.ndim
    size, count, batch = cache._aval.shape[axis], update._aval.shape[axis], cache._aval.shape[0]
    steps = paddle.arange(count, dtype="int64").unsqueeze(0)
    begin = paddle.zeros([batch, 1], "int64") if starts is None else starts.astype("int64").reshape([-1, 1])
    places = begin + steps
    places = paddle.mod(places, paddle.to_tensor(size, dtype="int64")) if mode == "circular" else places
    shape = [batch if a == 0 else count if a == axis else 1 for a in range(cache.ndim)]
    wide = paddle.expand(places.reshape(shape), list(update._aval.shape))
    return paddle.put_along_axis(cache, wide, update, axis, broadcast=False)


@reads("NonZero")
def nonzero(x: Tensor) -> Tensor:
    if x.ndim == 0:
        return paddle.nonzero(x.reshape([1]))[:, :0].transpose([1, 0])
    return paddle.transpose(paddle.nonzero(x), [1, 0]).astype("int64")


@reads("Compress")
def compress(x: Tensor, condition: Tensor, *, axis: Any = None) -> Tensor:
    x, axis = (x.reshape([-1]), 0) if axis is None else (x, axis)
    return paddle.index_select(x, paddle.nonzero(condition).reshape([-1]), axis)


@reads("TopK")
def topk(
    x: Tensor, count: Integer | None = None, *, k: int = 0, axis: int = -1, largest: int = 1, sorted: int = 1
) -> Any:
    number = count if count is not None else k
    # Among equals the first ones count.
    order = paddle.argsort(x, axis, descending=bool(largest), stable=True)
    places = paddle.slice(order, [axis % x.ndim], [0], [number])
    return paddle.take_along_axis(x, places, axis, broadcast=False), places


@reads("Unique", translates_blocks=True)
def unique(translation: Any, op: Any, inputs: list[Any]) -> Any:
    x = translation.tensor(inputs[0])
    axis = op.attributes.get("axis")
    values, first, back, counts = paddle.unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=axis, dtype="int64"
    )
    if not op.attributes.get("sorted", 1):
        order = paddle.argsort(first)
        place = paddle.argsort(order)
        values = paddle.index_select(values, order, axis or 0)
        first, counts = first[order], counts[order]
        back = place[back]
    return values, first, back.reshape([-1]), counts


@reads("NonMaxSuppression")
def non_max_suppression(
    boxes: Tensor, scores: Tensor, most: Number = None, overlap: Number = None, least: Number = None, *,
    center_point_box: int = 0,
) -> Tensor:  # fmt: skip
    """Rows of (batch, class, box); how many there are depends on the values."""
    if center_point_box:
        middle, size = boxes[..., :2], boxes[..., 2:]
        boxes = paddle.concat([middle - size / 2, middle + size / 2], -1)
    else:  # any two opposite corners
        one, other = boxes[..., :2], boxes[..., 2:]
        boxes = paddle.concat([paddle.minimum(one, other), paddle.maximum(one, other)], -1)
    found = []
    for batch in range(scores.shape[0]):
        for label in range(scores.shape[1]):
            chosen = _suppressed(boxes[batch], scores[batch, label], int(most or 0), float(overlap or 0.0), least)
            head = paddle.expand(paddle.to_tensor([[batch, label]], dtype="int64"), [chosen.shape[0], 2])
            found.append(paddle.concat([head, chosen.reshape([-1, 1]).astype("int64")], 1))
    return paddle.concat(found, 0)


def _suppressed(boxes: Tensor, scores: Tensor, most: int, overlap: float, least: Any) -> Tensor:
    if most <= 0:
        return paddle.zeros([0], "int64")
    kept = paddle.arange(boxes.shape[0], dtype="int64")
    if least is not None:
        kept = paddle.nonzero(scores > least).reshape([-1])
        if kept.shape[0] == 0:
            return kept
    chosen = detection.nms(boxes[kept], overlap, scores[kept])
    return kept[chosen][:most]
