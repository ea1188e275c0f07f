"""Proposals of two-stage detectors: generate_proposals and distribute_fpn_proposals.

How many there are depends on the values, so both are computed on the host; there is no gradient.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.errors import value_error
from ..eager.tensor import Tensor
from ..ops.arguments import require_tensor
from .arguments import boxes_tensor, counts, floating_tensor, host, placed
from .suppression import keep_best

_LARGEST_SCALE = math.log(1000.0 / 16.0)  # no box grows beyond this factor, whatever its code says


def _decoded(anchors: np.ndarray, codes: np.ndarray, variances: np.ndarray, extra: float) -> np.ndarray:
    sides = anchors[:, 2:] - anchors[:, :2] + extra
    centres = anchors[:, :2] + sides * 0.5
    codes = codes * variances
    moved = codes[:, :2] * sides + centres
    half = np.exp(np.minimum(codes[:, 2:], _LARGEST_SCALE)) * sides * 0.5
    return np.concatenate([moved - half, moved + half - extra], 1).astype(anchors.dtype)


def _large_enough(boxes: np.ndarray, image: np.ndarray, least: float, extra: float) -> np.ndarray:
    sides = boxes[:, 2:] - boxes[:, :2] + extra
    passed = (sides >= max(least, 1.0)).all(1)
    if extra:
        centres = boxes[:, :2] + sides * 0.5
        passed &= (centres <= image[::-1]).all(1)
    return np.flatnonzero(passed)


def generate_proposals(
    scores: Tensor,
    bbox_deltas: Tensor,
    img_size: Tensor,
    anchors: Tensor,
    variances: Tensor,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = False,
    return_rois_num: bool = False,
    name: str | None = None,
) -> Any:
    """The best boxes that a region proposal network found.

    The best `pre_nms_top_n` are decoded and clipped to the image, those with a side below `min_size` (or 1) dropped,
    the rest suppressed at `nms_thresh`, and `post_nms_top_n` kept. An image without any gets one box of zeros.
    Computed on the host.

    Args:
        scores: `[N, A, H, W]`.
        bbox_deltas: `[N, 4 * A, H, W]`.
        img_size: height and width of each image, `[N, 2]`.
        anchors: `[H, W, A, 4]`, or their rows `[H * W * A, 4]`.
        variances: as `anchors`.
        pre_nms_top_n: how many are looked at; 0 is no limit.
        post_nms_top_n: how many are kept; 0 is no limit.
        nms_thresh: from which overlap on a box is suppressed.
        min_size: the shortest side.
        eta: below 1, the threshold shrinks by this factor.
        pixel_offset: whether a box from 0 to 1 is two wide.
        return_rois_num: whether the number of boxes of each image is given too.
        name: a label; it changes nothing.

    Returns:
        Boxes `[n, 4]` and scores `[n, 1]`; with `return_rois_num` also how many each image has.

    Examples:
        >>> anchors, sizes = paddle.to_tensor([[[[0.0, 0.0, 4.0, 4.0]]]]), paddle.to_tensor([[8.0, 8.0]])
        >>> scores, deltas = paddle.ones([1, 1, 1, 1]), paddle.zeros([1, 4, 1, 1])
        >>> variances = paddle.ones_like(anchors)
        >>> boxes, scores = paddle.vision.ops.generate_proposals(scores, deltas, sizes, anchors, variances)
        >>> boxes.tolist(), scores.tolist()
        ([[0.0, 0.0, 4.0, 4.0]], [[1.0]])
    """
    where = "generate_proposals"
    for label, tensor, ndim in (("scores", scores, 4), ("bbox_deltas", bbox_deltas, 4), ("img_size", img_size, 2)):
        floating_tensor(where, label, tensor, ndim)
    n, num_anchors, height, width = scores._aval.shape
    rows = [(height, width, num_anchors, 4), (height * width * num_anchors, 4)]
    expected = {
        "bbox_deltas": (bbox_deltas, [(n, 4 * num_anchors, height, width)]), "img_size": (img_size, [(n, 2)]),
        "anchors": (anchors, rows), "variances": (variances, rows),
    }  # fmt: skip
    for label, (tensor, shapes) in expected.items():
        if require_tensor(where, label, tensor)._aval.shape not in shapes:
            raise value_error(
                where, f"{label} must be {' or '.join(str(list(shape)) for shape in shapes)}",
                f"{label}: {tensor._aval}, scores: {scores._aval}",
            )  # fmt: skip
        floating_tensor(where, label, tensor, tensor._aval.ndim)
    extra = 1.0 if pixel_offset else 0.0
    all_anchors, all_variances = host(anchors).reshape(-1, 4), host(variances).reshape(-1, 4)
    all_scores = host(scores).transpose(0, 2, 3, 1).reshape(n, -1)
    all_codes = host(bbox_deltas).reshape(n, num_anchors, 4, height, width).transpose(0, 3, 4, 1, 2).reshape(n, -1, 4)
    sizes = host(img_size)
    rois, probabilities, numbers = [], [], []
    for image in range(n):
        order = np.argsort(-all_scores[image], kind="stable")
        if 0 < pre_nms_top_n < order.size:
            order = order[:pre_nms_top_n]
        boxes = _decoded(all_anchors[order], all_codes[image, order], all_variances[order], extra)
        limits = np.tile(sizes[image][::-1] - extra, 2).astype(boxes.dtype)
        boxes = np.clip(boxes, 0, limits)
        chosen = _large_enough(boxes, sizes[image], min_size, extra)
        if chosen.size:
            if nms_thresh > 0:
                most = post_nms_top_n if post_nms_top_n > 0 else -1
                chosen = chosen[keep_best(boxes[chosen], nms_thresh, eta, extra, most)]
            boxes, values = boxes[chosen], all_scores[image, order[chosen]]
        else:
            boxes, values = np.zeros((1, 4), boxes.dtype), np.zeros(1, all_scores.dtype)
        rois.append(boxes)
        probabilities.append(values[:, None])
        numbers.append(len(boxes))
    found = placed(np.concatenate([np.zeros((0, 4), all_anchors.dtype), *rois]), scores)
    belief = placed(np.concatenate([np.zeros((0, 1), all_scores.dtype), *probabilities]), scores)
    if return_rois_num:
        return found, belief, placed(np.array(numbers, np.int32), scores)
    return found, belief


def distribute_fpn_proposals(
    fpn_rois: Tensor,
    min_level: int,
    max_level: int,
    refer_level: int,
    refer_scale: float,
    pixel_offset: bool = False,
    rois_num: Tensor | None = None,
    name: str | None = None,
) -> tuple[list[Tensor], Tensor, list[Tensor] | None]:
    """Boxes by the level of the feature pyramid their size belongs to: those of each level, where each box went [n, 1],
    and, if `rois_num` says how many boxes each image has, the same for each level.

    A box of the size `refer_scale` belongs to `refer_level`, one twice as large to the next. Computed on the host.

    Example:
        >>> rois = paddle.to_tensor([[0.0, 0.0, 224.0, 224.0], [0.0, 0.0, 50.0, 50.0]])
        >>> levels, restore, _ = paddle.vision.ops.distribute_fpn_proposals(rois, 2, 5, 4, 224)
        >>> [level.shape[0] for level in levels], restore.flatten().tolist()
        ([1, 0, 1, 0], [1, 0])
    """
    where = "distribute_fpn_proposals"
    boxes = host(boxes_tensor(where, "fpn_rois", fpn_rois))
    if max_level <= min_level:
        raise value_error(where, "max_level must be above min_level", f"min_level: {min_level}, max_level: {max_level}")
    numbers = None if rois_num is None else counts(where, "rois_num", rois_num, len(boxes))
    images = np.zeros(len(boxes), np.int64) if numbers is None else np.repeat(np.arange(len(numbers)), numbers)
    sides = boxes[:, 2:] - boxes[:, :2]
    extra = 1 if pixel_offset else 0
    area = np.where((sides < 0).any(1), 0, (sides[:, 0] + extra) * (sides[:, 1] + extra))
    with np.errstate(invalid="ignore"):
        level = np.floor(np.log2(np.sqrt(area) / refer_scale + 1e-6) + refer_level)
    level = np.clip(np.nan_to_num(level, nan=min_level), min_level, max_level).astype(np.int64)
    members = [np.flatnonzero(level == number) for number in range(min_level, max_level + 1)]
    order = np.concatenate(members)
    restore = np.empty(len(boxes), np.int32)
    restore[order] = np.arange(len(boxes), dtype=np.int32)
    of_images = None
    if numbers is not None:
        of_images = [placed(np.bincount(images[m], minlength=len(numbers)).astype(np.int32), fpn_rois) for m in members]
    return [placed(boxes[m], fpn_rois) for m in members], placed(restore[:, None], fpn_rois), of_images
