"""Operations of the user's own: cold and compiled, with derived and written gradients, in Pallas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.utils import custom_op

X = np.arange(6, dtype="float32").reshape(2, 3)


@custom_op(operands="x y")
def dotted(xp: Any, x: Any, y: Any, axis: int = 0) -> Any:
    """The sum of products along an axis."""
    return xp.sum(x * y, axis=axis)


def test_a_derived_gradient() -> None:
    x = paddle.to_tensor(X)
    x.stop_gradient = False
    for _ in range(4):
        out = dotted(x, x, axis=np.int64(1))
        np.testing.assert_allclose(out.numpy(), (X * X).sum(1))
        (gradient,) = paddle.grad(out.sum(), x)
        np.testing.assert_allclose(gradient.numpy(), 2 * X)
    assert dotted.__doc__ == "The sum of products along an axis."


def test_a_written_gradient_and_a_dynamic_scalar() -> None:
    seen = []

    @custom_op(scalars="factor", result="same", grad={"x": lambda g, factor: g * factor})
    def scaled(xp: Any, x: Any, factor: Any) -> Any:
        seen.append(xp.__name__)
        return x * factor.astype(x.dtype)

    x = paddle.to_tensor(X)
    x.stop_gradient = False
    for step in range(6):
        out = scaled(x, 0.5 * step)
        (gradient,) = paddle.grad(out.sum(), x)
        np.testing.assert_allclose(gradient.numpy(), np.full_like(X, 0.5 * step))
    assert seen.count("jax.numpy") <= 1  # compiled once, though the number changed
    assert "numpy" in seen


def test_a_result_rule_and_several_outputs() -> None:
    @custom_op(
        outputs=2,
        result=lambda x, k: [((*x.shape, k), x.dtype), (x.shape, "int64")],
        grad={"x": lambda g0: g0.sum(-1)},
    )
    def spread(xp: Any, x: Any, k: int = 2) -> Any:
        return xp.stack([x] * k, -1), x.astype("int64")

    x = paddle.to_tensor(X)
    x.stop_gradient = False
    for _ in range(4):
        many, whole = spread(x, 3)
        assert many.shape == [2, 3, 3]
        assert whole.tolist() == X.astype("int64").tolist()
        (gradient,) = paddle.grad(many.sum(), x)
        np.testing.assert_allclose(gradient.numpy(), np.full_like(X, 3.0))


def test_a_pallas_kernel() -> None:
    @custom_op(compiled=True, result="same", grad={"x": lambda g: g * 2.0})
    def doubled(xp: Any, x: Any) -> Any:
        import jax
        from jax.experimental import pallas

        def body(source: Any, target: Any) -> None:
            target[...] = source[...] * 2.0

        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return pallas.pallas_call(body, out_shape=shape, interpret=True)(x)

    x = paddle.to_tensor(X)
    x.stop_gradient = False
    for _ in range(4):
        (gradient,) = paddle.grad(doubled(x * x).sum(), x)
        np.testing.assert_allclose(gradient.numpy(), 4 * X)


def test_declared_again_under_the_same_name() -> None:
    def make(number: int) -> Any:
        @custom_op(grad=None, result="same")
        def same_name(xp: Any, x: Any) -> Any:
            return x + number

        return same_name

    first, second = make(1), make(2)
    x = paddle.zeros([1])
    assert (first(x).item(), second(x).item()) == (1.0, 2.0)


def test_errors() -> None:
    with pytest.raises(TypeError, match="no parameter z"):
        custom_op(lambda xp, x: x, operands="x z")
    with pytest.raises(TypeError, match="'same' or a function"):
        custom_op(lambda xp, x: x, result=3)
    with pytest.raises(TypeError, match="must be hashable"):
        dotted(paddle.ones([2]), paddle.ones([2]), {"axis": 0})

    @custom_op(result=lambda x: x.shape, grad=None)
    def wrong(xp: Any, x: Any) -> Any:
        return x

    with pytest.raises(TypeError, match=r"result must give \(shape, dtype\)"):
        wrong(paddle.ones([2, 3, 4]))
