"""roi_align, roi_pool, psroi_pool and deformable convolution against plain loops, and their edges."""

from __future__ import annotations

import math

import numpy as np
import pytest

import proa as paddle

ops = paddle.vision.ops


def bilinear(plane, y, x):
    height, width = plane.shape
    if y < -1 or y > height or x < -1 or x > width:
        return 0.0
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    top, left = math.floor(y), math.floor(x)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    dy, dx = y - top, x - left
    upper = plane[top, left] * (1 - dx) + plane[top, right] * dx
    lower = plane[bottom, left] * (1 - dx) + plane[bottom, right] * dx
    return upper * (1 - dy) + lower * dy


def aligned_by_loops(x, boxes, images, size, scale, ratio):
    out = np.zeros((len(boxes), x.shape[1], size, size))
    for r, (box, n) in enumerate(zip(boxes, images, strict=True)):
        x1, y1, x2, y2 = box * scale - 0.5
        height, width = (y2 - y1) / size, (x2 - x1) / size
        down, across = (ratio, ratio) if ratio > 0 else (math.ceil(height), math.ceil(width))
        for c, i, j in np.ndindex(out.shape[1:]):
            points = [
                bilinear(
                    x[n, c], y1 + i * height + (p + 0.5) * height / down, x1 + j * width + (q + 0.5) * width / across
                )
                for p in range(down)
                for q in range(across)
            ]
            out[r, c, i, j] = sum(points) / max(len(points), 1)
    return out


@pytest.mark.parametrize("ratio", [-1, 1, 3])
def test_roi_align_is_the_mean_of_samples(ratio):
    random = np.random.default_rng(1)
    x = random.standard_normal((2, 2, 6, 7)).astype("float32")
    boxes = np.array([[0, 0, 6, 5], [-3, 2, 4, 9.5], [1.5, 1, 12, 4]], "float32")
    found = ops.roi_align(paddle.to_tensor(x), paddle.to_tensor(boxes), paddle.to_tensor([1, 2]), 2, 0.8, ratio)
    np.testing.assert_allclose(found.numpy(), aligned_by_loops(x, boxes, [0, 1, 1], 2, 0.8, ratio), atol=1e-5)


def test_roi_align_gradient_is_its_own_transpose():
    # The result is linear in x, so the gradient times x is the result times its weights; also below one element.
    x = paddle.to_tensor(np.random.default_rng(2).standard_normal((1, 1, 9, 11)).astype("float32"), stop_gradient=False)
    boxes = paddle.to_tensor([[1.0, 1.0, 1.4, 3.0], [8.0, 8.0, 2.0, 2.0]])
    out = ops.roi_align(x, boxes, paddle.to_tensor([2]), 2, 1.0, 2)
    (out * out.detach()).sum().backward()
    np.testing.assert_allclose(float((x.grad * x).sum()), float((out * out).sum()), rtol=1e-5)


def test_boxes_the_wrong_way_round_give_zeros():
    x = paddle.ones([1, 1, 6, 6])
    assert ops.roi_align(x, paddle.to_tensor([[5.0, 5.0, 1.0, 1.0]]), paddle.to_tensor([1]), 2).numpy().sum() == 0


def test_roi_pool_is_the_maximum():
    x = np.random.default_rng(3).standard_normal((1, 2, 8, 8)).astype("float32")
    found = ops.roi_pool(
        paddle.to_tensor(x), paddle.to_tensor([[1.0, 2.0, 4.0, 5.0]]), paddle.to_tensor([1]), 2
    ).numpy()
    expected = [
        [x[0, c, 2 + 2 * i : 4 + 2 * i, 1 + 2 * j : 3 + 2 * j].max() for i in (0, 1) for j in (0, 1)] for c in (0, 1)
    ]
    np.testing.assert_array_equal(found.reshape(2, 4), expected)


def test_psroi_pool_reads_a_channel_for_each_bin():
    x = np.arange(8, dtype="float32").reshape(1, 8, 1, 1) * np.ones((1, 8, 6, 6), "float32")
    found = ops.psroi_pool(paddle.to_tensor(x), paddle.to_tensor([[0.0, 0.0, 5.0, 5.0]]), paddle.to_tensor([1]), 2)
    np.testing.assert_allclose(found.numpy().reshape(-1), np.arange(8), rtol=1e-6)


def test_no_boxes_give_no_regions():
    x, none, counts = paddle.ones([2, 4, 5, 5]), paddle.zeros([0, 4]), paddle.to_tensor([0, 0])
    for function in (ops.roi_align, ops.roi_pool, ops.psroi_pool):
        assert function(x, none, counts, 2).shape[0] == 0


def test_layers_call_the_functions():
    x, boxes, counts = paddle.rand([1, 4, 6, 6]), paddle.to_tensor([[0.0, 0.0, 4.0, 5.0]]), paddle.to_tensor([1])
    for layer, function in (
        (ops.RoIAlign(2, 0.5), ops.roi_align),
        (ops.RoIPool(2, 0.5), ops.roi_pool),
        (ops.PSRoIPool(2, 0.5), ops.psroi_pool),
    ):
        np.testing.assert_array_equal(layer(x, boxes, counts).numpy(), function(x, boxes, counts, 2, 0.5).numpy())
    assert repr(ops.RoIPool(2, 0.5)) == "RoIPool(output_size=2, spatial_scale=0.5)"


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"boxes_num": [3]}, "add up to the number of boxes, 2"),
        ({"boxes_num": [1, 1]}, "each of the 1 image"),
        ({"boxes_num": [-1]}, "add up"),
        ({"boxes": np.zeros((2, 5), "float32")}, r"\[number of boxes, 4\]"),
        ({"x": np.zeros((1, 4, 6), "float32")}, "4 dimension"),
        ({"output_size": 0}, "positive"),
        ({"output_size": (1, 2, 3)}, "one or two"),
        ({"boxes": np.full((2, 4), np.nan, "float32")}, "finite"),
    ],
)
@pytest.mark.parametrize("function", ["roi_align", "roi_pool", "psroi_pool"])
def test_bad_regions_raise(function, change, match):
    arguments = {"x": np.zeros((1, 4, 6, 6), "float32"), "boxes": np.zeros((2, 4), "float32"), "boxes_num": [2]}
    arguments = {"output_size": 2, **arguments, **change}
    tensors = {k: v if k == "output_size" else paddle.to_tensor(v) for k, v in arguments.items()}
    with pytest.raises(ValueError, match=match):
        getattr(ops, function)(**tensors)


# ---- deformable convolution ------------------------------------------------------------------------


def test_without_offsets_it_is_a_convolution():
    random = np.random.default_rng(4)
    x, weight = (paddle.to_tensor(random.standard_normal(s).astype("float32")) for s in ((2, 4, 7, 6), (6, 2, 3, 3)))
    found = ops.deform_conv2d(x, paddle.zeros([2, 36, 4, 3]), weight, None, 2, 1, 1, 2, 2)
    expected = paddle.nn.functional.conv2d(x, weight, None, 2, 1, 1, 2)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-5)


def test_gradients_are_those_of_differences():
    random = np.random.default_rng(5)
    shapes = {"x": (1, 2, 4, 4), "offset": (1, 8, 3, 3), "weight": (2, 2, 2, 2), "mask": (1, 4, 3, 3)}
    arrays = {name: random.standard_normal(shape) * 0.7 for name, shape in shapes.items()}
    arrays["offset"] += 0.013  # away from whole numbers, where the slope jumps

    def total(values):
        made = {name: paddle.to_tensor(value, stop_gradient=False) for name, value in values.items()}
        out = ops.deform_conv2d(made["x"], made["offset"], made["weight"], mask=made["mask"])
        return (out * out).sum(), made

    with paddle.jit.eager_mode("immediate"):  # many small calls: nothing to compile
        loss, made = total(arrays)
        loss.backward()
        for name, array in arrays.items():
            for at in [tuple(random.integers(0, n) for n in array.shape) for _ in range(4)]:
                moved = {sign: {**arrays, name: array.copy()} for sign in (1, -1)}
                for sign, values in moved.items():
                    values[name][at] += sign * 1e-6
                difference = (float(total(moved[1])[0]) - float(total(moved[-1])[0])) / 2e-6
                np.testing.assert_allclose(made[name].grad.numpy()[at], difference, rtol=1e-4, atol=1e-6)


def test_the_layer_holds_the_kernel():
    layer = ops.DeformConv2D(4, 6, [3, 2], padding=1, groups=2)
    assert [list(p.shape) for p in layer.parameters()] == [[6, 2, 3, 2], [6]]
    assert layer(paddle.rand([1, 4, 5, 5]), paddle.zeros([1, 12, 5, 6])).shape == [1, 6, 5, 6]
    assert ops.DeformConv2D(4, 6, 3, bias_attr=False).bias is None


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"offset": (1, 16, 4, 4)}, r"offset must be \[1, 18, 4, 4\]"),
        ({"weight": (3, 3, 3, 3)}, "channels"),
        ({"mask": (1, 8, 4, 4)}, r"mask must be \[1, 9, 4, 4\]"),
        ({"weight": (3, 2, 9, 9)}, "larger than the padded input"),
        ({"x": (2, 6, 6)}, "4 dimension"),
    ],
)
def test_bad_convolutions_raise(change, match):
    shapes = {"x": (1, 2, 6, 6), "offset": (1, 18, 4, 4), "weight": (3, 2, 3, 3), **change}
    with pytest.raises(ValueError, match=match):
        ops.deform_conv2d(**{name: paddle.zeros(list(shape)) for name, shape in shapes.items()})
    with pytest.raises(ValueError, match="padding"):
        ops.deform_conv2d(
            paddle.zeros([1, 2, 6, 6]), None or paddle.zeros([1, 18, 4, 4]), paddle.zeros([3, 2, 3, 3]), padding=[1] * 4
        )
