"""The short ways that cold code takes through small kernels give what the general ways give."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.ir.operation import find_operation
from proa.ir.recorder import LOCAL
from proa.kernels.cpu import direct

RANDOM = np.random.default_rng(5)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("kind", ["plain", "equal", "nan", "signed zeros", "infinite"])
def test_topk_of_one_long_row_is_that_of_a_stable_sort(kind: str, largest: bool) -> None:
    row = RANDOM.normal(size=100).astype("float32")
    if kind == "equal":
        row = np.round(row * 2) / 2
    elif kind == "nan":
        row[[3, 50]] = np.nan
    elif kind == "signed zeros":
        row[:] = np.where(np.arange(100) % 2, 0.0, -0.0)
    elif kind == "infinite":
        row[[5, 6, 7]] = np.inf, -np.inf, np.inf
    values, places = find_operation("topk").kernel(np, row, 0, 4, largest)
    # NaN counts as largest; of equal elements the first come first.
    keys = np.where(np.isnan(row), np.inf, row).astype("float64")
    order = sorted(
        range(100), key=lambda i: (not np.isnan(row[i]), -keys[i]) if largest else (np.isnan(row[i]), keys[i])
    )
    assert places.tolist() == order[:4]
    np.testing.assert_array_equal(values, row[order[:4]])


def _cross_entropy(logits: np.ndarray, label: np.ndarray, ignored: int) -> np.ndarray:
    """The losses of the rows in float64, 0 where the label is left out."""
    wide = logits.astype("float64")
    sums = np.log(np.exp(wide - wide.max(1, keepdims=True)).sum(1)) + wide.max(1)
    return np.where(label == ignored, 0.0, sums - wide[np.arange(len(label)), np.where(label == ignored, 0, label)])


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("ignored", [-100, 2])
@pytest.mark.parametrize("left_out", [False, True])
def test_cross_entropy_of_rows_and_its_gradient(reduction: str, ignored: int, left_out: bool) -> None:
    logits = (RANDOM.normal(size=(7, 5)) * 4).astype("float32")
    label = np.array([0, 4, 1, 3, 0, 1, 4])
    if left_out:
        label[[1, 5]] = ignored
    losses = _cross_entropy(logits, label, ignored)
    # Paddle counts labels that are left out, unless their number could be a class.
    count = max(int((label != ignored).sum()), 1) if ignored >= 0 else 7
    expected = {"mean": losses.sum() / count, "sum": losses.sum(), "none": losses}[reduction]
    x = paddle.to_tensor(logits, stop_gradient=False)
    loss = paddle.nn.functional.cross_entropy(x, paddle.to_tensor(label), ignore_index=ignored, reduction=reduction)
    np.testing.assert_allclose(loss.numpy().reshape(np.shape(expected)), expected, rtol=1e-5, atol=1e-6)
    loss.sum().backward()
    assert x.grad is not None
    step = 1e-4
    scale = count if reduction == "mean" else 1
    for row, column in ((0, 0), (1, 4), (3, 2), (5, 1)):
        moved = [logits.astype("float64") for _ in range(2)]
        moved[0][row, column] += step
        moved[1][row, column] -= step
        slope = (_cross_entropy(moved[0], label, ignored).sum() - _cross_entropy(moved[1], label, ignored).sum()) / (
            2 * step
        )
        np.testing.assert_allclose(x.grad.numpy()[row, column], slope / scale, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(
    "index",
    [
        np.array([2, 0, 2]), np.array([-1, 3], "int32"), np.array([[0, 1], [3, -2]]), np.array([3, 1], "uint8"),
        np.zeros(0, "int64"), np.array([True, False, True, True]), np.zeros(4, bool), np.eye(4, 3, dtype=bool),
    ],
    ids=lambda index: f"{index.dtype}{list(index.shape)}",
)  # fmt: skip
def test_one_tensor_as_an_index(index: np.ndarray) -> None:
    x = np.arange(12, dtype="float32").reshape(4, 3)
    tensor = paddle.to_tensor(x)
    np.testing.assert_array_equal(tensor[paddle.to_tensor(index)].numpy(), x[index])
    # the same where the index is not known when it is used
    pending = paddle.to_tensor(index) if index.dtype == bool else paddle.to_tensor(index) + 0
    np.testing.assert_array_equal(tensor[pending].numpy(), x[index])


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("bad", [4, -5])
def test_a_bad_index_is_reported_by_the_check(bad: int, is_known: bool) -> None:
    x = paddle.ones([4, 3])
    index = paddle.to_tensor([0, bad])
    with pytest.raises(IndexError, match=r"out of range; allowed: -4 to 3 for axis 0"):
        x[index if is_known else index + 0].numpy()


@pytest.mark.parametrize("mask", [np.ones(3, bool), np.ones((4, 2), bool)], ids=str)
def test_a_mask_that_does_not_fit_is_refused(mask: np.ndarray) -> None:
    with pytest.raises(IndexError, match="does not fit"):
        paddle.ones([4, 3])[paddle.to_tensor(mask)]


def test_what_a_mask_takes_is_not_checked_again() -> None:
    """Places that come from a mask are good: nothing is to be done behind such an instruction."""
    x = paddle.ones([4, 3])
    taken = x[paddle.to_tensor([True, False, True, False])]
    node = LOCAL.segment.node
    assert node.instruction is not None
    assert node.instruction.operation.name == "index_get"
    assert not node.instruction.flagged
    assert not node.hook
    assert taken.shape == [2, 3]


def test_rows_are_added_where_they_belong() -> None:
    x, values = RANDOM.normal(size=(5, 3)).astype("float32"), RANDOM.normal(size=(7, 3)).astype("float32")
    index = np.array([0, 4, 4, 1, 0, 4, 2])
    expected = x.astype("float64")
    np.add.at(expected, index, values)
    kernel = find_operation("index_accumulate").kernels["numpy"]
    found = kernel(np, x, values, index, None, None, None, ((0, 5),))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_cold_code_leaves_what_numpy_does_about_overflows_to_the_user() -> None:
    huge = paddle.to_tensor(np.array([3e38, 0.0], "float32"))
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        result = (huge * huge / (huge - huge)).numpy()
        assert np.geterr()["over"] == "raise"
        with pytest.raises(FloatingPointError):
            np.float32(3e38) * np.float32(3e38)
    assert np.isinf(result[0])
    assert np.isnan(result[1])


def test_a_kernel_whose_second_library_is_missing_is_left_to_numpy() -> None:
    def factory(_fallback: Any) -> Any:
        def kernel(_xp: Any, x: Any) -> Any:
            return direct.call("NoSuchKernel", x, (x,), {}, {})

        return kernel

    def absent(_symbol: str) -> None:
        raise direct.NotThere

    kernel = direct.on_host(factory, lambda _xp, x: x + 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(direct, "handler", absent)
        np.testing.assert_array_equal(kernel(np, np.zeros(3, "float32")), np.ones(3))
