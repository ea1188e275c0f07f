"""PyTorch's names of layers and of their parameters."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa import nn
from proa.nn.base.torch_names import CLASSES


def test_classes_are_the_same() -> None:
    assert all(getattr(nn, other) is getattr(nn, own) for other, own in CLASSES.items())


def test_parameters() -> None:
    x = paddle.to_tensor(np.arange(8, dtype=np.float32).reshape(2, 4))
    for named in (nn.LayerNorm(4, eps=0.5), nn.LayerNorm(4, epsilon=0.5)):
        expected = (x.numpy() - x.numpy().mean(1, keepdims=True)) / np.sqrt(x.numpy().var(1, keepdims=True) + 0.5)
        np.testing.assert_allclose(named(x).numpy(), expected, rtol=1e-5)
    assert nn.Softshrink(lambd=3.0)(x).numpy()[0].tolist() == [0, 0, 0, 0]
    assert len(nn.LayerList(modules=[nn.Linear(2, 2)])) == 1
    values, places = nn.AdaptiveMaxPool1D(1, return_indices=True)(x.unsqueeze(0))
    assert (values.numpy().ravel().tolist(), places.numpy().ravel().tolist()) == ([3, 7], [3, 3])


def test_a_parameter_named_twice() -> None:
    with pytest.raises(TypeError, match="multiple values"):
        nn.LayerNorm(4, 1e-5, eps=1e-3)
