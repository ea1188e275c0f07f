"""Calls of `paddle.vision.ops` whose results in Paddle 3.3.1 are kept in `observed.json`.

A case is a function of the package that gives the results and the tensors whose gradients are looked at. Nothing here is
particular to one package: the file was made by running the same cases with Paddle. Where its gradient is not the
gradient of its own result (roi_align with sides below one element, two equal boxes in yolo_loss) there is no case.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

CASES: dict[str, Callable[[Any], tuple[Any, list[Any]]]] = {}


def case(name: str, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES[name] = lambda paddle: function(paddle, np.random.default_rng(len(name)), **options)
        return function

    return register


def boxes(
    random: np.random.Generator, count: int, size: float, least: float = 2.0, most: float | None = None
) -> np.ndarray:
    low = random.uniform(-2, size * 0.7, (count, 2))
    return np.concatenate([low, low + random.uniform(least, most or size * 0.6, (count, 2))], 1).astype("float32")


def normal(random: np.random.Generator, *shape: int) -> np.ndarray:
    return random.standard_normal(shape).astype("float32")


def wanting(paddle: Any, array: np.ndarray) -> Any:
    return paddle.to_tensor(array, stop_gradient=False)


# ---- regions: features [2, C, 9, 11], two boxes in the first image and three in the second ------------------------------

EDGES = np.array([[-30, -30, 60, 60], [5, 5, 7, 5], [3, 3, 8, 8], [20, 20, 30, 30], [0, 0, 10, 8]], "float32")
HALVES = np.array(
    [[0.5, 1.5, 4.5, 6.5], [2.5, 2.5, 7.5, 7.5], [-0.5, -1.5, 3.5, 5.5], [1, 1, 2, 2], [0, 0, 0, 0]], "float32"
)


@case("roi_align", size=(3, 2), scale=0.5)
@case("roi_align, ratio 2", size=(3, 2), scale=0.5, ratio=2)
@case("roi_align, not aligned", size=2, scale=0.5, aligned=False)
@case("roi_align, not aligned, ratio 3", size=2, ratio=3, aligned=False)
@case("roi_align, edges", size=2, aligned=False, given=EDGES)
def _(
    paddle: Any, random: Any, size: Any, scale: float = 1.0, ratio: int = -1, aligned: bool = True, given: Any = None
) -> Any:
    x, counts = wanting(paddle, normal(random, 2, 3, 9, 11)), paddle.to_tensor(np.array([2, 3], "int32"))
    regions = paddle.to_tensor(boxes(random, 5, 16, 3) if given is None else given)
    return paddle.vision.ops.roi_align(x, regions, counts, size, scale, ratio, aligned), [x]


@case("roi_pool", size=(3, 2), scale=0.5)
@case("roi_pool, edges", size=2, given=EDGES)
@case("roi_pool, halves", size=2, given=HALVES)
@case("roi_pool, ties", size=2, ties=True)
def _(paddle: Any, random: Any, size: Any, scale: float = 1.0, ties: bool = False, given: Any = None) -> Any:
    features = normal(random, 2, 3, 9, 11)
    x = wanting(paddle, np.round(features) if ties else features)
    regions = paddle.to_tensor(boxes(random, 5, 16) if given is None else given)
    return paddle.vision.ops.roi_pool(x, regions, paddle.to_tensor(np.array([2, 3], "int32")), size, scale), [x]


@case("psroi_pool", size=(3, 2), scale=0.5)
@case("psroi_pool, edges", size=2, given=EDGES)
@case("psroi_pool, halves", size=2, given=HALVES)
def _(paddle: Any, random: Any, size: Any, scale: float = 1.0, given: Any = None) -> Any:
    x = wanting(paddle, normal(random, 2, 12, 9, 11))
    regions = paddle.to_tensor(boxes(random, 5, 16) if given is None else given)
    return paddle.vision.ops.psroi_pool(x, regions, paddle.to_tensor(np.array([2, 3], "int32")), size, scale), [x]


# ---- deformable convolution: x [2, 4, 7, 8], kernel 3 x 2 ----------------------------------------------------------------


@case("deform_conv2d", out=(5, 7))
@case("deform_conv2d, mask", out=(4, 5), parts=2, stride=2, padding=1, masked=True)
@case("deform_conv2d, groups", out=(5, 4), groups=2, stride=(1, 2), padding=(1, 0), dilation=(2, 1), masked=True)
@case("deform_conv2d, whole offsets", out=(9, 11), parts=2, groups=2, padding=2, whole=True)
def _(
    paddle: Any,
    random: Any,
    out: tuple[int, int],
    parts: int = 1,
    groups: int = 1,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    masked: bool = False,
    whole: bool = False,
) -> Any:
    x, weight = wanting(paddle, normal(random, 2, 4, 7, 8)), wanting(paddle, normal(random, 6, 4 // groups, 3, 2))
    bias, shifts = wanting(paddle, normal(random, 6)), normal(random, 2, 2 * parts * 6, *out) * 1.5
    offset = wanting(paddle, np.round(shifts) if whole else shifts)
    inputs = [x, offset, weight, bias]
    mask = None
    if masked:
        mask = wanting(paddle, random.uniform(0, 1, (2, parts * 6, *out)).astype("float32"))
        inputs.append(mask)
    result = paddle.vision.ops.deform_conv2d(x, offset, weight, bias, stride, padding, dilation, parts, groups, mask)
    return result, inputs


# ---- YOLO ----------------------------------------------------------------------------------------------------------------


@case("yolo_box")
@case("yolo_box, not clipped", clip=False, scale=1.2)
@case("yolo_box, iou aware", aware=True)
def _(paddle: Any, random: Any, clip: bool = True, scale: float = 1.0, aware: bool = False) -> Any:
    x = wanting(paddle, normal(random, 2, 2 * (7 + aware), 3, 4))
    sizes = paddle.to_tensor(np.array([[64, 80], [100, 50]], "int32"))
    return paddle.vision.ops.yolo_box(x, sizes, [10, 13, 16, 30], 2, 0.4, 16, clip, None, scale, aware, 0.4), []


@case("yolo_loss")
@case("yolo_loss, scores", scored=True, ignore=0.3)
@case("yolo_loss, hard labels", smooth=False)
@case("yolo_loss, scale", scored=True, scale=1.3, ignore=0.3)
def _(
    paddle: Any, random: Any, scored: bool = False, smooth: bool = True, scale: float = 1.0, ignore: float = 0.7
) -> Any:
    x, truth = wanting(paddle, normal(random, 2, 24, 4, 4)), random.uniform(0.05, 0.95, (2, 5, 4)).astype("float32")
    cells = np.stack([random.permutation(16)[:5] for _ in range(2)])  # never two boxes in one cell
    truth[..., :2] = (np.stack([cells % 4, cells // 4], -1) + truth[..., :2]) / 4
    truth[..., 2:] *= 0.6
    truth[0, 4] = 0  # no box
    labels = paddle.to_tensor(random.integers(0, 3, (2, 5)).astype("int32"))
    scores = paddle.to_tensor(random.uniform(0.3, 1, (2, 5)).astype("float32")) if scored else None
    anchors = [10, 13, 16, 30, 33, 23, 30, 61, 62, 45]
    result = paddle.vision.ops.yolo_loss(
        x, paddle.to_tensor(truth), labels, anchors, [1, 2, 4], 3, ignore, 32, scores, smooth, None, scale
    )
    return result, [x]


# ---- boxes and proposals -------------------------------------------------------------------------------------------------


@case("box_coder, encode", code="encode")
@case("box_coder, encode pixels", code="encode", normalized=False, listed=True)
@case("box_coder, decode", code="decode")
@case("box_coder, decode axis 1", code="decode", axis=1, normalized=False)
@case("box_coder, decode list", code="decode", listed=True)
def _(paddle: Any, random: Any, code: str, normalized: bool = True, listed: bool = False, axis: int = 0) -> Any:
    prior = paddle.to_tensor(boxes(random, 4, 10))
    variance = [0.1, 0.1, 0.2, 0.2] if listed else paddle.to_tensor(random.uniform(0.1, 0.3, (4, 4)).astype("float32"))
    shape = (4, 3, 4) if axis else (3, 4, 4)
    target = paddle.to_tensor(boxes(random, 3, 10) if code == "encode" else normal(random, *shape))
    return paddle.vision.ops.box_coder(prior, variance, target, f"{code}_center_size", normalized, axis), []


@case("prior_box", arguments=([4.0, 8.0],))
@case("prior_box, all", arguments=([4.0, 8.0], [9.0, 15.0], [1.0, 2.0, 0.5], [0.1, 0.2, 0.3, 0.4], True, True))
@case(
    "prior_box, order", arguments=([4.0], [9.0], [2.0, 3.0], [0.1, 0.1, 0.2, 0.2], True, False, [5.0, 6.0], 0.3, True)
)
def _(paddle: Any, random: Any, arguments: tuple[Any, ...]) -> Any:
    feature, image = paddle.zeros([1, 2, 3, 4]), paddle.zeros([1, 3, 20, 30])
    return paddle.vision.ops.prior_box(feature, image, *arguments), []


@case("nms")
@case("nms, scores", scored=True)
@case("nms, categories", scored=True, categories=[0, 1, 2])
@case("nms, top_k", scored=True, categories=[0, 1, 2], top_k=4)
@case("nms, some categories", scored=True, categories=[2, 0])
@case("nms, top_k without categories", scored=True, top_k=1)
def _(paddle: Any, random: Any, scored: bool = False, categories: Any = None, top_k: int | None = None) -> Any:
    given = paddle.to_tensor(boxes(random, 12, 10))
    scores = paddle.to_tensor(random.uniform(0, 1, 12).astype("float32")) if scored else None
    labels = None if categories is None else paddle.to_tensor(random.integers(0, 3, 12))
    return paddle.vision.ops.nms(given, 0.2, scores, labels, categories, top_k), []


@case("matrix_nms")
@case("matrix_nms, gaussian", use_gaussian=True, gaussian_sigma=0.5, background_label=1, return_index=True)
@case("matrix_nms, pixels", background_label=-1, normalized=False)
@case("matrix_nms, no limits", top=-1, return_index=True, return_rois_num=False)
@case("matrix_nms, nothing", threshold=2.0, return_index=True)
def _(paddle: Any, random: Any, top: int = 6, threshold: float = 0.2, **options: Any) -> Any:
    given = paddle.to_tensor(np.stack([boxes(random, 9, 10, 3, 6) for _ in range(2)]))
    scores = paddle.to_tensor(random.uniform(0, 1, (2, 3, 9)).astype("float32"))
    return paddle.vision.ops.matrix_nms(given, scores, threshold, 0.1, top, top, **options), []


@case("distribute_fpn_proposals")
@case("distribute_fpn_proposals, pixels", pixels=True)
@case("distribute_fpn_proposals, none", count=0)
def _(paddle: Any, random: Any, pixels: bool = False, count: int = 12) -> Any:
    rois, numbers = boxes(random, 12, 300, 4, 400)[:count], np.array([min(5, count), max(count - 5, 0)], "int32")
    return paddle.vision.ops.distribute_fpn_proposals(
        paddle.to_tensor(rois), 2, 5, 4, 224, pixels, paddle.to_tensor(numbers)
    ), []


@case("generate_proposals", limits=(50, 10, 0.5, 3.0))
@case("generate_proposals, pixels", limits=(50, 10, 0.5, 3.0, 1.0, True))
@case("generate_proposals, adaptive", limits=(6000, 1000, 0.7, 0.1, 0.9))
@case("generate_proposals, no limits", limits=(0, 0))
@case("generate_proposals, nothing", limits=(20, 5, 0.5, 1000.0))
def _(paddle: Any, random: Any, limits: tuple[Any, ...]) -> Any:
    arrays = [
        random.uniform(0, 1, (2, 3, 4, 5)), random.standard_normal((2, 12, 4, 5)) * 0.3, [[40, 50], [30, 45]],
        boxes(random, 60, 40, 4, 20).reshape(4, 5, 3, 4), random.uniform(0.5, 1, (4, 5, 3, 4)),
    ]  # fmt: skip
    tensors = [paddle.to_tensor(np.asarray(a, "float32")) for a in arrays]
    return paddle.vision.ops.generate_proposals(*tensors, *limits, return_rois_num=True), []


# ---- what is kept --------------------------------------------------------------------------------------------------------


def flattened(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in flattened(item)]
    return [] if value is None else [value]


def figures(array: np.ndarray) -> list[Any]:
    """Dtype, shape, and two sums that tell values and their places apart."""
    wide = array.astype("float64").reshape(-1)
    return [array.dtype.name, list(array.shape), float(wide.sum()), float(wide @ np.sin(np.arange(wide.size) + 1.0))]


def measured(paddle: Any, name: str) -> list[list[Any]]:
    """The figures of all results of a case, then of the gradients of a fixed combination of them."""
    result, inputs = CASES[name](paddle)
    tensors = flattened(result)
    found = [figures(np.asarray(t.numpy())) for t in tensors]
    if inputs:
        total = sum(
            (t * paddle.to_tensor(np.cos(np.arange(t.size)).reshape(t.shape).astype("float32"))).sum() for t in tensors
        )
        total.backward()
        found += [figures(np.asarray(t.grad.numpy())) for t in inputs]
    return found
