"""Arguments that Paddle refuses in its Python code are refused here, by an exception of the same class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.nn import functional as F

ROWS = [[0.5, 0.2, 0.1], [0.3, 0.9, 0.4]]


def rows(dtype: str = "float32") -> Any:
    return paddle.to_tensor(ROWS, dtype="float32").astype(dtype)


def index(dtype: str = "int16") -> Any:
    return paddle.to_tensor([0, 1]).astype(dtype)


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: paddle.hypot(1.5, rows()), TypeError, "x must be a Tensor"),
    (lambda: paddle.hypot(rows(), np.ones(3)), TypeError, "y must be a Tensor"),
    (lambda: paddle.gammainc(1.5, rows()), TypeError, "x must be a Tensor"),
    (lambda: paddle.gammaincc(rows(), 1.5), TypeError, "y must be a Tensor"),
    (lambda: paddle.max(rows(), keepdim="yes"), TypeError, "keepdim"),
    (lambda: paddle.argmax(rows(), keepdim=3), TypeError, "keepdim"),
    (lambda: paddle.linalg.norm(rows(), keepdim=1), TypeError, "keepdim"),
    (lambda: paddle.bincount(index()), TypeError, "int32 or int64"),
    (lambda: paddle.take(rows(), index()), TypeError, "int32 or int64"),
    (lambda: paddle.put_along_axis(rows(), index("uint8").unsqueeze(0), 9.0, 1), TypeError, "int32 or int64"),
    (lambda: paddle.gather(rows(), index()), ValueError, "int32 or int64"),
    (lambda: paddle.gather_nd(rows(), index("uint8")), ValueError, "int32 or int64"),
    (lambda: paddle.broadcast_tensors(None), TypeError, "list of tensors"),
    (lambda: paddle.broadcast_tensors(1.5), TypeError, "list of tensors"),
    (lambda: paddle.hstack(None), TypeError, "list of tensors"),
    (lambda: paddle.bartlett_window(None), TypeError, "window_length"),
    (lambda: paddle.einsum("ij", rows(), rows()), AssertionError, "operand"),
    (lambda: F.interpolate(paddle.ones([1, 1, 2, 2]), size=[4]), ValueError, "2 entries"),
    (lambda: F.interpolate(paddle.ones([1, 1, 2, 2]), size=[-4, 4]), AssertionError, "positive"),
    (lambda: F.pad(paddle.ones([1, 2, 4]), [1, 1], data_format="NCHW"), AssertionError, "data_format"),
    (lambda: F.unfold(paddle.ones([2, 2]), 2), AssertionError, "4 dimensions"),
    (lambda: paddle.nn.Linear(2, -1), AssertionError, "negative"),
    (lambda: paddle.nn.MultiHeadAttention(3, 2), AssertionError, "divisible"),
    (lambda: paddle.nn.Sequential(2), AssertionError, "Layer"),
    (lambda: paddle.nn.Sequential(2), TypeError, "Layer"),
    (lambda: paddle.nn.InstanceNorm1D(2)(paddle.ones([1, 2, 4, 4])), ValueError, "2 or 3 dimensions"),
    (lambda: paddle.nn.InstanceNorm2D(2)(paddle.ones([2, 2])), ValueError, "4 dimensions"),
    (lambda: paddle.nn.InstanceNorm3D(2)(paddle.ones([2, 2])), ValueError, "5 dimensions"),
    (lambda: paddle.ones([2]).requires_grad_(1), TypeError, "bool"),
    (lambda: F.local_response_norm(paddle.ones([1, 5, 2, 2]), 1.5), TypeError, "size"),
    (
        lambda: F.ctc_loss(
            paddle.ones([4, 1, 3], "complex64"), index("int32").unsqueeze(0), index("int64"), index("int64")
        ),
        TypeError,
        "log_probs must be floating",
    ),
    (
        lambda: F.rnnt_loss(
            paddle.ones([1, 4, 3, 3], "int64"), index("int32").unsqueeze(0), index("int32"), index("int32")
        ),
        TypeError,
        "input must be floating",
    ),
    (lambda: F.feature_alpha_dropout(paddle.ones([3]), 0.5), ValueError, "two dimensions"),
    (lambda: F.poisson_nll_loss(rows().unsqueeze(0), rows()), ValueError, "same shape"),
    (lambda: F.triplet_margin_loss(rows(), rows(), rows().unsqueeze(0)), ValueError, "same shape"),
    (
        lambda: F.triplet_margin_with_distance_loss(rows(), rows().unsqueeze(0), rows()),
        ValueError,
        "same shape",
    ),
    (lambda: F.gaussian_nll_loss(rows("complex64"), rows(), rows()), ValueError, "float32 or float64"),
    (lambda: F.gaussian_nll_loss(rows(), rows(), rows("bool")), ValueError, "float32 or float64"),
    (lambda: F.cosine_embedding_loss(rows(), rows(), index("bool")), ValueError, "int32, int64"),
    (lambda: F.multi_margin_loss(rows(), index("int64").unsqueeze(0)), ValueError, r"label \[batch\]"),
]


@pytest.mark.parametrize(("call", "error", "match"), REFUSED)
def test_is_refused(call: Callable[[], Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        call()


def test_what_looks_alike_is_still_taken() -> None:
    assert paddle.max(rows(), keepdim=None).shape == []
    assert paddle.max(rows(), keepdim=np.bool_(True)).shape == [1, 1]
    assert paddle.quantile(rows(), 0.5, keepdim="yes").shape == [1, 1]  # as in Paddle
    np.testing.assert_allclose(
        paddle.take_along_axis(rows(), index().unsqueeze(0), 1).numpy(), [[0.5, 0.2], [0.3, 0.9]]
    )
    assert F.multi_margin_loss(rows(), index("int64").unsqueeze(1)).shape == []


def test_a_group_of_classes_must_be_one() -> None:
    # Paddle 3.3.1 raises ValueError for both.
    cosines, label = paddle.zeros([2, 3]), paddle.to_tensor([0, 1])
    wrong: Any = 1
    with pytest.raises(ValueError, match="group must be None, False or a group of processes; received group: 1"):
        paddle.nn.functional.margin_cross_entropy(cosines, label, group=wrong)
    with pytest.raises(ValueError, match="group must be None, False or a group of processes; received group: 1"):
        paddle.nn.functional.class_center_sample(label, 4, 2, group=wrong)
    alone = paddle.distributed.new_group([0])
    loss = paddle.nn.functional.margin_cross_entropy(cosines, label, group=alone)
    assert loss.item() == paddle.nn.functional.margin_cross_entropy(cosines, label, group=False).item()
