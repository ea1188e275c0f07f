"""paddle.grad: what it returns, to any order, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from tests.autograd.reference import constant, differences, leaf


def test_it_returns_a_list_and_leaves_grad_alone():
    x = leaf([1.0, 2.0])
    result = paddle.grad(x * x, x)
    assert isinstance(result, list)
    assert result[0].numpy().tolist() == [2, 4]
    assert result[0].stop_gradient
    assert x.grad is None


def test_leaves_and_results_as_inputs():
    x = leaf([1.0, 2.0])
    h = x * 2
    y = h * h
    gx, gh = paddle.grad(y, [x, h])
    assert gx.numpy().tolist() == [8, 16]
    assert gh.numpy().tolist() == [4, 8]


def test_an_output_with_respect_to_itself():
    x = leaf([1.0, 2.0])
    y = x * 2
    assert paddle.grad(y, y)[0].numpy().tolist() == [1, 1]
    assert paddle.grad(x, x)[0].numpy().tolist() == [1, 1]


def test_the_same_input_twice():
    x = leaf([1.0])
    assert [g.item() for g in paddle.grad(x * 3, [x, x])] == [3, 3]


def test_several_outputs_add_up():
    x = leaf([1.0, 2.0])
    (g,) = paddle.grad([x * 2, x * 3], x, [constant([1.0, 0.0]), None])
    assert g.numpy().tolist() == [5, 3]


def test_an_output_of_several():
    x = leaf([1.0, 2.0, 3.0, 4.0])
    a, b = paddle.split(x, 2)
    ga, gx = paddle.grad((a * b).sum(), [a, x])
    assert ga.numpy().tolist() == [3, 4]
    assert gx.numpy().tolist() == [3, 4, 1, 2]


def test_the_graph_is_kept():
    x = leaf([1.0, 2.0])
    y = (x * x).sin()
    first = paddle.grad(y, x, retain_graph=False)[0].numpy()
    second = paddle.grad(y, x)[0].numpy()
    y.backward()
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, x.grad.numpy())


def test_results_are_tensors_of_their_own():
    x, seed = leaf([1.0]), constant([1.0])
    (g,) = paddle.grad(x + 1, x, seed)
    g.add_(constant([5.0]))
    assert seed.item() == 1


@pytest.mark.parametrize("allow", [False, True])
def test_an_input_that_is_not_used(allow):
    x, w = leaf([1.0]), leaf([2.0])
    y = x * 2
    if allow:
        assert paddle.grad(y, [x, w], allow_unused=True)[1] is None
    else:
        with pytest.raises(ValueError, match=r"\(grad\) input 1 \(float64\[1\]\) is not used.*allow_unused=True"):
            paddle.grad(y, [x, w])


def test_an_input_that_stops_gradients_is_not_used():
    x, c = leaf([1.0]), constant([2.0])
    assert paddle.grad(x * c, c, allow_unused=True) == [None]


class TestNoGradVars:
    def test_a_result_is_taken_for_a_constant(self):
        x = leaf([1.0, 2.0])
        y = x * 2
        (g,) = paddle.grad(y * y + x, x, no_grad_vars=[y])
        assert g.numpy().tolist() == [1, 1]

    def test_a_leaf_is_taken_for_a_constant(self):
        x, w = leaf([1.0]), leaf([3.0])
        gx, gw = paddle.grad(x * w, [x, w], no_grad_vars={w}, allow_unused=True)
        assert gx.item() == 3
        assert gw is None

    def test_the_output_itself(self):
        x = leaf([1.0])
        y = x * 2
        assert paddle.grad(y, x, no_grad_vars=y, allow_unused=True) == [None]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x, y: paddle.grad(y, []), TypeError),
        (lambda x, y: paddle.grad([], x), TypeError),
        (lambda x, y: paddle.grad(3.0, x), TypeError),
        (lambda x, y: paddle.grad(y, [x, None]), TypeError),
        (lambda x, y: paddle.grad(y, x, [None, None]), ValueError),
        (lambda x, y: paddle.grad(y, x, constant([1.0, 2.0])), ValueError),
        (lambda x, y: paddle.grad(y, x, [5]), TypeError),
        (lambda x, y: paddle.grad(y, x, only_inputs=False), ValueError),
    ],
)
def test_wrong_arguments(call, error):
    x = leaf([1.0])
    with pytest.raises(error, match=r"^\(grad\) "):
        call(x, x * 2)


class TestHigherOrder:
    def test_the_fourth_derivative_of_a_power(self):
        x = leaf([1.5, -2.0])
        y = x**5
        for factor, power in ((5, 4), (20, 3), (60, 2), (120, 1)):
            (y,) = paddle.grad(y, x, create_graph=True)
            np.testing.assert_allclose(y.numpy(), factor * x.numpy() ** power)

    def test_the_fourth_derivative_of_tanh(self):
        x = leaf([0.4, -1.1])
        y = x.tanh()
        derivatives = []
        for _ in range(4):
            (y,) = paddle.grad(y, x, create_graph=True)
            derivatives.append(y.numpy())
        t = np.tanh(x.numpy())
        s = 1 - t * t
        expected = [s, -2 * t * s, s * (6 * t * t - 2), s * (16 * t - 24 * t**3)]
        for got, value in zip(derivatives, expected):
            np.testing.assert_allclose(got, value, rtol=1e-12)

    def test_create_graph_works_under_no_grad(self):
        x = leaf([2.0])
        y = x**3
        with paddle.no_grad():
            (g,) = paddle.grad(y, x, create_graph=True)
        assert paddle.is_grad_enabled()
        assert paddle.grad(g, x)[0].item() == pytest.approx(12)

    def test_backward_of_a_gradient(self):
        """A gradient penalty: the gradient's norm is a part of the loss."""
        x, w = leaf([[0.3, -0.2]]), leaf([[0.5], [1.5]])
        y = paddle.matmul(x, w).tanh()
        (g,) = paddle.grad(y, x, create_graph=True)
        ((g * g).sum() + y.sum()).backward()

        def loss(xv, wv):
            value = np.tanh(xv @ wv)
            slope = (1 - value**2) * wv.T
            return float((slope**2).sum() + value.sum())

        gx, gw = differences(loss, [x.numpy(), w.numpy()])
        np.testing.assert_allclose(x.grad.numpy(), gx, rtol=1e-6)
        np.testing.assert_allclose(w.grad.numpy(), gw, rtol=1e-6)

    def test_through_the_gradient_given(self):
        x, v = leaf([2.0]), leaf([3.0])
        (g,) = paddle.grad(x * x, x, v, create_graph=True)
        gx, gv = paddle.grad(g, [x, v])
        assert [gx.item(), gv.item()] == [6, 4]

    def test_a_gradient_that_passes_through_unchanged(self):
        x, v = leaf([2.0]), leaf([3.0])
        (g,) = paddle.grad(x + 1, x, v, create_graph=True)
        assert paddle.grad(g, v)[0].item() == 1

    def test_second_order_counts_what_was_saved(self):
        """exp saves its result: the second derivative with respect to that result must find it."""
        x = leaf([0.7])
        y = x.exp()
        (g,) = paddle.grad(y, x, create_graph=True)
        assert paddle.grad(g, y)[0].item() == pytest.approx(1)
        assert paddle.grad(g, x)[0].item() == pytest.approx(np.exp(0.7))

    def test_without_create_graph_results_are_constants(self):
        x = leaf([2.0])
        (g,) = paddle.grad(x**3, x)
        with pytest.raises(ValueError, match="not used"):
            paddle.grad(g, x)


def test_only_the_needed_part_runs():
    """A branch that does not lead to the inputs is left alone, with its hooks."""
    x, w = leaf([1.0]), leaf([2.0])
    calls = []
    other = w * 3
    other.register_hook(calls.append)
    paddle.grad(x * 2 + other, x)
    assert calls == []


def test_the_mode_is_restored_after_an_error():
    x = leaf([1.0])
    h = x * 2
    h.register_hook(lambda g: 1 / 0)
    y = h * 3
    with pytest.raises(ZeroDivisionError):
        paddle.grad(y, x, create_graph=True)
    assert paddle.is_grad_enabled()
    with paddle.no_grad(), pytest.raises(ZeroDivisionError):
        paddle.grad(y, x, create_graph=True)
    assert paddle.is_grad_enabled()
