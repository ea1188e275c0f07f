"""`paddle._C_ops`: inner operators that programs call by name, with all their attributes by position.

An operator that takes the arguments of its public function in another order is that function here. What values decide the
shape of (`multiclass_nms3`) is computed on the host.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...detection.suppression import keep_best
from ...eager.tensor import Tensor, tensor_from_data
from ...nn import functional as F
from ...vision import ops as vision
from ..calling import paddle_function


def argsort(x: Tensor, axis: int = -1, descending: bool = False, stable: bool = False) -> tuple[Tensor, Tensor]:
    """The elements in order, and where they came from."""
    indices = paddle_function("argsort")(x, axis, descending, stable)
    return paddle_function("take_along_axis")(x, indices, axis), indices


def layer_norm(x: Any, scale: Any, bias: Any, epsilon: float, begin_norm_axis: int) -> tuple[Any, Any, Any]:
    """The layer norm from an axis on, the means and the variances."""
    shape = list(x.shape[begin_norm_axis:])
    rows = x.flatten(begin_norm_axis).flatten(0, begin_norm_axis - 1)
    return F.layer_norm(x, shape, scale, bias, epsilon), rows.mean(-1), rows.var(-1, unbiased=False)


def prior_box(
    input: Any, image: Any, min_sizes: Any, max_sizes: Any, aspect_ratios: Any, variances: Any, flip: bool, clip: bool,
    step_w: float, step_h: float, offset: float, min_max_aspect_ratios_order: bool,
) -> Any:  # fmt: skip
    return vision.prior_box(
        input, image, min_sizes, max_sizes, aspect_ratios, variances, flip, clip, [step_w, step_h], offset,
        min_max_aspect_ratios_order,
    )  # fmt: skip


def box_coder(
    prior_box: Any, prior_box_var: Any, target_box: Any, code_type: str, box_normalized: bool, axis: int, variance: Any = ()
) -> Any:  # fmt: skip
    given = prior_box_var if prior_box_var is not None else list(variance) or None
    return vision.box_coder(prior_box, given, target_box, code_type, box_normalized, axis)


def roi_align(
    x: Any, boxes: Any, boxes_num: Any, pooled_height: int, pooled_width: int, spatial_scale: float,
    sampling_ratio: int, aligned: bool,
) -> Any:  # fmt: skip
    return vision.roi_align(x, boxes, boxes_num, (pooled_height, pooled_width), spatial_scale, sampling_ratio, aligned)


def roi_pool(
    x: Any, boxes: Any, boxes_num: Any, pooled_height: int, pooled_width: int, spatial_scale: float
) -> tuple[Any, None]:
    return vision.roi_pool(x, boxes, boxes_num, (pooled_height, pooled_width), spatial_scale), None


def distribute_fpn_proposals(
    fpn_rois: Any, rois_num: Any, min_level: int, max_level: int, refer_level: int, refer_scale: int, pixel_offset: bool
) -> Any:
    rois, restore, counts = vision.distribute_fpn_proposals(
        fpn_rois, min_level, max_level, refer_level, refer_scale, pixel_offset, rois_num
    )
    return rois, counts, restore


def matrix_nms(
    bboxes: Any, scores: Any, score_threshold: float, nms_top_k: int, keep_top_k: int, post_threshold: float,
    use_gaussian: bool, gaussian_sigma: float, background_label: int, normalized: bool,
) -> Any:  # fmt: skip
    found = vision.matrix_nms(
        bboxes, scores, score_threshold, post_threshold, nms_top_k, keep_top_k, use_gaussian, gaussian_sigma,
        background_label, normalized, return_index=True, return_rois_num=True,
    )  # fmt: skip
    out, counts, index = found
    return out, index, counts


def flash_attn(
    q: Any, k: Any, v: Any, fixed_seed_offset: Any = None, attn_mask: Any = None, dropout: float = 0.0,
    causal: bool = False, return_softmax: bool = False, is_test: bool = False, rng_name: str = "",
) -> tuple[Any, None, None, None]:  # fmt: skip
    """Attention of `[batch, sequence, heads, size]`; what Paddle keeps for its own backward pass is None."""
    return F.scaled_dot_product_attention(q, k, v, attn_mask, dropout, causal, not is_test), None, None, None


def multiclass_nms3(
    bboxes: Tensor, scores: Tensor, rois_num: Tensor | None, score_threshold: float, nms_top_k: int, keep_top_k: int,
    nms_threshold: float = 0.3, normalized: bool = True, nms_eta: float = 1.0, background_label: int = 0,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Detections `[class, score, box]` that overlap no better one of their class, their positions, and counts by image.

    Boxes are `[images, boxes, 4]` and scores `[images, classes, boxes]`; with `rois_num` (boxes of each image) they are
    `[boxes, classes, 4]` and `[boxes, classes]`.
    """
    boxes, values = np.asarray(bboxes.numpy()), np.asarray(scores.numpy())
    extra = 0.0 if normalized else 1.0
    settings = (score_threshold, nms_top_k, keep_top_k, nms_threshold, extra, nms_eta, background_label)
    rows, positions, counts = [], [], []
    if rois_num is None:
        for image in range(len(boxes)):
            found = _best_of_image(lambda _, image=image: boxes[image], values[image], *settings)
            rows += [[c, values[image, c, i], *boxes[image, i]] for c, i in found]
            positions += [image * boxes.shape[1] + i for _, i in found]
            counts.append(len(found))
    else:
        first = 0
        for count in rois_num.numpy().tolist():
            part, part_values = boxes[first : first + count], values[first : first + count].T
            found = sorted(_best_of_image(lambda c, part=part: part[:, c], part_values, *settings))
            rows += [[c, part_values[c, i], *part[i, c]] for c, i in found]
            positions += [(first + i) * boxes.shape[1] + c for c, i in found]
            counts.append(len(found))
            first += count
    return (
        tensor_from_data(np.array(rows, boxes.dtype).reshape(-1, 2 + boxes.shape[-1])),
        tensor_from_data(np.array(positions, "int32").reshape(-1, 1)),
        tensor_from_data(np.array(counts, "int32")),
    )


def _best_of_image(
    boxes_of: Any, scores: np.ndarray, least: float, top: int, keep: int, threshold: float, extra: float, eta: float,
    background: int,
) -> list[tuple[int, int]]:  # fmt: skip
    """(class, box) of what is kept: by class, the best first."""
    found: list[tuple[int, int]] = []
    for number in range(len(scores)):
        if number == background:
            continue
        candidates = np.flatnonzero(scores[number] > least)
        order = candidates[np.argsort(-scores[number][candidates], kind="stable")]
        order = order[:top] if top > -1 else order
        found += [(number, int(order[i])) for i in keep_best(boxes_of(number)[order], threshold, eta, extra)]
    if -1 < keep < len(found):
        ranked = sorted(found, key=lambda entry: -scores[entry[0], entry[1]])[:keep]
        found = [entry for entry in found if entry in set(ranked)]
    return found
