"""Suppression of boxes that overlap better ones: nms and matrix_nms.

How many boxes remain depends on the values, so both are computed on the host; there is no gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import value_error
from ..eager.tensor import Tensor
from ..ops.arguments import integer, require_tensor
from .arguments import boxes_tensor, floating_tensor, host, placed


def areas(boxes: np.ndarray, extra: float = 0.0) -> np.ndarray:
    """Areas; a box whose corners are the wrong way round has none."""
    sides = boxes[..., 2:] - boxes[..., :2]
    return np.where((sides < 0).any(-1), 0, (sides[..., 0] + extra) * (sides[..., 1] + extra))


def overlaps(boxes: np.ndarray, others: np.ndarray, extra: float = 0.0) -> np.ndarray:
    """Intersection over union of every box with every other; `extra` is 1 when corners are whole elements."""
    extra = boxes.dtype.type(extra)
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    sides = np.where(high < low, 0, high - low + extra)
    common = sides[..., 0] * sides[..., 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        return common / (areas(boxes, extra)[:, None] + areas(others, extra)[None, :] - common)


def keep_best(boxes: np.ndarray, threshold: float, eta: float = 1.0, extra: float = 0.0, most: int = -1) -> np.ndarray:
    """Positions of the boxes, best first, that overlap no better kept one by more than `threshold`.

    With `eta` below 1 the threshold shrinks after each kept box while it is above one half. One kept box at a time is
    compared with all that are left, so memory grows with the boxes and not with their square.
    """
    left = np.arange(len(boxes))
    worst = np.zeros(len(boxes), boxes.dtype)  # the largest overlap with a kept box so far
    kept: list[int] = []
    while left.size and len(kept) != most:
        first, left, worst = left[0], left[1:], worst[1:]
        kept.append(int(first))
        if eta < 1.0 and threshold > 0.5:
            threshold *= eta
        worst = np.fmax(worst, overlaps(boxes[first : first + 1], boxes[left], extra)[0])
        passed = ~(worst > threshold)
        left, worst = left[passed], worst[passed]
    return np.array(kept, np.int64)


def nms(
    boxes: Tensor,
    iou_threshold: float = 0.3,
    scores: Tensor | None = None,
    category_idxs: Tensor | None = None,
    categories: Sequence[int] | None = None,
    top_k: int | None = None,
) -> Tensor:
    """Positions of the boxes that overlap no better one by more than `iou_threshold`, best first.

    Without `scores` the boxes are taken in their order. With `category_idxs` (the category of each box, among
    `categories`) only boxes of one category suppress each other, and at most `top_k` are given; without categories
    Paddle does not apply `top_k`, and neither does this. Computed on the host.

    Example:
        >>> boxes = paddle.to_tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.9], [5.0, 5.0, 6.0, 6.0]])
        >>> paddle.vision.ops.nms(boxes, 0.5).tolist()
        [0, 2]
    """
    where = "nms"
    values = host(boxes_tensor(where, "boxes", boxes))
    count = len(values)
    if scores is None:
        return placed(keep_best(values, iou_threshold), boxes)
    weights = host(_of_each_box(where, "scores", scores, count))
    if category_idxs is None:
        order = np.argsort(-weights, kind="stable")
        return placed(order[keep_best(values[order], iou_threshold)], boxes)
    if categories is None:
        raise value_error(where, "with category_idxs, categories (a list of all categories) is needed")
    if top_k is not None:
        top_k = integer(where, "top_k", top_k)
        if not 0 <= top_k <= count:
            raise value_error(where, f"top_k must be between 0 and the number of boxes, {count}", f"top_k: {top_k}")
    labels = host(_of_each_box(where, "category_idxs", category_idxs, count))
    kept = [np.zeros(0, np.int64)]
    for category in dict.fromkeys(int(c) for c in categories):
        members = np.flatnonzero(labels == category)
        members = members[np.argsort(-weights[members], kind="stable")]
        kept.append(members[keep_best(values[members], iou_threshold)])
    found = np.concatenate(kept)
    found = found[np.argsort(-weights[found], kind="stable")]
    return placed(found[:top_k], boxes)


def _of_each_box(where: str, name: str, value: Any, count: int) -> Tensor:
    aval = require_tensor(where, name, value)._aval
    if aval.shape != (count,):
        raise value_error(where, f"{name} must have a number for each of the {count} box(es)", f"{name}: {aval}")
    return value


# ---- matrix_nms ----------------------------------------------------------------------------------


def _decayed(
    boxes: np.ndarray, scores: np.ndarray, threshold: float, top_k: int, sigma: float | None, extra: float
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and lowered scores of one class, before the second threshold."""
    chosen = np.flatnonzero(scores > threshold)
    chosen = chosen[np.argsort(-scores[chosen], kind="stable")]
    if top_k > -1:
        chosen = chosen[:top_k]
    if not chosen.size:
        return chosen, scores[chosen]
    shared = np.tril(np.nan_to_num(overlaps(boxes[chosen], boxes[chosen], extra)), -1)  # with better ones only
    most = shared.max(1)
    if sigma is None:
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = (1 - shared) / (1 - most[None, :])
    else:
        factors = np.exp((most[None, :] ** 2 - shared**2) * scores.dtype.type(sigma))
    better = np.tril(np.ones_like(shared, dtype=bool), -1)
    decay = np.where(better, factors, np.inf).min(1)
    return chosen, scores[chosen] * np.minimum(decay, 1).astype(scores.dtype)


def matrix_nms(
    bboxes: Tensor,
    scores: Tensor,
    score_threshold: float,
    post_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    use_gaussian: bool = False,
    gaussian_sigma: float = 2.0,
    background_label: int = 0,
    normalized: bool = True,
    return_index: bool = False,
    return_rois_num: bool = True,
    name: str | None = None,
) -> Any:
    """Lowers the scores of boxes by how much better ones of their class overlap them (SOLOv2), all at once.

    `bboxes` [N, M, 4] and `scores` [N, classes, M] give rows [class, score, x1, y1, x2, y2] of all images, how
    many each image has and where in [N * M] they were: (rows, counts, index), None for what is not asked for.
    A limit of -1 is none. Computed on the host.

    Example:
        >>> boxes = paddle.to_tensor([[[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.5]]])
        >>> scores = paddle.to_tensor([[[0.9, 0.8]]])
        >>> rows, count, _ = paddle.vision.ops.matrix_nms(boxes, scores, 0.1, 0.0, 10, 10, background_label=-1)
        >>> count.tolist()
        [2]
    """
    where = "matrix_nms"
    floating_tensor(where, "bboxes", bboxes, 3)
    floating_tensor(where, "scores", scores, 3)
    num_images, num_boxes, wide = bboxes._aval.shape
    if wide != 4 or scores._aval.shape[0] != num_images or scores._aval.shape[2] != num_boxes:
        raise value_error(
            where,
            "bboxes must be [N, M, 4] and scores [N, classes, M]",
            f"bboxes: {bboxes._aval}, scores: {scores._aval}",
        )
    boxes_of, scores_of = host(bboxes), host(scores)
    sigma, extra = (float(gaussian_sigma) if use_gaussian else None), (0.0 if normalized else 1.0)
    rows, places, numbers = [], [], []
    for image in range(num_images):
        parts = []
        for label in range(scores_of.shape[1]):
            if label == background_label:
                continue
            chosen, lowered = _decayed(
                boxes_of[image], scores_of[image, label], score_threshold, nms_top_k, sigma, extra
            )
            passed = lowered > post_threshold
            parts.append((np.full(int(passed.sum()), label), lowered[passed], chosen[passed]))
        labels, values, chosen = (np.concatenate(p) for p in zip(*parts, strict=True)) if parts else _nothing(scores_of)
        order = np.argsort(-values, kind="stable")
        if keep_top_k > -1:
            order = order[:keep_top_k]
        found = [labels[order, None], values[order, None], boxes_of[image, chosen[order]]]
        rows.append(np.concatenate(found, 1).astype(boxes_of.dtype))
        places.append(chosen[order] + image * num_boxes)
        numbers.append(len(order))
    out = placed(np.concatenate([np.zeros((0, 6), boxes_of.dtype), *rows]), bboxes)
    counts = placed(np.array(numbers, np.int32), bboxes) if return_rois_num else None
    index = None
    if return_index:
        index = placed(np.concatenate([np.zeros(0, np.int64), *places]).astype(np.int32)[:, None], bboxes)
    return out, counts, index


def _nothing(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.zeros(0, np.int64), np.zeros(0, scores.dtype), np.zeros(0, np.int64)
