"""In-place operations and gradients: harmless ones give right gradients, harmful ones an error that
names the op.
"""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from tests.autograd.reference import check_gradient, constant, count_garbage, leaf


@pytest.fixture(params=["auto", "immediate"], autouse=True)
def mode(request):
    paddle.set_flags({"FLAGS_eager_mode": request.param})
    yield
    paddle.set_flags({"FLAGS_eager_mode": "auto"})


def multiplied(x, w):
    h = x * 2
    h.multiply_(w)
    return h


def changed_twice(x, w):
    h = x + w
    h.multiply_(w)
    h.add_(x)
    return h * h


def unary(x):
    h = x * 2
    h.sin_()
    h.exp_()
    return h


def by_itself(x):
    h = x * 2
    h.multiply_(h)
    return h


def constant_changed(x):
    buffer = paddle.zeros_like(x)
    buffer.add_(x)
    buffer.multiply_(x)
    return buffer


def one_row(x):
    h = x * 2
    h[0] = x[1] * x[1]
    return h * x


def through_a_view(x):
    h = x * 2
    row = h[0]
    row.multiply_(x[1])
    return h * x


def a_view_of_a_changed_tensor(x):
    h = x * 2
    row = h[0]
    h.multiply_(x)
    return row * x


def through_a_reshaped_view(x):
    h = x * x
    flat = h.reshape([-1])
    flat[1] = x[0, 0]
    return h * x


def through_two_views(x):
    h = x * x
    h[0].reshape([-1]).multiply_(x[1])
    return h * x


def result_changed(x):
    """exp keeps its result; changing that afterwards does no harm, since the value kept is the old
    one.
    """
    y = x.exp()
    y.add_(x)
    return y


@pytest.mark.parametrize(
    "function",
    [unary, by_itself, constant_changed, one_row, through_a_view, a_view_of_a_changed_tensor,
     through_a_reshaped_view, through_two_views, result_changed],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_right_gradients_of_one_input(function):
    check_gradient(function, [[0.3, -0.7], [1.2, 0.4]])


@pytest.mark.parametrize("function", [multiplied, changed_twice], ids=lambda f: f.__name__)
def test_right_gradients_of_two_inputs(function):
    check_gradient(function, [0.3, -0.7], [1.2, 0.4])


def test_second_order_through_an_in_place_operation():
    x = leaf([0.3, -0.7])
    h = x * x
    h.multiply_(x)
    (g,) = paddle.grad(h, x, create_graph=True)
    np.testing.assert_allclose(paddle.grad(g, x)[0].numpy(), 6 * x.numpy())


class TestNeededByBackward:
    def test_the_error_names_the_operation(self):
        x = leaf([1.0, 2.0])
        h = x * 2
        y = h.sin()
        h.add_(x)
        with pytest.raises(RuntimeError) as caught:
            y.backward()
        text = str(caught.value)
        assert text.startswith("(sin_grad) a tensor that the gradient of sin needs (x) was changed in place")
        assert "its version is 1, expected 0" in text
        assert "clone()" in text

    @pytest.mark.parametrize(
        "change",
        [
            lambda h: h.add_(constant([1.0, 1.0])),
            lambda h: h.__setitem__(0, 5.0),
            lambda h: h[0:1].add_(constant([1.0])),
            lambda h: h.reshape([2, 1]).zero_(),
            lambda h: h.detach().add_(constant([1.0, 1.0])),
        ],
        ids=["add_", "setitem", "view", "reshaped", "detached"],
    )
    @pytest.mark.parametrize("is_recorded", [True, False])
    def test_however_it_was_changed(self, change, is_recorded):
        x = leaf([1.0, 2.0])
        h = x * 2
        y = h * x
        with paddle.set_grad_enabled(is_recorded):
            change(h)
        with pytest.raises(RuntimeError, match=r"\(multiply_grad\).*changed in place"):
            y.backward()

    def test_what_nobody_needs_may_change(self):
        x = leaf([1.0, 2.0])
        h = x * 2
        y = h + x
        h.add_(x)
        y.backward()
        assert x.grad.numpy().tolist() == [3, 3]

    def test_a_parameter_changed_between_forward_and_backward(self):
        w = leaf([2.0])
        y = w * w
        with paddle.no_grad():
            w.add_(constant([1.0]))
        with pytest.raises(RuntimeError, match="changed in place"):
            y.backward()

    def test_the_own_operand_of_another_operation(self):
        h = leaf([1.0]) * 2
        h.add_(h.sin())
        with pytest.raises(RuntimeError, match=r"\(sin_grad\)"):
            h.backward()

    def test_among_many_operands(self):
        """The second derivative of a derived gradient keeps all its operands."""
        x = leaf([1.0, 2.0])
        h = x * 2
        y = paddle.stack([h, x.exp()])
        h.add_(x)
        y.backward()  # stack needs no values
        np.testing.assert_allclose(x.grad.numpy(), 2 + np.exp([1.0, 2.0]))


class TestLeaves:
    @pytest.mark.parametrize(
        "change",
        [
            lambda x: x.add_(constant([1.0, 1.0])),
            lambda x: x.__setitem__(0, 1.0),
            lambda x: x.zero_(),
        ],
    )
    def test_a_leaf_cannot_be_changed(self, change):
        x = leaf([1.0, 2.0])
        with pytest.raises(ValueError, match=r"a leaf tensor .* cannot be changed in place"):
            change(x)
        assert x.numpy().tolist() == [1, 2]
        assert x.inplace_version == 0

    def test_under_no_grad_it_stays_a_leaf(self):
        x = leaf([1.0, 2.0])
        with paddle.no_grad():
            x[0] = 5.0
            x.add_(constant([1.0, 1.0]))
            x[1:2].multiply_(constant([2.0]))
        assert x.numpy().tolist() == [6, 6]
        assert x.is_leaf
        assert not x.stop_gradient
        (x * x).backward()
        assert x.grad.numpy().tolist() == [12, 12]

    def test_through_a_view_the_leaf_changes_and_stays_a_leaf(self):
        x = leaf([1.0, 2.0])
        x[0:1].multiply_(constant([10.0]))
        assert x.is_leaf
        (x * x).backward()
        assert x.numpy().tolist() == [10, 2]
        assert x.grad.numpy().tolist() == [20, 4]


def test_under_no_grad_the_history_stays():
    x = leaf([1.0, 2.0])
    h = x * 2
    with paddle.no_grad():
        h.add_(constant([1.0, 1.0]))
    assert not h.is_leaf
    h.backward()
    assert h.numpy().tolist() == [3, 5]
    assert x.grad.numpy().tolist() == [2, 2]


def test_overwritten_by_a_constant():
    x = leaf([1.0, 2.0])
    h = x * 2
    h.zero_()
    assert not h.stop_gradient
    (h + x).backward()
    assert x.grad.numpy().tolist() == [1, 1]


def test_a_constant_that_took_a_gradient():
    c, w = constant([1.0, 2.0]), leaf([3.0, 4.0])
    c.multiply_(w)
    assert not c.stop_gradient
    c.backward()
    assert w.grad.numpy().tolist() == [1, 2]


def test_a_stopped_view_stays_stopped():
    x = leaf([1.0, 2.0])
    h = x * 2
    shown = h[0:1]
    shown.stop_gradient = True
    h.multiply_(x)
    assert shown.stop_gradient
    assert shown.item() == 2


def test_versions_are_shared_by_views():
    x = constant([1.0, 2.0])
    row = x[0:1]
    row.add_(constant([1.0]))
    x.add_(constant([1.0, 1.0]))
    assert [
        x.inplace_version,
        row.inplace_version,
        x[1:].inplace_version,
        x.clone().inplace_version,
    ] == [2, 2, 2, 0]


@pytest.mark.parametrize(
    "function",
    [unary, by_itself, constant_changed, one_row, through_a_view, through_two_views],
    ids=lambda f: f.__name__,
)
def test_no_reference_cycles(function):
    assert count_garbage(lambda: function(leaf([[0.3, -0.7], [1.2, 0.4]]))) == 0
