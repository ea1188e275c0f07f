"""Losses as layers: called by keyword, with labels of other types, with settings that Paddle takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn
from proa.nn import functional as F

ROWS, ONES = [[0.5, 0.2, 0.1], [0.3, 0.9, 0.4]], [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
CALLS: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "MarginRankingLoss": (nn.MarginRankingLoss, "margin_ranking_loss", {"input": ROWS, "other": ONES, "label": ONES}),
    "HingeEmbeddingLoss": (nn.HingeEmbeddingLoss, "hinge_embedding_loss", {"input": ROWS, "label": ONES}),
    "CosineEmbeddingLoss": (
        nn.CosineEmbeddingLoss, "cosine_embedding_loss", {"input1": ROWS, "input2": ONES, "label": [1, -1]},
    ),
    "SoftMarginLoss": (nn.SoftMarginLoss, "soft_margin_loss", {"input": ROWS, "label": ONES}),
    "MultiLabelSoftMarginLoss": (
        nn.MultiLabelSoftMarginLoss, "multi_label_soft_margin_loss", {"input": ROWS, "label": ONES},
    ),
    "MultiMarginLoss": (nn.MultiMarginLoss, "multi_margin_loss", {"input": ROWS, "label": [0, 1]}),
    "TripletMarginLoss": (
        nn.TripletMarginLoss, "triplet_margin_loss", {"input": ROWS, "positive": ONES, "negative": ONES},
    ),
    "PoissonNLLLoss": (nn.PoissonNLLLoss, "poisson_nll_loss", {"input": ROWS, "label": ONES}),
    "GaussianNLLLoss": (
        nn.GaussianNLLLoss, "gaussian_nll_loss", {"input": ROWS, "label": ONES, "variance": ONES},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_tensors_by_keyword(name: str) -> None:
    layer, function, given = CALLS[name]
    tensors = {key: paddle.to_tensor(value) for key, value in given.items()}
    expected = getattr(F, function)(*tensors.values())
    assert layer()(**tensors).item() == expected.item()
    assert layer().forward(**tensors).item() == expected.item()


def test_the_type_of_a_loss_is_the_wider_of_both() -> None:
    x, y = paddle.to_tensor([[0.5, 1.5]]), paddle.to_tensor([[1.0, 2.0]], dtype="float64")
    for loss in (F.poisson_nll_loss, F.multi_label_soft_margin_loss):
        assert loss(x, y).dtype == loss(y, x).dtype == paddle.float64
        assert loss(x, y.astype("int64")).dtype == paddle.float32
    np.testing.assert_allclose(F.poisson_nll_loss(x, y).item(), np.mean(np.exp([0.5, 1.5]) - [0.5, 3.0]), rtol=1e-6)


LOGITS, SOFT = np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 0.0]]), np.array([[0.2, 0.8, 0.0], [0.0, 0.5, 0.5]])
LOSSES = -(SOFT * (LOGITS - np.log(np.exp(LOGITS).sum(1, keepdims=True)))).sum(1)


def test_soft_labels_with_ignore_index_zero_are_counted_one_by_one() -> None:
    x, y = paddle.to_tensor(LOGITS), paddle.to_tensor(SOFT)
    given = {"soft_label": True, "ignore_index": 0}
    np.testing.assert_allclose(F.cross_entropy(x, y, **given).item(), LOSSES.sum() / 4)  # four labels are not zero
    np.testing.assert_allclose(F.cross_entropy(x, y, reduction="sum", **given).item(), LOSSES.sum())
    np.testing.assert_allclose(nn.CrossEntropyLoss(**given)(x, y).item(), LOSSES.sum() / 4)
    weight = np.array([1.0, 2.0, 3.0])
    by_row = SOFT @ weight
    expected = (LOSSES * by_row).sum() / (by_row * (SOFT != 0).sum(1)).sum()
    np.testing.assert_allclose(F.cross_entropy(x, y, paddle.to_tensor(weight), **given).item(), expected)
    nothing = F.cross_entropy(x, paddle.zeros_like(y), **given)
    assert nothing.item() == 0


def test_soft_labels_with_another_ignore_index() -> None:
    x, y = paddle.to_tensor(LOGITS), paddle.to_tensor(SOFT)
    np.testing.assert_allclose(F.cross_entropy(x, y, soft_label=True, ignore_index=-1).item(), LOSSES.mean())
    with pytest.raises(ValueError, match="ignore_index"):
        F.cross_entropy(x, y, soft_label=True, ignore_index=1)
    each = F.softmax_with_cross_entropy(x, y, soft_label=True, ignore_index=1)
    np.testing.assert_allclose(each.numpy()[:, 0], LOSSES)
