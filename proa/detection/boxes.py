"""Boxes beside prior boxes: box_coder and prior_box."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import type_error, value_error
from ..eager.tensor import Tensor
from ..ops.basic import cast_to
from ..ops.shape.joining import stack
from .arguments import boxes_tensor, floating_tensor, placed

_CODES = ("encode_center_size", "decode_center_size")


def _centres(boxes: Any, extra: float) -> tuple[Any, Any, Any, Any]:
    """Centre and size: x, y, width, height."""
    width, height = boxes[..., 2] - boxes[..., 0] + extra, boxes[..., 3] - boxes[..., 1] + extra
    return boxes[..., 0] + width * 0.5, boxes[..., 1] + height * 0.5, width, height


def box_coder(
    prior_box: Tensor,
    prior_box_var: Tensor | Sequence[float] | None,
    target_box: Tensor,
    code_type: str = "encode_center_size",
    box_normalized: bool = True,
    axis: int = 0,
    name: str | None = None,
) -> Tensor:
    """Boxes as offsets from prior boxes, in units of the priors' size and of `prior_box_var`, or back again.

    Encoding: `target_box` [N, 4] against `prior_box` [M, 4] gives [N, M, 4]. Decoding: `target_box` [N, M, 4], the
    priors belonging to its second dimension (`axis` 0) or its first (1). The variances are a tensor [M, 4], or four
    numbers. There is no gradient, as in Paddle.

    Example:
        >>> prior = paddle.to_tensor([[0.0, 0.0, 2.0, 2.0]])
        >>> paddle.vision.ops.box_coder(prior, [1.0, 1.0, 1.0, 1.0], prior + 1.0).tolist()
        [[[0.5, 0.5, 0.0, 0.0]]]
    """
    where = "box_coder"
    boxes_tensor(where, "prior_box", prior_box)
    if code_type not in _CODES:
        raise value_error(where, f"code_type must be one of {', '.join(_CODES)}", f"code_type: {code_type!r}")
    count = prior_box._aval.shape[0]
    encode = code_type == _CODES[0]
    if axis not in (0, 1):
        raise value_error(where, "axis must be 0 or 1", f"axis: {axis}")
    if encode:
        boxes_tensor(where, "target_box", target_box)
    else:
        floating_tensor(where, "target_box", target_box, 3)
        shape = target_box._aval.shape
        if shape[2] != 4 or shape[1 - axis] != count:
            raise value_error(
                where, f"to decode along axis {axis}, target_box must have {count} priors there and 4 numbers each",
                f"target_box: {target_box._aval}, prior_box: {prior_box._aval}",
            )  # fmt: skip
    variance = _variance(where, prior_box_var, prior_box, target_box, axis, encode)
    extra = 0.0 if box_normalized else 1.0
    prior: Any = prior_box.detach()
    target: Any = target_box.detach()
    if encode:
        x, y, width, height = (v.unsqueeze(0) for v in _centres(prior, extra))
        own_x, own_y, own_width, own_height = (v.unsqueeze(1) for v in _corner_centres(target, extra))
        parts = [
            (own_x - x) / width,
            (own_y - y) / height,
            (own_width / width).abs().log(),
            (own_height / height).abs().log(),
        ]
        return stack(parts, -1) / variance
    x, y, width, height = (v.unsqueeze(axis) for v in _centres(prior, extra))
    codes = target * variance
    centre_x, centre_y = codes[..., 0] * width + x, codes[..., 1] * height + y
    half_width, half_height = codes[..., 2].exp() * width * 0.5, codes[..., 3].exp() * height * 0.5
    parts = [
        centre_x - half_width,
        centre_y - half_height,
        centre_x + half_width - extra,
        centre_y + half_height - extra,
    ]
    return stack(parts, -1)


def _corner_centres(boxes: Any, extra: float) -> tuple[Any, Any, Any, Any]:
    """As `_centres`, but the centre lies halfway between the corners whatever `extra` is."""
    width, height = boxes[..., 2] - boxes[..., 0] + extra, boxes[..., 3] - boxes[..., 1] + extra
    return (boxes[..., 0] + boxes[..., 2]) * 0.5, (boxes[..., 1] + boxes[..., 3]) * 0.5, width, height


def _variance(where: str, value: Any, prior: Tensor, target: Tensor, axis: int, encode: bool) -> Any:
    if isinstance(value, Tensor):
        boxes_tensor(where, "prior_box_var", value)
        if value._aval.shape != prior._aval.shape:
            raise value_error(
                where, "prior_box_var must have prior_box's shape",
                f"prior_box_var: {value._aval}, prior_box: {prior._aval}",
            )  # fmt: skip
        return cast_to(value.detach(), target._aval.dtype).unsqueeze(0 if encode else axis)
    if not isinstance(value, (list, tuple)):
        raise type_error(
            where, "prior_box_var must be a Tensor or a list of 4 numbers", f"prior_box_var: {type(value).__name__}"
        )
    if len(value) != 4:
        raise value_error(where, "prior_box_var must be 4 numbers", f"prior_box_var: {value}")
    return placed(np.array([float(v) for v in value], target._aval.dtype), target)


def _numbers(where: str, name: str, value: Any) -> list[float]:
    if isinstance(value, (list, tuple)):
        return [float(v) for v in value]
    if isinstance(value, (int, float, np.number)):
        return [float(value)]
    raise type_error(where, f"{name} must be a list of numbers", f"{name}: {type(value).__name__}")


def prior_box(
    input: Tensor,
    image: Tensor,
    min_sizes: Sequence[float],
    max_sizes: Sequence[float] | None = None,
    aspect_ratios: Sequence[float] = [1.0],
    variance: Sequence[float] = [0.1, 0.1, 0.2, 0.2],
    flip: bool = False,
    clip: bool = False,
    steps: Sequence[float] = [0.0, 0.0],
    offset: float = 0.5,
    min_max_aspect_ratios_order: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The prior boxes of SSD around every place of a feature map, and their variances: two of [H, W, priors, 4].

    Boxes are in units of the image. For each of `min_sizes`: one square, one for each further aspect ratio (and its
    inverse with `flip`), one of the mean size if `max_sizes` are given. `steps` (width, height) of 0 follow from the
    sizes. Only the shapes of `input` and `image` matter.

    Example:
        >>> feature, image = paddle.zeros([1, 8, 3, 3]), paddle.zeros([1, 3, 30, 30])
        >>> boxes, variances = paddle.vision.ops.prior_box(feature, image, [5.0])
        >>> boxes.shape
        paddle.Size([3, 3, 1, 4])
    """
    where = "prior_box"
    floating_tensor(where, "input", input, 4)
    floating_tensor(where, "image", image, 4)
    small, ratios_given = _numbers(where, "min_sizes", min_sizes), _numbers(where, "aspect_ratios", aspect_ratios)
    large = [] if max_sizes is None else _numbers(where, "max_sizes", max_sizes)
    spread, step = _numbers(where, "variance", variance), _numbers(where, "steps", steps)
    if not small or min(small) <= 0:
        raise value_error(where, "min_sizes must be positive numbers", f"min_sizes: {small}")
    if large and (len(large) != len(small) or any(b <= a for a, b in zip(small, large, strict=True))):
        raise value_error(
            where, "max_sizes must be as many as min_sizes, each larger", f"min_sizes: {small}, max_sizes: {large}"
        )
    if len(spread) != 4 or len(step) != 2 or min(ratios_given, default=1.0) <= 0:
        raise value_error(
            where, "variance must be 4 numbers, steps 2, and aspect_ratios positive",
            f"variance: {spread}, steps: {step}, aspect_ratios: {ratios_given}",
        )  # fmt: skip
    ratios = [1.0]
    for ratio in ratios_given:
        if all(abs(ratio - known) >= 1e-6 for known in ratios):
            ratios += [ratio, 1.0 / ratio] if flip else [ratio]
    height, width = input._aval.shape[2:]
    image_height, image_width = image._aval.shape[2:]
    if min(height, width, image_height, image_width) < 1:
        raise value_error(where, "input and image must have elements", f"input: {input._aval}, image: {image._aval}")
    sizes: list[tuple[float, float]] = []
    for number, size in enumerate(small):
        mean = [(math.sqrt(size * large[number]),) * 2] if large else []
        further = [(size * math.sqrt(r), size / math.sqrt(r)) for r in ratios if abs(r - 1.0) >= 1e-6]
        sizes += [(size, size), *mean, *further] if min_max_aspect_ratios_order else [(size, size), *further, *mean]
    across = step[0] or image_width / width
    down = step[1] or image_height / height
    x = ((np.arange(width) + offset) * across)[None, :, None]
    y = ((np.arange(height) + offset) * down)[:, None, None]
    half = np.array(sizes) / 2.0
    edges = np.broadcast_arrays(
        (x - half[:, 0]) / image_width, (y - half[:, 1]) / image_height,
        (x + half[:, 0]) / image_width, (y + half[:, 1]) / image_height,
    )  # fmt: skip
    boxes = np.stack(edges, -1)
    if clip:
        boxes = np.clip(boxes, 0.0, 1.0)
    dtype = input._aval.dtype
    variances = np.broadcast_to(np.array(spread), boxes.shape)
    return placed(boxes.astype(dtype), input), placed(variances.astype(dtype), input)
