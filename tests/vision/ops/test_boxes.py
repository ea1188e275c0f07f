"""Suppression, box codes, prior boxes, proposals, YOLO: against plain loops, and bad input."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle

ops = paddle.vision.ops


def overlap(a, b):
    low, high = np.maximum(a[:2], b[:2]), np.minimum(a[2:], b[2:])
    common = np.prod(np.maximum(high - low, 0))
    return common / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - common)


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.9])
def test_nms_keeps_what_no_better_box_covers(threshold):
    random = np.random.default_rng(6)
    low = random.uniform(0, 6, (40, 2))
    boxes, scores = (
        np.concatenate([low, low + random.uniform(1, 4, (40, 2))], 1),
        random.permutation(40).astype("float64"),
    )
    kept = []
    for i in np.argsort(-scores):
        if all(overlap(boxes[i], boxes[j]) <= threshold for j in kept):
            kept.append(int(i))
    found = ops.nms(paddle.to_tensor(boxes), threshold, paddle.to_tensor(scores))
    assert found.tolist() == kept
    assert found.dtype == paddle.int64


def test_nms_edges():
    assert ops.nms(paddle.zeros([0, 4])).tolist() == []
    assert ops.nms(paddle.zeros([3, 4]), 0.5).tolist() == [0, 1, 2]  # boxes without area cover nothing
    at_threshold = paddle.to_tensor([[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 2.0, 1.0]])
    assert ops.nms(at_threshold, 0.5).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda b, s: ops.nms(b, 0.5, s[:2]), ValueError, "each of the 3 box"),
        (lambda b, s: ops.nms(b, 0.5, s, s), ValueError, "categories"),
        (lambda b, s: ops.nms(b, 0.5, s, s, [0], 4), ValueError, "top_k"),
        (lambda b, s: ops.nms(b[:, :3], 0.5), ValueError, r"\[number of boxes, 4\]"),
        (lambda b, s: ops.nms(b.astype("int64")), TypeError, "floating"),
        (lambda b, s: ops.nms([[0.0, 0.0, 1.0, 1.0]]), TypeError, "Tensor"),
        (lambda b, s: ops.matrix_nms(b, s, 0.1, 0.1, 5, 5), ValueError, "3 dimension"),
        (lambda b, s: ops.box_coder(b, b, b, "code"), ValueError, "code_type"),
        (lambda b, s: ops.box_coder(b, None, b), TypeError, "prior_box_var"),
        (lambda b, s: ops.box_coder(b, [1.0], b), ValueError, "4 numbers"),
        (lambda b, s: ops.box_coder(b, b, b, "decode_center_size"), ValueError, "3 dimension"),
        (lambda b, s: ops.distribute_fpn_proposals(b, 5, 2, 4, 224), ValueError, "max_level"),
        (
            lambda b, s: ops.distribute_fpn_proposals(b, 2, 5, 4, 224, rois_num=paddle.to_tensor([1])),
            ValueError,
            "add up",
        ),
    ],
)
def test_bad_boxes_raise(call, error, match):
    with pytest.raises(error, match=match):
        call(paddle.zeros([3, 4]), paddle.zeros([3]))


def test_matrix_nms_lowers_scores_by_overlap():
    boxes = np.array([[[0, 0, 2, 2], [0, 0, 2, 1], [5, 5, 6, 6]]], "float32")
    rows, count, index = ops.matrix_nms(
        paddle.to_tensor(boxes), paddle.to_tensor([[[0.9, 0.8, 0.7]]]), 0.1, 0.0, -1, -1, background_label=-1
    )
    assert count.tolist() == [3]
    assert index is None
    np.testing.assert_allclose(rows.numpy()[:, 1], [0.9, 0.7, 0.8 * 0.5], rtol=1e-6)
    np.testing.assert_array_equal(rows.numpy()[1, 2:], boxes[0, 2])


def test_matrix_nms_gives_three_values_whatever_is_asked_for():
    given = paddle.to_tensor([[[0.0, 0.0, 2.0, 2.0]]]), paddle.to_tensor([[[0.9]]]), 0.1, 0.0, -1, -1
    rows, count, index = ops.matrix_nms(*given, background_label=-1, return_index=True, return_rois_num=False)
    assert (rows.shape, count, index.tolist()) == ([1, 6], None, [[0]])


def test_proposals_take_anchors_as_rows():
    random = np.random.default_rng(3)
    scores, deltas = random.uniform(0.1, 1, (2, 3, 2, 2)), random.normal(0, 0.1, (2, 12, 2, 2))
    corner = random.uniform(0, 20, (2, 2, 3, 2))
    anchors = np.concatenate([corner, corner + random.uniform(2, 9, corner.shape)], -1)
    given = [paddle.to_tensor(a.astype("float32")) for a in (scores, deltas, np.full((2, 2), 30.0))]
    boxes, spread = paddle.to_tensor(anchors.astype("float32")), paddle.ones([2, 2, 3, 4])
    expected = ops.generate_proposals(*given, boxes, spread, return_rois_num=True)
    found = ops.generate_proposals(*given, boxes.reshape([12, 4]), spread.reshape([12, 4]), return_rois_num=True)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    with pytest.raises(ValueError, match=r"anchors must be \[2, 2, 3, 4\] or \[12, 4\]"):
        ops.generate_proposals(*given, boxes.reshape([6, 8]), spread)


def test_box_codes_come_back():
    random = np.random.default_rng(8)
    low = random.uniform(0, 5, (6, 2))
    prior = np.concatenate([low, low + random.uniform(1, 3, (6, 2))], 1).astype("float32")
    target = prior[:3] + 0.3
    tensors = paddle.to_tensor(prior), [0.1, 0.1, 0.2, 0.2]
    codes = ops.box_coder(*tensors, paddle.to_tensor(target))
    again = ops.box_coder(*tensors, codes, "decode_center_size")
    np.testing.assert_allclose(again.numpy(), np.repeat(target[:, None], 6, 1), rtol=1e-4)
    assert codes.stop_gradient


def test_prior_boxes_lie_around_the_cells():
    boxes, variances = ops.prior_box(
        paddle.zeros([1, 1, 2, 2]), paddle.zeros([1, 3, 8, 16]), [4.0], aspect_ratios=[4.0]
    )
    assert boxes.shape == variances.shape == [2, 2, 2, 4]
    np.testing.assert_allclose(boxes.numpy()[1, 0], [[2 / 16, 4 / 8, 6 / 16, 1], [0, 5 / 8, 8 / 16, 7 / 8]])
    np.testing.assert_allclose(variances.numpy()[0, 1, 1], [0.1, 0.1, 0.2, 0.2])


@pytest.mark.parametrize(
    "options",
    [
        {"min_sizes": []},
        {"min_sizes": [4.0], "max_sizes": [3.0]},
        {"min_sizes": [4.0, 5.0], "max_sizes": [9.0]},
        {"min_sizes": [4.0], "variance": [0.1]},
        {"min_sizes": [4.0], "aspect_ratios": [0.0]},
    ],
)
def test_bad_prior_boxes_raise(options):
    with pytest.raises(ValueError, match=r"\(prior_box\)"):
        ops.prior_box(paddle.zeros([1, 1, 2, 2]), paddle.zeros([1, 3, 8, 8]), **options)


def test_levels_follow_the_size():
    sides = np.array([10, 111, 112, 224, 447, 448, 5000], "float32")
    rois = np.stack([np.zeros(7), np.zeros(7), sides, sides], 1).astype("float32")[::-1].copy()
    levels, restore, numbers = ops.distribute_fpn_proposals(
        paddle.to_tensor(rois), 2, 5, 4, 224, rois_num=paddle.to_tensor([3, 4])
    )
    assert [level.numpy()[:, 2].tolist() for level in levels] == [[111, 10], [112], [447, 224], [5000, 448]]
    np.testing.assert_array_equal(np.concatenate([level.numpy() for level in levels])[restore.numpy()[:, 0]], rois)
    assert [n.tolist() for n in numbers] == [[0, 2], [0, 1], [1, 1], [2, 0]]


def test_proposals_are_clipped_and_best_first():
    random = np.random.default_rng(9)
    anchors = np.tile(np.array([0, 0, 8, 8], "float32"), (3, 3, 2, 1)) + random.uniform(0, 20, (3, 3, 2, 1)).astype(
        "float32"
    )
    arrays = [
        random.uniform(0, 1, (1, 2, 3, 3)), np.zeros((1, 8, 3, 3)), np.array([[16, 20]]), anchors, np.ones((3, 3, 2, 4)),
    ]  # fmt: skip
    tensors = [paddle.to_tensor(np.asarray(a, "float32")) for a in arrays]
    rois, scores, count = ops.generate_proposals(*tensors, nms_thresh=0.5, return_rois_num=True)
    assert count.tolist() == [rois.shape[0]]
    assert (np.diff(scores.numpy()[:, 0]) <= 0).all()
    assert rois.numpy().min() >= 0
    assert rois.numpy()[:, 2].max() <= 20
    assert rois.numpy()[:, 3].max() <= 16
    boxes = rois.numpy().astype("float64")
    assert all(overlap(a, b) <= 0.5 + 1e-6 for i, a in enumerate(boxes) for b in boxes[:i])
    with pytest.raises(ValueError, match="bbox_deltas must be"):
        ops.generate_proposals(tensors[0], tensors[1][:, :4], *tensors[2:])


# ---- YOLO ------------------------------------------------------------------------------------------

YOLO = {
    "anchors": [10, 13, 16, 30],
    "anchor_mask": [0, 1],
    "class_num": 2,
    "ignore_thresh": 0.7,
    "downsample_ratio": 32,
}


def truth(label=1):
    boxes = paddle.to_tensor([[[0.4, 0.6, 0.2, 0.3], [0.0, 0.0, 0.0, 0.0]]])
    return boxes, paddle.to_tensor([[label, -1]])


def test_two_equal_boxes_count_twice():
    x = np.random.default_rng(10).standard_normal((1, 14, 2, 2)).astype("float32")
    grads = []
    for count in (1, 2):
        made = paddle.to_tensor(x, stop_gradient=False)
        boxes = paddle.to_tensor([[[0.4, 0.6, 0.2, 0.3]] * count])
        ops.yolo_loss(made, boxes, paddle.to_tensor([[1] * count]), **YOLO).sum().backward()
        grads.append(made.grad.numpy().reshape(2, 7, 2, 2))
    places = [0, 1, 2, 3, 5, 6]  # all but the confidence
    np.testing.assert_allclose(grads[1][:, places], 2 * grads[0][:, places], rtol=1e-5)
    np.testing.assert_allclose(grads[1][:, 4], grads[0][:, 4], rtol=1e-5)


def test_without_boxes_only_confidence_counts():
    x = paddle.zeros([1, 14, 2, 2])
    loss = ops.yolo_loss(x, paddle.zeros([1, 3, 4]), paddle.full([1, 3], -1, "int64"), **YOLO)
    np.testing.assert_allclose(loss.numpy(), [8 * np.log(2)], rtol=1e-6)


def test_a_label_that_is_no_class_raises():
    boxes, labels = truth(label=2)
    with pytest.raises(IndexError, match="class is out of range"):
        ops.yolo_loss(paddle.zeros([1, 14, 2, 2]), boxes, labels, **YOLO).numpy()
    boxes, labels = truth()  # that of a box without size does not matter
    assert np.isfinite(ops.yolo_loss(paddle.zeros([1, 14, 2, 2]), boxes, labels, **YOLO).numpy()).all()


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"anchors": [10, 13, 16]}, "pairs"),
        ({"anchor_mask": [0, 2]}, "anchor_mask"),
        ({"class_num": 3}, "x must be"),
        ({"class_num": 0}, "class_num"),
        ({"downsample_ratio": -1}, "downsample_ratio"),
        ({"gt_score": paddle.ones([1, 1])}, "gt_score"),
    ],
)
def test_bad_losses_raise(change, match):
    boxes, labels = truth()
    with pytest.raises(ValueError, match=match):
        ops.yolo_loss(paddle.zeros([1, 14, 2, 2]), boxes, labels, **{**YOLO, **change})


def test_yolo_box_hides_what_is_unsure():
    x = np.zeros((1, 14, 1, 1), "float32")
    x[0, 4] = 3.0  # the first anchor is sure, the second is not
    x[0, 11] = -3.0
    boxes, scores = ops.yolo_box(
        paddle.to_tensor(x), paddle.to_tensor([[64, 32]], dtype="int32"), [16, 8, 4, 4], 2, 0.5, 32
    )
    sure = 1 / (1 + np.exp(-3.0))
    np.testing.assert_allclose(boxes.numpy()[0], [[8, 24, 24, 40], [0, 0, 0, 0]], rtol=1e-6)
    np.testing.assert_allclose(scores.numpy()[0], [[0.5 * sure] * 2, [0, 0]], rtol=1e-6)
    with pytest.raises(ValueError, match="img_size"):
        ops.yolo_box(paddle.to_tensor(x), paddle.to_tensor([[64.0, 32.0]]), [16, 8, 4, 4], 2, 0.5, 32)
