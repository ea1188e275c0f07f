"""`lazy_mode`: rows of a sparse embedding that a step did not look up stay as they are, states and all."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa import nn

BATCHES = [[0, 1], [1, 2], [3, 3], [0, 2]]
RATE, BETA1, BETA2, EPSILON = 0.1, 0.9, 0.999, 1e-8


def lazily(decay: float = 0.0) -> np.ndarray:
    """Adam by its definition on the rows of each batch; the powers of beta count all steps."""
    weight, first, second = np.ones((5, 2)), np.zeros((5, 2)), np.zeros((5, 2))
    for step, ids in enumerate(BATCHES, 1):
        gradient = np.zeros((5, 2))
        np.add.at(gradient, ids, 1.0)
        for row in set(ids):
            weight[row] *= 1 - RATE * decay
            first[row] = BETA1 * first[row] + (1 - BETA1) * gradient[row]
            second[row] = BETA2 * second[row] + (1 - BETA2) * gradient[row] ** 2
            mean, square = first[row] / (1 - BETA1**step), second[row] / (1 - BETA2**step)
            weight[row] -= RATE * mean / (np.sqrt(square) + EPSILON)
    return weight


def trained(make: object, sparse: bool = True) -> nn.Embedding:
    attribute = paddle.ParamAttr(initializer=nn.initializer.Constant(1.0))
    embedding = nn.Embedding(5, 2, sparse=sparse, weight_attr=attribute)
    optimizer = make(embedding.parameters())  # type: ignore[operator]
    for ids in BATCHES:
        embedding(paddle.to_tensor(ids)).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    return embedding


def test_adam_leaves_rows_alone_that_were_not_looked_up() -> None:
    found = trained(lambda p: paddle.optimizer.Adam(RATE, parameters=p, lazy_mode=True)).weight
    np.testing.assert_allclose(found.numpy(), lazily(), rtol=1e-5)


def test_adamw_neither_moves_nor_decays_them() -> None:
    found = trained(lambda p: paddle.optimizer.AdamW(RATE, parameters=p, lazy_mode=True, weight_decay=0.1)).weight
    np.testing.assert_allclose(found.numpy(), lazily(0.1), rtol=1e-5)
    assert (found.numpy()[4] == 1).all()


def test_a_group_may_be_lazy_by_itself() -> None:
    found = trained(lambda p: paddle.optimizer.Adam(RATE, parameters=[{"params": p, "lazy_mode": True}])).weight
    np.testing.assert_allclose(found.numpy(), lazily(), rtol=1e-5)


@pytest.mark.parametrize(("sparse", "lazy"), [(False, True), (True, False)])
def test_all_rows_move_unless_both_are_set(sparse: bool, lazy: bool) -> None:
    found = trained(lambda p: paddle.optimizer.Adam(RATE, parameters=p, lazy_mode=lazy), sparse).weight.numpy()
    plain = trained(lambda p: paddle.optimizer.Adam(RATE, parameters=p), False).weight.numpy()
    np.testing.assert_allclose(found, plain, rtol=1e-6)
    assert np.abs(found - lazily()).max() > 0.05


def test_clipped_gradients_are_still_lazy() -> None:
    clip = nn.ClipGradByGlobalNorm(0.5)  # Adam's step does not depend on the scale
    found = trained(lambda p: paddle.optimizer.Adam(RATE, parameters=p, lazy_mode=True, grad_clip=clip)).weight
    np.testing.assert_allclose(found.numpy()[[1, 4]], lazily()[[1, 4]], rtol=0.05)
    assert (found.numpy()[4] == 1).all()


def test_half_types_keep_their_master_rows() -> None:
    embedding = nn.Embedding(5, 2, sparse=True, weight_attr=nn.initializer.Constant(1.0)).to(dtype="bfloat16")
    optimizer = paddle.optimizer.Adam(RATE, parameters=embedding.parameters(), lazy_mode=True, multi_precision=True)
    for ids in BATCHES:
        embedding(paddle.to_tensor(ids)).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    (master,) = optimizer.state_dict()["master_weights"].values()
    np.testing.assert_allclose(master.numpy(), lazily(), rtol=1e-4)
