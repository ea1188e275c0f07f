"""YOLO v3 (Redmon, Farhadi 2018): boxes from predictions, and the loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import type_error, value_error
from ..eager.tensor import Tensor
from ..nn import functional as F
from ..ops.arguments import integer, integers, require_tensor
from ..ops.basic import cast_to, full_of, reshape_to, transpose_to
from ..ops.index.indexing_kernels import put_elements, take_elements
from ..ops.math.extremes import maximum, minimum
from ..ops.math.statistics.counting import arange
from ..ops.math.ternary import where as choose_by
from ..ops.shape.joining import stack
from .arguments import floating_tensor, placed


def _anchors(where: str, anchors: Any) -> np.ndarray:
    """Widths and heights, [number, 2]."""
    numbers = integers(where, "anchors", anchors)
    if not numbers or len(numbers) % 2 or min(numbers) <= 0:
        raise value_error(where, "anchors must be pairs of positive integers, width and height", f"anchors: {anchors}")
    return np.array(numbers, np.float64).reshape(-1, 2)


def _positive(where: str, **numbers: Any) -> list[int]:
    found = []
    for name, value in numbers.items():
        found.append(integer(where, name, value))
        if found[-1] < 1:
            raise value_error(where, f"{name} must be positive", f"{name}: {value}")
    return found


def _grid(x: Tensor, height: int, width: int) -> tuple[Tensor, Tensor]:
    """Column and row of every cell, broadcast over [N, anchors, H, W]."""
    dtype = x._aval.dtype
    return placed(np.arange(width, dtype=dtype), x), placed(np.arange(height, dtype=dtype)[:, None], x)


def yolo_box(
    x: Tensor,
    img_size: Tensor,
    anchors: Sequence[int],
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
    iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
) -> tuple[Tensor, Tensor]:
    """Boxes [N, M, 4] as [x1, y1, x2, y2] in the image's units, and scores [N, M, classes], of YOLO's predictions.

    `x` is [N, anchors * (5 + classes), H, W] (with `iou_aware` a further channel for each anchor comes first),
    `img_size` [N, 2] the images' height and width. Where the confidence is below `conf_thresh` both are zeros. No
    gradient, as in Paddle.

    Example:
        >>> boxes, scores = paddle.vision.ops.yolo_box(
        ...     paddle.zeros([1, 14, 2, 2]), paddle.to_tensor([[64, 64]], dtype="int32"), [10, 13, 16, 30], 2, 0.01, 32)
        >>> boxes.shape, scores.shape
        (paddle.Size([1, 8, 4]), paddle.Size([1, 8, 2]))
    """
    where = "yolo_box"
    floating_tensor(where, "x", x, 4)
    sizes = _anchors(where, anchors)
    class_num, ratio = _positive(where, class_num=class_num, downsample_ratio=downsample_ratio)
    n, channels, height, width = x._aval.shape
    count = len(sizes)
    per_anchor = 5 + class_num
    if channels != count * (per_anchor + bool(iou_aware)):
        raise value_error(
            where, f"x must have {count} * ({per_anchor + bool(iou_aware)}) channels, anchors times numbers of each",
            f"x: {x._aval}",
        )  # fmt: skip
    size = require_tensor(where, "img_size", img_size)._aval
    if size.shape != (n, 2) or size.dtype.kind not in "iu":
        raise value_error(where, f"img_size must be integers {[n, 2]}, height and width", f"img_size: {size}")
    dtype = x._aval.dtype
    values: Any = x.detach()
    overlap: Any = None
    if iou_aware:
        overlap, values = values[:, :count], values[:, count:]
    values = reshape_to(values, (n, count, per_anchor, height, width))
    columns, rows = _grid(x, height, width)
    shift = -0.5 * (scale_x_y - 1.0)
    extents: Any = reshape_to(cast_to(img_size.detach(), dtype), (n, 2, 1, 1, 1))
    image_height, image_width = extents[:, 0], extents[:, 1]
    anchor_width = placed((sizes[:, 0] / (ratio * width)).astype(dtype).reshape(-1, 1, 1), x)
    anchor_height = placed((sizes[:, 1] / (ratio * height)).astype(dtype).reshape(-1, 1, 1), x)
    centre_x = (columns + F.sigmoid(values[:, :, 0]) * scale_x_y + shift) * image_width / float(width)
    centre_y = (rows + F.sigmoid(values[:, :, 1]) * scale_x_y + shift) * image_height / float(height)
    half_width = values[:, :, 2].exp() * anchor_width * image_width * 0.5
    half_height = values[:, :, 3].exp() * anchor_height * image_height * 0.5
    edges = [centre_x - half_width, centre_y - half_height, centre_x + half_width, centre_y + half_height]
    if clip_bbox:
        edges[0], edges[1] = edges[0].clip(0.0), edges[1].clip(0.0)
        edges[2], edges[3] = minimum(edges[2], image_width - 1.0), minimum(edges[3], image_height - 1.0)
    confidence = F.sigmoid(values[:, :, 4])
    if overlap is not None:
        factor = float(iou_aware_factor)
        confidence = confidence ** (1.0 - factor) * F.sigmoid(overlap) ** factor
    kept = cast_to(confidence >= conf_thresh, dtype).unsqueeze(4)
    boxes = stack(edges, -1) * kept
    scores = transpose_to(F.sigmoid(values[:, :, 5:]), (0, 1, 3, 4, 2)) * confidence.unsqueeze(4) * kept
    places = count * height * width
    return reshape_to(boxes, (n, places, 4)), reshape_to(scores, (n, places, class_num))


# ---- loss ----------------------------------------------------------------------------------------


def _overlap(first: tuple[Any, ...], second: tuple[Any, ...]) -> Any:
    """Intersection over union of boxes given as centre and size."""

    def common(a: Any, a_size: Any, b: Any, b_size: Any) -> Any:
        return minimum(a + a_size * 0.5, b + b_size * 0.5) - maximum(a - a_size * 0.5, b - b_size * 0.5)

    across, down = common(first[0], first[2], second[0], second[2]), common(first[1], first[3], second[1], second[3])
    shared = across.clip(0.0) * down.clip(0.0)
    return shared / (first[2] * first[3] + second[2] * second[3] - shared)


def _checked_truth(where: str, x: Tensor, gt_box: Any, gt_label: Any, gt_score: Any) -> None:
    n = x._aval.shape[0]
    floating_tensor(where, "gt_box", gt_box, 3)
    if gt_box._aval.shape[0] != n or gt_box._aval.shape[2] != 4 or not gt_box._aval.shape[1]:
        raise value_error(where, "gt_box must be [N, boxes, 4]", f"gt_box: {gt_box._aval}, x: {x._aval}")
    label = require_tensor(where, "gt_label", gt_label)._aval
    if label.dtype.kind not in "iu":
        raise type_error(where, "gt_label must be integers", f"gt_label: {label}")
    if label.shape != gt_box._aval.shape[:2]:
        raise value_error(where, "gt_label must be [N, boxes]", f"gt_label: {label}, gt_box: {gt_box._aval}")
    if gt_score is not None:
        floating_tensor(where, "gt_score", gt_score, 2)
        if gt_score._aval.shape != label.shape:
            raise value_error(
                where, "gt_score must be [N, boxes]", f"gt_score: {gt_score._aval}, gt_box: {gt_box._aval}"
            )


def yolo_loss(
    x: Tensor,
    gt_box: Tensor,
    gt_label: Tensor,
    anchors: Sequence[int],
    anchor_mask: Sequence[int],
    class_num: int,
    ignore_thresh: float,
    downsample_ratio: int,
    gt_score: Tensor | None = None,
    use_label_smooth: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
) -> Tensor:
    """The loss of YOLO v3 for each image, [N].

    `x` [N, masks * (5 + classes), H, H] are the predictions of the anchors in `anchor_mask`; `gt_box` [N, boxes, 4]
    holds centre and size as parts of the image, boxes without size being none; `gt_label` their classes, `gt_score`
    weights between 0 and 1. A box belongs to the anchor most like it and to the cell of its centre. Predictions that
    overlap some box by more than `ignore_thresh` are not told that there is nothing. Only `x` gets a gradient.

    Example:
        >>> loss = paddle.vision.ops.yolo_loss(
        ...     paddle.zeros([1, 14, 2, 2]), paddle.to_tensor([[[0.4, 0.4, 0.2, 0.3]]]),
        ...     paddle.to_tensor([[1]], dtype="int32"), [10, 13, 16, 30], [0, 1], 2, 0.7, 32)
        >>> loss.shape
        paddle.Size([1])
    """
    where = "yolo_loss"
    floating_tensor(where, "x", x, 4)
    sizes = _anchors(where, anchors)
    mask = integers(where, "anchor_mask", anchor_mask)
    class_num, ratio = _positive(where, class_num=class_num, downsample_ratio=downsample_ratio)
    n, channels, height, width = x._aval.shape
    if not mask or min(mask) < 0 or max(mask) >= len(sizes):
        raise value_error(where, f"anchor_mask must name anchors 0 to {len(sizes) - 1}", f"anchor_mask: {anchor_mask}")
    if channels != len(mask) * (5 + class_num) or height != width:
        raise value_error(where, f"x must be [N, {len(mask)} * (5 + {class_num}), H, H]", f"x: {x._aval}")
    _checked_truth(where, x, gt_box, gt_label, gt_score)
    dtype = x._aval.dtype
    predicted: Any = reshape_to(x, (n, len(mask), 5 + class_num, height, width))
    truth = _Truth(x, gt_box, gt_label, gt_score, sizes, mask, height, ratio)
    found = _places_found(predicted.detach(), truth, sizes[list(mask)], ratio, ignore_thresh, scale_x_y)

    # What each box asks of the prediction it belongs to: [N, boxes, 5 + classes].
    cells = transpose_to(predicted, (0, 1, 3, 4, 2))
    asked = take_elements(cells, [truth.image, truth.anchor, truth.row, truth.column], [0, 1, 2, 3], trusted=True)
    weight: Any = truth.score * truth.matched
    near = weight * (2.0 - truth.width * truth.height)
    place = _entropy(asked[:, :, 0], truth.target_x) + _entropy(asked[:, :, 1], truth.target_y)
    place = place + (asked[:, :, 2] - truth.target_width).abs() + (asked[:, :, 3] - truth.target_height).abs()
    smooth = min(1.0 / class_num, 1.0 / 40.0) if use_label_smooth else 0.0
    is_class: Any = cast_to(F.one_hot(truth.label, class_num), dtype)  # raises for a label that is no class
    wanted = is_class * (1.0 - 2.0 * smooth) + smooth
    named = _entropy(asked[:, :, 5:], wanted).sum(2)
    of_boxes = (place * near + named * weight).sum(1)

    # Whether there is something: weighted where a box belongs, everywhere else unless that is excused.
    confidence = predicted[:, :, 4]
    there = _entropy(confidence, 1.0) * choose_by(found > 1e-5, found, 0.0)
    nothing = choose_by((found <= 1e-5) & (found > -0.5), _entropy(confidence, 0.0), 0.0)
    return of_boxes + (there + nothing).sum([1, 2, 3])


def _entropy(logit: Any, wanted: Any) -> Any:
    """Cross entropy of a sigmoid with a probability."""
    return logit.clip(0.0) - logit * wanted + (-logit.abs()).exp().log1p()


class _Truth:
    """The real boxes, the anchor and cell each belongs to, and what it asks there; without gradient."""

    def __init__(
        self,
        x: Tensor,
        gt_box: Tensor,
        gt_label: Tensor,
        gt_score: Tensor | None,
        sizes: np.ndarray,
        mask: tuple[int, ...],
        cells: int,
        ratio: int,
    ) -> None:
        dtype = x._aval.dtype
        whole = np.dtype("int64")
        boxes: Any = cast_to(gt_box.detach(), dtype)
        self.x, self.y, self.width, self.height = (boxes[:, :, i] for i in range(4))
        self.real: Any = (self.width > 1e-6) & (self.height > 1e-6)
        self.label: Any = choose_by(self.real, cast_to(gt_label.detach(), whole), 0)
        ones: Any = full_of(1.0, gt_box._aval.shape[:2], dtype)
        self.score: Any = ones if gt_score is None else cast_to(gt_score.detach(), dtype)
        extent = float(cells * ratio)
        zero = boxes[:, :, :1] * 0.0
        anchor_width = placed((sizes[:, 0] / extent).astype(dtype), x)
        anchor_height = placed((sizes[:, 1] / extent).astype(dtype), x)
        alike = _overlap(
            (zero, zero, self.width.unsqueeze(2), self.height.unsqueeze(2)), (zero, zero, anchor_width, anchor_height)
        )
        best: Any = choose_by(self.real.unsqueeze(2), alike, 0.0).argmax(2)
        number = np.full(len(sizes), -1)
        number[list(reversed(mask))] = np.arange(len(mask))[::-1]
        anchor: Any = take_elements(placed(number, x), [best], [0], trusted=True)
        matched = self.real & (anchor >= 0)
        self.matched: Any = cast_to(matched, dtype)
        self.anchor: Any = anchor.clip(0)
        # A cell is found from the centre as it is; one outside the image belongs to the cell at the border.
        across, down = self.x * float(cells), self.y * float(cells)
        self.column: Any = cast_to(across.floor(), whole).clip(0, cells - 1)
        self.row: Any = cast_to(down.floor(), whole).clip(0, cells - 1)
        self.target_x, self.target_y = across - cast_to(self.column, dtype), down - cast_to(self.row, dtype)
        own_width = take_elements(anchor_width, [best], [0], trusted=True)
        own_height = take_elements(anchor_height, [best], [0], trusted=True)
        self.target_width = (choose_by(matched, self.width, 1.0) / choose_by(matched, own_width, 1.0)).log()
        self.target_height = (choose_by(matched, self.height, 1.0) / choose_by(matched, own_height, 1.0)).log()
        n, count = gt_box._aval.shape[:2]
        self.image: Any = reshape_to(arange(n, device=x._aval.place), (n, 1)).expand([n, count])  # type: ignore


def _places_found(
    predicted: Any, truth: _Truth, sizes: np.ndarray, ratio: int, ignore_thresh: float, scale: float
) -> Tensor:
    """[N, masks, H, W]: the weight of the box that belongs there, -1 where a prediction overlaps some box, else 0."""
    n, masks, _, cells, _ = predicted._aval.shape
    dtype = predicted._aval.dtype
    columns, rows = _grid(predicted, cells, cells)
    shift = -0.5 * (scale - 1.0)
    extent = float(cells * ratio)
    anchor_width = placed((sizes[:, 0] / extent).astype(dtype).reshape(-1, 1, 1), predicted)
    anchor_height = placed((sizes[:, 1] / extent).astype(dtype).reshape(-1, 1, 1), predicted)
    boxes = (
        (columns + F.sigmoid(predicted[:, :, 0]) * scale + shift) / float(cells),
        (rows + F.sigmoid(predicted[:, :, 1]) * scale + shift) / float(cells),
        predicted[:, :, 2].exp() * anchor_width,
        predicted[:, :, 3].exp() * anchor_height,
    )
    count = truth.x._aval.shape[1]
    real = tuple(reshape_to(v, (n, 1, 1, 1, count)) for v in (truth.x, truth.y, truth.width, truth.height))
    overlap = _overlap(tuple(b.unsqueeze(4) for b in boxes), real)
    overlap = choose_by(reshape_to(truth.real, (n, 1, 1, 1, count)), overlap, 0.0)
    found: Any = choose_by(overlap.max(4) > ignore_thresh, -1.0, 0.0)
    found = cast_to(found, dtype)
    # Of several boxes at one place the last counts: those before it add nothing.
    place = (truth.anchor * cells + truth.row) * cells + truth.column
    same = (place.unsqueeze(2) == place.unsqueeze(1)) & (truth.matched.unsqueeze(1) > 0.5)
    later = placed(np.triu(np.ones((count, count), bool), 1), predicted)
    last = truth.matched * (1.0 - cast_to((same & later).any(2), dtype))
    empty: Any = full_of(0.0, (n, masks, cells, cells), dtype)
    where = [truth.image, truth.anchor, truth.row, truth.column]
    taken = put_elements(empty, last, where, [0, 1, 2, 3], trusted=True, add=True)
    weights = put_elements(empty, last * truth.score, where, [0, 1, 2, 3], trusted=True, add=True)
    return choose_by(taken > 0.5, weights, found)  # type: ignore[operator]
