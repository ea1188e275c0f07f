"""`paddle.incubate.asp`: masks as Paddle 3.3.1 made them, or by definition."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn
from proa.incubate import asp
from proa.incubate.asp import utils

GREEDY = ["01100011", "11001010", "00110101", "10011100", "10011001", "01100011", "11001100", "00110110"]


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def test_two_of_four_weights_stay_zero() -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
    optimizer = asp.decorate(paddle.optimizer.SGD(0.1, parameters=model.parameters()))  # Paddle wants it before pruning
    masks = asp.prune_model(model)
    assert list(masks) == [model[0].weight.name, model[2].weight.name]
    weight = model[0].weight.numpy()
    assert asp.calculate_density(weight) == 0.5
    assert (np.count_nonzero(weight.T.reshape(8, 2, 4), axis=-1) == 2).all()
    for _ in range(3):
        (model(paddle.ones([2, 8])) ** 2).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
    after = model[0].weight.numpy()
    assert not np.array_equal(after, weight)
    assert ((after == 0) == (weight == 0)).all()
    asp.set_excluded_layers([layer.weight.name for layer in (model[0], model[2])])
    assert asp.prune_model(model) == {}
    asp.reset_excluded_layers()


def test_convolutions_are_pruned_along_their_inputs() -> None:
    layer, narrow = nn.Conv2D(4, 8, 3), nn.Conv2D(3, 8, 3)
    before = layer.weight.numpy()
    with pytest.warns(UserWarning, match="inputs are fewer than 4"):
        masks = asp.prune_model(nn.Sequential(layer, narrow))
    assert list(masks) == [layer.weight.name]
    after = layer.weight.numpy()
    assert (np.count_nonzero(after, axis=1) == 2).all()
    kept = np.sort(np.abs(before), axis=1)[:, 2:]
    np.testing.assert_array_equal(np.sort(np.abs(after), axis=1)[:, 2:], kept)


def test_masks_along_rows_and_columns() -> None:
    x = numbers(8, 12)
    greedy, best = utils.get_mask_2d_greedy(x, 2, 4), utils.get_mask_2d_best(x, 2, 4)
    assert utils.check_mask_2d(greedy, 2, 4)
    assert utils.check_mask_2d(best, 2, 4)
    assert utils.check_mask_1d(best, 2, 4)
    assert utils.check_mask_1d(best.T, 2, 4)
    assert not utils.check_mask_2d(np.ones((4, 4)), 2, 4)
    block = np.abs(x[:4, :4]).astype(np.float64)
    masks = (
        np.array([[i in row for i in range(4)] for row in rows])
        for rows in itertools.product(itertools.combinations(range(4), 2), repeat=4)
    )
    largest = max(float((block * mask).sum()) for mask in masks if (mask.sum(axis=0) == 2).all())
    assert float((block * best[:4, :4]).sum()) == pytest.approx(largest, rel=1e-6)
    assert (np.abs(x) * best).sum() >= (np.abs(x) * greedy).sum()


def test_the_greedy_mask_of_paddle() -> None:
    # default_rng(0).normal(size=(8, 8)).astype(float32) under Paddle 3.3.1, rows as bits.
    found = utils.create_mask(numbers(8, 8), utils.MaskAlgo.MASK_2D_GREEDY)
    assert ["".join(str(int(bit)) for bit in row) for row in found] == GREEDY


@pytest.mark.parametrize("shape", [(8,), (7, 10), (2, 8, 8), (6, 5, 2, 2), (4, 8, 3, 3)])
@pytest.mark.parametrize("algorithm", list(utils.MaskAlgo))
def test_every_shape(shape: tuple[int, ...], algorithm: Any) -> None:
    mask = utils.create_mask(numbers(*shape), algorithm)
    assert mask.shape == shape
    assert utils.check_sparsity(mask, utils.CheckMethod.get_checking_method(algorithm))
    assert set(np.unique(mask)) <= {0.0, 1.0}


def test_layers_of_ones_own() -> None:
    class Mine(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.weight = self.create_parameter([4, 4])

    def first_column(weight: Any, m: int, n: int, func_name: Any, name: str) -> Any:
        mask = np.zeros_like(weight)
        mask[:, 0] = 1
        return weight * mask, mask

    layer = Mine()
    assert asp.prune_model(layer) == {}
    asp.add_supported_layer(Mine, first_column)
    asp.prune_model(layer)
    assert np.count_nonzero(layer.weight.numpy()) == 4


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="n must be from 1 to m"):
        asp.prune_model(nn.Linear(8, 8), n=5)
    with pytest.raises(AssertionError, match="mask_algo must be one of"):
        asp.prune_model(nn.Linear(8, 8), mask_algo="other")
    with pytest.raises(TypeError, match="must be a MaskAlgo"):
        utils.create_mask(numbers(4, 4), "get_mask_1d")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="from 1 to 4 axes"):
        utils.create_mask(numbers(2, 2, 2, 2, 2))
