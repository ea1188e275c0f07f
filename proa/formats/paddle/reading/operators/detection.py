"""Boxes and regions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..... import detection
from .....detection.suppression import keep_best
from .....eager.tensor import Tensor
from ..functions import paddle
from ..registry import reads


@reads("yolo_box")
def yolo_box(
    x: Tensor, img_size: Tensor, *, anchors: list[int], class_num: int, conf_thresh: float, downsample_ratio: int,
    clip_bbox: bool = True, scale_x_y: float = 1.0, iou_aware: bool = False, iou_aware_factor: float = 0.5,
) -> Any:  # fmt: skip
    return tuple(
        detection.yolo_box(
            x, img_size, list(anchors), class_num, conf_thresh, downsample_ratio, clip_bbox, scale_x_y=scale_x_y,
            iou_aware=iou_aware, iou_aware_factor=iou_aware_factor,
        )
    )  # fmt: skip


@reads("roi_align")
def roi_align(
    x: Tensor, boxes: Tensor, boxes_num: Any = None, *, pooled_height: int = 1, pooled_width: int = 1,
    spatial_scale: float = 1.0, sampling_ratio: int = -1, aligned: bool = False,
) -> Tensor:  # fmt: skip
    return detection.roi_align(
        x, boxes, boxes_num, (pooled_height, pooled_width), spatial_scale, sampling_ratio, aligned
    )


@reads("roi_pool")
def roi_pool(
    x: Tensor, boxes: Tensor, boxes_num: Any = None, *, pooled_height: int = 1, pooled_width: int = 1,
    spatial_scale: float = 1.0,
) -> Tensor:  # fmt: skip
    return detection.roi_pool(x, boxes, boxes_num, (pooled_height, pooled_width), spatial_scale)


@reads("psroi_pool")
def psroi_pool(
    x: Tensor, boxes: Tensor, boxes_num: Any = None, *, pooled_height: int = 1, pooled_width: int = 1,
    output_channels: int = 1, spatial_scale: float = 1.0,
) -> Tensor:  # fmt: skip
    return detection.psroi_pool(x, boxes, boxes_num, (pooled_height, pooled_width), spatial_scale)


@reads("nms")
def nms(x: Tensor, *, threshold: float = 1.0) -> Tensor:
    return detection.nms(x, threshold)


@reads("prior_box")
def prior_box(
    x: Tensor, image: Tensor, *, min_sizes: list[float], max_sizes: list[float], aspect_ratios: list[float],
    variances: list[float], flip: bool = True, clip: bool = True, step_w: float = 0.0, step_h: float = 0.0,
    offset: float = 0.5, min_max_aspect_ratios_order: bool = False,
) -> Any:  # fmt: skip
    return tuple(
        detection.prior_box(
            x, image, list(min_sizes), list(max_sizes) or None, list(aspect_ratios), list(variances), flip, clip,
            [step_w, step_h], offset, min_max_aspect_ratios_order,
        )
    )  # fmt: skip


@reads("box_coder")
def box_coder(
    prior: Tensor, prior_var: Tensor | None, target: Tensor, *, code_type: str = "encode_center_size",
    box_normalized: bool = True, axis: int = 0, variance: Any = (),
) -> Tensor:  # fmt: skip
    return detection.box_coder(
        prior,
        list(variance) if prior_var is None and variance else prior_var,
        target,
        code_type,
        box_normalized,
        axis=axis,
    )


@reads("matrix_nms")
def matrix_nms(
    boxes: Tensor, scores: Tensor, *, score_threshold: float, nms_top_k: int, keep_top_k: int, post_threshold: float = 0.0,
    use_gaussian: bool = False, gaussian_sigma: float = 2.0, background_label: int = 0, normalized: bool = True,
) -> Any:  # fmt: skip
    out, count, index = detection.matrix_nms(
        boxes, scores, score_threshold, post_threshold, nms_top_k, keep_top_k, use_gaussian, gaussian_sigma,
        background_label, normalized, return_index=True, return_rois_num=True,
    )  # fmt: skip
    return out, index, count


@reads("generate_proposals")
def generate_proposals(
    scores: Tensor, deltas: Tensor, img_size: Tensor, anchors: Tensor, variances: Tensor, *, pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000, nms_thresh: float = 0.5, min_size: float = 0.1, eta: float = 1.0, pixel_offset: bool = True,
) -> Any:  # fmt: skip
    return tuple(
        detection.generate_proposals(
            scores, deltas, img_size, anchors, variances, pre_nms_top_n, post_nms_top_n, nms_thresh, min_size, eta,
            pixel_offset, return_rois_num=True,
        )
    )  # fmt: skip


@reads("multiclass_nms3")
def multiclass_nms3(
    boxes: Tensor, scores: Tensor, boxes_num: Tensor | None = None, *, score_threshold: float, nms_top_k: int,
    keep_top_k: int, nms_threshold: float = 0.3, normalized: bool = True, nms_eta: float = 1.0, background_label: int = 0,
) -> Any:  # fmt: skip
    """Rows (class, score, box) of what is kept, their places among all boxes, and how many each picture has.

    How many there are depends on the values, so this is computed on the host.
    """
    if boxes_num is not None:
        raise NotImplementedError("(multiclass_nms3) boxes of several pictures in one list are not supported.")
    all_boxes, all_scores = np.asarray(boxes._data()), np.asarray(scores._data())
    rows: list[np.ndarray] = []
    places: list[int] = []
    counts: list[int] = []
    for picture, (own_boxes, own_scores) in enumerate(zip(all_boxes, all_scores, strict=True)):
        kept: list[tuple[float, int, int]] = []  # score, class, box
        for label, values in enumerate(own_scores):
            if label == background_label:
                continue
            order = np.argsort(-values, kind="stable")
            order = order[values[order] > score_threshold]
            order = order[:nms_top_k] if nms_top_k > -1 else order
            best = keep_best(own_boxes[order], nms_threshold, nms_eta, 0.0 if normalized else 1.0)
            kept += [(float(values[place]), label, int(place)) for place in order[best]]
        if -1 < keep_top_k < len(kept):
            kept = sorted(kept, key=lambda entry: -entry[0])[:keep_top_k]
            kept.sort(key=lambda entry: entry[1])
        rows += [np.concatenate([[label, score], own_boxes[place]]) for score, label, place in kept]
        places += [picture * len(own_boxes) + place for _, _, place in kept]
        counts.append(len(kept))
    table = np.asarray(rows, all_boxes.dtype).reshape(-1, 2 + all_boxes.shape[-1])
    return (
        paddle.to_tensor(table),
        paddle.to_tensor(np.asarray(places, np.int32).reshape(-1, 1)),
        paddle.to_tensor(np.asarray(counts, np.int32)),
    )


@reads("box_clip")
def box_clip(boxes: Tensor, info: Tensor) -> Tensor:
    """Boxes inside pictures; a row of `info` is height, width and the scale that they had before."""
    height, width, scale = info[:, 0:1], info[:, 1:2], info[:, 2:3]
    shape = [-1, *[1] * (boxes.ndim - 2)]
    right = (paddle.round(width / scale) - 1).reshape(shape)
    bottom = (paddle.round(height / scale) - 1).reshape(shape)
    zero = paddle.zeros_like(right)
    limits = (right, bottom, right, bottom)
    parts = [paddle.minimum(paddle.maximum(boxes[..., side], zero), limit) for side, limit in enumerate(limits)]
    return paddle.stack(parts, -1)


@reads("distribute_fpn_proposals")
def distribute_fpn_proposals(
    rois: Tensor, rois_num: Tensor | None = None, *, min_level: int, max_level: int, refer_level: int, refer_scale: int,
    pixel_offset: bool = True,
) -> Any:  # fmt: skip
    parts, restore, counts = detection.distribute_fpn_proposals(
        rois, min_level, max_level, refer_level, refer_scale, pixel_offset, rois_num
    )
    return parts, counts, restore
