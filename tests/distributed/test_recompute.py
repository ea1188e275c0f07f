"""recompute: the same numbers and gradients with less memory, in both tiers."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa.distributed.fleet.recompute import recompute_sequential
from proa.distributed.fleet.utils import recompute
from proa.ir.tiers import kept

nn = paddle.nn


class Block(nn.Layer):
    def __init__(self, width=16, drop=0.0):
        super().__init__()
        self.first = nn.Linear(width, 4 * width)
        self.second = nn.Linear(4 * width, width)
        self.drop = nn.Dropout(drop)

    def forward(self, x, scale=1.0):
        return x + scale * self.drop(self.second(nn.functional.gelu(self.first(x))))


def train(blocks, again, steps=5, width=16):
    optimizer = paddle.optimizer.SGD(0.05, parameters=blocks.parameters())
    paddle.seed(3)
    curve = []
    for step in range(steps):
        x = paddle.to_tensor(np.random.default_rng(step).standard_normal((8, width)).astype("float32"))
        for block in blocks:
            x = recompute(block, x) if again else block(x)
        loss = (x * x).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        curve.append(loss)
    return [float(value) for value in curve]


def make(drop=0.0, width=16, depth=3):
    paddle.seed(1)
    return nn.LayerList([Block(width, drop) for _ in range(depth)])


@pytest.mark.parametrize("mode", ["auto", "immediate"])
@pytest.mark.parametrize("drop", [0.0, 0.5])
def test_training_is_the_same(mode, drop):
    with paddle.jit.eager_mode(mode):
        expected = train(make(drop), again=False)
        found = train(make(drop), again=True)
    np.testing.assert_allclose(found, expected, rtol=2e-6)
    assert expected[0] != expected[-1]


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_gradients_of_inputs_parameters_and_what_is_referred_to(use_reentrant):
    weight = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
    outer = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
    scaled = outer * 2  # no leaf

    def part(x, other=None, flag=False):
        y = paddle.tanh(x @ weight) * scaled
        return [y, (other * y).sum()] if flag else y

    def gradients(run):
        x = paddle.to_tensor([[0.1, 0.2]], stop_gradient=False)
        other = paddle.to_tensor(3.0, stop_gradient=False)
        weight.clear_gradient()
        outer.clear_gradient()
        y, s = run(x, other)
        (y.sum() + s * s).backward(retain_graph=True)
        return [t.grad.numpy() for t in (x, other, weight, outer)]

    expected = gradients(lambda x, other: part(x, other=other, flag=True))
    found = gradients(lambda x, other: recompute(part, x, other=other, flag=True, use_reentrant=use_reentrant))
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-6)


def test_inputs_without_gradient_and_paddle_grad():
    block = make()[0]
    x = paddle.ones([2, 16])
    loss = recompute(block, x).sum()
    (found,) = paddle.grad(loss, [block.first.weight])
    (expected,) = paddle.grad(block(x).sum(), [block.first.weight])
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)
    assert block.second.weight.grad is None


def test_second_order():
    x = paddle.to_tensor([0.3, 0.7], stop_gradient=False)
    y = recompute(lambda v: paddle.sin(v) * v, x)
    (first,) = paddle.grad(y.sum(), [x], create_graph=True)
    (second,) = paddle.grad(first.sum(), [x])
    value = x.numpy().astype("float64")
    np.testing.assert_allclose(first.numpy(), np.cos(value) * value + np.sin(value), rtol=1e-5)
    np.testing.assert_allclose(second.numpy(), 2 * np.cos(value) - np.sin(value) * value, rtol=1e-5)


def test_without_gradients_and_with_nothing_to_differentiate():
    block = make()[0]
    with paddle.no_grad():
        assert recompute(block, paddle.ones([1, 16])).stop_gradient
    assert recompute(lambda x: x + 1, paddle.ones([2])).tolist() == [2.0, 2.0]
    assert recompute(lambda: 5) == 5


def test_the_random_state_goes_on_as_if_nothing_was_run_twice():
    block = make(drop=0.5)[0]
    paddle.seed(5)
    recompute(block, paddle.ones([4, 16])).sum().backward()
    after = paddle.rand([3]).numpy()
    paddle.seed(5)
    block(paddle.ones([4, 16]))
    np.testing.assert_array_equal(after, paddle.rand([3]).numpy())


def test_in_place_changes():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    y = recompute(lambda v: v.scale_(3.0) * v, x)
    assert y.tolist() == [9.0, 36.0]
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [18.0, 36.0])
    h = x * 1
    z = recompute(lambda v: v * v, h)
    with paddle.no_grad():
        h.add_(paddle.ones([2]))
    with pytest.raises(RuntimeError, match="changed in place"):
        z.sum().backward()


def test_bad_use():
    with pytest.raises(TypeError, match="function"):
        recompute(3, paddle.ones([1]))
    block = make()[0]
    y = recompute(block, paddle.ones([1, 16])).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    flips = iter([1, 2])
    z = recompute(
        lambda x: paddle.concat([x] * next(flips)), paddle.ones([1, 16]).scale_(1.0) * block.first.weight[0, 0]
    )
    with pytest.raises(RuntimeError, match="other results"):
        z.sum().backward()


@pytest.mark.parametrize("segments", [1, 2, 3])
def test_sequential(segments):
    chain = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 2))
    x = paddle.rand([3, 4])
    chain(x).sum().backward()
    expected = [p.grad.numpy() for p in chain.parameters()]
    chain.clear_gradients()
    recompute_sequential({"segments": segments}, chain, x).sum().backward()
    for parameter, grad in zip(chain.parameters(), expected, strict=True):
        np.testing.assert_allclose(parameter.grad.numpy(), grad, rtol=1e-6)
    with pytest.raises(ValueError, match="segments"):
        recompute_sequential({"segments": 9}, chain, x)


def test_the_compiled_step_needs_less_memory():
    """XLA must not merge the second run with the first: then the temporary memory falls."""

    def temporary_bytes(again):
        kept.PROGRAMS.clear()
        layers = nn.LayerList([nn.Linear(16, 16) for _ in range(6)])
        optimizer = paddle.optimizer.SGD(0.01, parameters=layers.parameters())
        x = paddle.rand([1024, 16])

        def part(layer, h):
            for _ in range(4):
                h = paddle.tanh(layer(h))
            return h

        for _ in range(4):
            h = x
            for layer in layers:
                h = recompute(part, layer, h) if again else part(layer, h)
            loss = (h * h).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
        del h
        ending = max(kept.PROGRAMS, key=lambda ending: len(ending.program.instructions))
        memory = ending.compiled.executable.memory_analysis()
        return memory.temp_size_in_bytes + memory.output_size_in_bytes, ending.compiled.executable.as_text().count(
            " tanh("
        )

    (plain, once), (again, twice) = temporary_bytes(False), temporary_bytes(True)
    assert again < 0.65 * plain, (plain, again)
    assert (once, twice) == (24, 48)
