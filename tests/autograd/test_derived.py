"""Gradients that JAX derives, and operations with several outputs that keep their results."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa.eager.declare import op
from tests.autograd.reference import check_gradient, constant, leaf


def first_twice(_operation, kinds, _attributes, _place):
    return kinds[0], kinds[0]


@op("x y", infer=lambda operation, kinds, *_: kinds[0], grad="auto", name="derived_product")
def product(xp, x, y, factor):
    return x * x * y * factor


@op("x", outputs=2, infer=first_twice, grad="auto", name="derived_pair")
def pair(xp, x):
    return xp.sin(x), x * x


@op("x", outputs=2, infer=first_twice, grad="auto", differentiable_outputs=(0,), name="derived_half")
def half(xp, x):
    return xp.exp(x), xp.floor(x)


def _circle_gradient(g0, g1, out0, out1):
    parts = [g * out for g, out in ((g0, out1), (g1, -out0)) if g is not None]
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


@op("x", outputs=2, infer=first_twice, grad={"x": _circle_gradient}, name="written_circle")
def circle(xp, x):
    return xp.sin(x), xp.cos(x)


X, Y = np.array([0.3, -0.7]), np.array([1.5, 0.2])


def test_first_order():
    check_gradient(lambda x, y: product(x, y, 2.0), X, Y)
    check_gradient(lambda x: pair(x)[0], X)
    check_gradient(lambda x: pair(x)[0] * pair(x)[1], X)
    check_gradient(lambda x: half(x)[0], X)


def test_any_order():
    x, y = leaf(X), leaf(Y)
    gx, gy = paddle.grad(product(x, y, 2.0), [x, y], create_graph=True)
    np.testing.assert_allclose(gx.numpy(), 4 * X * Y)
    np.testing.assert_allclose(gy.numpy(), 2 * X * X)
    gxx, gxy = paddle.grad(gx, [x, y], create_graph=True)
    np.testing.assert_allclose(gxx.numpy(), 4 * Y)
    np.testing.assert_allclose(gxy.numpy(), 4 * X)
    np.testing.assert_allclose(paddle.grad(gxx, y)[0].numpy(), [4, 4])


def test_an_output_without_gradient():
    x = leaf(X)
    values, steps = half(x)
    assert [values.stop_gradient, steps.stop_gradient] == [False, True]


def test_only_the_operands_that_want_one():
    x, c = leaf(X), constant(Y)
    product(x, c, 1.0).backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * X * Y)
    assert c.grad is None


def test_operands_changed_in_place_are_noticed():
    x = leaf(X)
    h = x * 1
    z = product(h, leaf(Y), 1.0)
    (g,) = paddle.grad(z, x, create_graph=True)
    h.zero_()
    with pytest.raises(RuntimeError, match=r"\(derived_product_grad\).*changed in place"):
        z.backward()
    with pytest.raises(RuntimeError, match=r"\(derived_product_vjp_grad\).*changed in place"):
        paddle.grad(g, x)


class TestSavedOutputs:
    def test_any_order(self):
        """Also when the tensors of the outputs are long gone."""
        x = leaf(X)
        y = circle(x)[0]
        for expected in (np.cos(X), -np.sin(X), -np.cos(X), np.sin(X)):
            (y,) = paddle.grad(y, x, create_graph=True)
            np.testing.assert_allclose(y.numpy(), expected, rtol=1e-12)

    def test_the_outputs_themselves_as_inputs(self):
        """The derivative of the sine is the other output."""
        x = leaf(X)
        sine, cosine = circle(x)
        (g,) = paddle.grad(sine, x, create_graph=True)
        np.testing.assert_allclose(paddle.grad(g, cosine)[0].numpy(), [1, 1])
