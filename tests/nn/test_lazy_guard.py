"""LazyGuard: parameters without numbers until they are used."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import proa as paddle
from proa import nn


def network():
    return nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 2))


def test_the_numbers_are_those_of_a_network_made_at_once():
    paddle.seed(3)
    ordinary = network()
    after = paddle.rand([2]).numpy()
    paddle.seed(3)
    with paddle.LazyGuard():
        late = network()
    np.testing.assert_array_equal(paddle.rand([2]).numpy(), after)
    assert [p.shape for p in late.parameters()] == [p.shape for p in ordinary.parameters()]
    assert not any(p._is_initialized() for p in late.parameters())
    state = paddle.get_rng_state()
    for ours, theirs in list(zip(late.parameters(), ordinary.parameters(), strict=True))[::-1]:
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())  # in whatever order they are used
        assert ours._is_initialized()
        assert type(ours) is type(theirs)
    assert paddle.get_rng_state() == state


def test_nothing_is_drawn_for_what_is_never_used():
    with paddle.LazyGuard():
        huge = nn.Linear(10**6, 10**6)  # four terabytes
    assert huge.weight.shape == [10**6, 10**6]
    assert huge.weight.dtype == paddle.float32
    assert not huge.weight._is_initialized()
    assert not huge.weight.stop_gradient
    huge.weight.stop_gradient = True
    assert not huge.weight._is_initialized()
    assert nn.Linear(1, 1).weight._is_initialized()


def test_loading_fills_without_drawing(monkeypatch):
    with paddle.LazyGuard():
        late = nn.Linear(3, 2)
    monkeypatch.setattr(nn.initializer.XavierUniform, "draw", lambda *_: pytest.fail("drawn in vain"))
    state = {"weight": np.ones((3, 2), "float32"), "bias": np.zeros(2, "float32")}
    late.set_state_dict(state)
    np.testing.assert_array_equal(late(paddle.ones([1, 3])).numpy(), [[3.0, 3.0]])


def test_initialize_training_and_copies():
    with paddle.LazyGuard():
        late, other = nn.Linear(3, 2), nn.Linear(3, 2)
    late.weight.initialize()
    late.weight.initialize()
    assert late.weight._is_initialized()
    assert not late.bias._is_initialized()
    optimizer = paddle.optimizer.SGD(0.5, parameters=late.parameters())
    before = late.weight.numpy()
    for _ in range(4):
        late(paddle.ones([1, 3])).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    np.testing.assert_allclose(late.weight.numpy(), before - 2.0, rtol=1e-5)
    twin = copy.deepcopy(other)
    np.testing.assert_array_equal(twin.weight.numpy(), other.weight.numpy())


def test_guards_nest_and_end():
    with paddle.LazyGuard():
        with paddle.LazyGuard():
            pass
        assert not nn.Linear(1, 1).weight._is_initialized()
    assert nn.Linear(1, 1).weight._is_initialized()
    with pytest.raises(RuntimeError, match="inside"), paddle.LazyGuard():
        raise RuntimeError("inside")
    assert nn.Linear(1, 1).weight._is_initialized()


def test_an_own_initializer_is_called():
    def ones(parameter, block=None):
        parameter.set_value(np.ones(parameter.shape, "float32"))

    with paddle.LazyGuard():
        layer = nn.Linear(2, 2, weight_attr=paddle.ParamAttr(initializer=ones))  # type: ignore[arg-type]
    np.testing.assert_array_equal(layer.weight.numpy(), np.ones((2, 2)))
