"""Sums over channels, the gradients of an activated batch norm, and how recorded programs come to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.ir.transforms.fusion import joined
from proa.kernels.cpu import library
from proa.kernels.cpu.sums import native_sum
from proa.ops.basic import sum_over
from proa.ops.neural.activated_normalization import normalise_grad_through
from tests.kernels.cases.channel_cases import EPSILON, SLOPES, channel_case, references
from tests.kernels.cases.references import calls_native, draw, error_of, jitted

pytestmark = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")
THROUGH = normalise_grad_through.operation
SUM = native_sum(sum_over.operation.kernel)


@pytest.mark.parametrize("activation", sorted(SLOPES))
@pytest.mark.parametrize(
    ("shape", "channel"), [((3, 24, 9, 7), 1), ((2, 5, 6, 130), 3), ((300, 33), 1), ((2, 20, 4, 5, 6), 1)]
)
def test_gradients_through_an_activation(shape: tuple[int, ...], channel: int, activation: str) -> None:
    generator = np.random.default_rng(0)
    axes = tuple(axis for axis in range(len(shape)) if axis != channel)
    broadcast = tuple(n if axis == channel else 1 for axis, n in enumerate(shape))
    x = draw(generator, *shape) * 2 + np.float32(50)
    arrays: list[Any] = [x, draw(generator, *shape), draw(generator, shape[channel]), draw(generator, shape[channel])]
    expected = references(arrays, activation, channel)
    for wanted, reference in zip(("input", "weight", "bias"), expected, strict=True):
        attributes = (wanted, activation, EPSILON, axes, broadcast)
        assert calls_native(THROUGH.kernels["cpu"], arrays, attributes)
        for kernel in (
            THROUGH.kernels["cpu"],
            THROUGH.kernel,
        ):  # the plain composition is the reference of the native one
            found = jitted(kernel, arrays, attributes)[0]
            assert error_of(found, reference.reshape(found.shape)) < 1e-4  # x has five digits behind the point


def test_all_gradients_share_one_call() -> None:
    from proa.ir.xla import started_jax

    jax = started_jax()
    arrays, run, _ = next(
        case for case in map(channel_case, map(np.random.default_rng, range(100))) if case[0][0].size > 1 << 12
    )
    given = [a for a in arrays if a is not None]

    def every(*values: Any) -> Any:
        flat = iter(values)
        return run(jax.numpy, *[None if a is None else next(flat) for a in arrays])[:3]

    text = jax.jit(every).lower(*given).compile().as_text()
    assert text.count('ChannelMoments"') == 1
    assert text.count('ChannelGradSums"') == 1


@pytest.mark.parametrize("keepdim", [False, True])
def test_sums_of_images(keepdim: bool) -> None:
    x = draw(np.random.default_rng(1), 5, 48, 17, 13) + np.float32(3)
    found = jitted(SUM, [x], ((0, 2, 3), keepdim))[0]
    assert calls_native(SUM, [x], ((0, 2, 3), keepdim))
    assert error_of(found, x.astype(np.float64).sum((0, 2, 3), keepdims=keepdim)) < 1e-6
    for axes in ((0, 1), (2, 3), (0, 1, 2)):
        assert not calls_native(SUM, [x], (axes, keepdim))
    assert not calls_native(SUM, [x.astype(np.float64)], ((0, 2, 3), keepdim))


def gradients(activation: str, residual: bool = False) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Gradients of a batch norm with an activation: computed op by op, and by a compiled step."""
    generator = np.random.default_rng(2)
    functional = paddle.nn.functional
    x, w, b = (
        paddle.to_tensor(draw(generator, *shape), stop_gradient=False) for shape in ((4, 24, 12, 12), (24,), (24,))
    )
    outer, mean, variance = paddle.to_tensor(draw(generator, 4, 24, 12, 12)), paddle.zeros([24]), paddle.ones([24])

    def step(outer: Any) -> Any:
        z = functional.batch_norm(x, mean, variance, w, b, training=True)
        y = getattr(functional, activation)(z + x if residual else z)
        return paddle.grad((y * outer).sum(), [x, w, b])

    cold = [np.array(one.numpy()) for one in step(outer)]
    whole = paddle.jit.train_step(step)
    for _ in range(4):
        compiled = [np.array(one.numpy()) for one in whole(outer)]
    return cold, compiled


def joins(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many instructions are joined in each program that is lowered from now on."""
    counts: list[int] = []

    def counting(program: Any, kind: str) -> Any:
        made = joined(program, kind)
        counts.append(sum(instruction.operation is THROUGH for instruction in made.instructions))
        return made

    monkeypatch.setattr("proa.ir.tiers.lowering.joined", counting)
    return counts


@pytest.mark.parametrize("activation", ["relu", "hardswish", "tanh"])
def test_compiled_steps_join_activation_and_norm_and_agree_with_cold_ones(
    activation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = joins(monkeypatch)
    found = gradients(activation)
    assert max(counts) == (0 if activation == "tanh" else 3)  # input, weight and bias
    for cold, compiled in zip(*found, strict=True):
        assert error_of(compiled, cold) < 1e-5


def test_a_gradient_that_others_need_is_not_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = joins(monkeypatch)
    found = gradients("relu", residual=True)
    assert max(counts) == 0
    for cold, compiled in zip(*found, strict=True):
        assert error_of(compiled, cold) < 1e-5


def test_second_gradients_of_a_bias() -> None:
    x = paddle.to_tensor(draw(np.random.default_rng(3), 3, 4, 5), stop_gradient=False)
    bias = paddle.zeros([4])
    bias.stop_gradient = False
    outer = paddle.to_tensor(draw(np.random.default_rng(4), 3, 4, 5), stop_gradient=False)
    y = paddle.nn.functional.batch_norm(x, paddle.zeros([4]), paddle.ones([4]), None, bias, training=True)
    (grad,) = paddle.grad((y * outer).sum(), bias, create_graph=True)
    (second,) = paddle.grad((grad * grad).sum(), outer)
    expected = np.broadcast_to(2 * outer.numpy().sum((0, 2))[:, None], (3, 4, 5))
    np.testing.assert_allclose(second.numpy(), expected, rtol=1e-5)
