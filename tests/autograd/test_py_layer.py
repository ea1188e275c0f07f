"""PyLayer: functions with a gradient of their own."""

from __future__ import annotations

import weakref
from collections import namedtuple

import numpy as np
import pytest

import proa as paddle
from proa.autograd import PyLayer, PyLayerContext
from proa.autograd.py_layer import once_differentiable
from proa.ir.recorder import flush_current
from tests.autograd.reference import constant, count_garbage, leaf


class Tanh(PyLayer):
    @staticmethod
    def forward(ctx, x, function=paddle.tanh):
        ctx.function = function
        y = function(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, gradient):
        (y,) = ctx.saved_tensor()
        return gradient * (1 - y * y)


def make(forward, backward):
    """A PyLayer from two functions."""
    return type("Made", (PyLayer,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def test_its_gradient_is_what_backward_says():
    x = leaf([0.5, -1.0])
    y = Tanh.apply(x)
    y.sum().backward()
    np.testing.assert_allclose(y.numpy(), np.tanh(x.numpy()))
    np.testing.assert_allclose(x.grad.numpy(), 1 - np.tanh(x.numpy()) ** 2)
    assert y.grad_fn.name() == "GradNodePyLayer_Tanh"


def test_it_can_be_differentiated_any_number_of_times():
    """backward uses a saved result: its history must be found again in every round."""
    x = leaf([0.5, -1.0])
    y = Tanh.apply(x)
    for _ in range(3):
        (y,) = paddle.grad(y, x, create_graph=True)
    t = np.tanh(x.numpy())
    np.testing.assert_allclose(y.numpy(), (1 - t**2) * (6 * t**2 - 2), rtol=1e-12)


def test_a_result_kept_as_an_attribute_has_its_history_too():
    class Kept(PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.y = x.tanh()
            return ctx.y

        @staticmethod
        def backward(ctx, gradient):
            return gradient * (1 - ctx.y * ctx.y)

    x = leaf([0.5])
    y = Kept.apply(x)
    for _ in range(3):
        (y,) = paddle.grad(y, x, create_graph=True)
    t = np.tanh(0.5)
    assert y.item() == pytest.approx((1 - t**2) * (6 * t**2 - 2))


def test_retain_graph_and_the_second_time():
    x = leaf([0.5])
    y = Tanh.apply(x)
    y.backward(retain_graph=True)
    once = x.grad.item()
    y.backward()
    assert x.grad.item() == pytest.approx(2 * once)
    with pytest.raises(RuntimeError, match=r"\(Tanh_grad\) backward runs a second time"):
        y.backward()


def test_the_tape_is_off_in_forward_and_off_in_plain_backward():
    states = []

    def forward(ctx, x):
        states.append(paddle.is_grad_enabled())
        return x * 2

    def backward(ctx, g):
        states.append(paddle.is_grad_enabled())
        return g * 2

    layer, x = make(forward, backward), leaf([1.0])
    layer.apply(x).backward()
    paddle.grad(layer.apply(x), x, create_graph=True)
    assert states == [False, False, False, True]


class TestArguments:
    def test_only_tensors_count(self):
        layer = make(lambda ctx, k, a, text, b=None, **more: a * k + b, lambda ctx, g: (g * 2, g * 3))
        a, b = leaf([1.0]), leaf([1.0])
        layer.apply(2.0, a, "text", b=b, extra=None).backward()
        assert [a.grad.item(), b.grad.item()] == [2, 3]

    def test_tensors_in_lists_count_one_by_one(self):
        layer = make(lambda ctx, pair, c: pair[0] * pair[1] * c, lambda ctx, g: ([g * 2, g * 3], g * 4))
        a, b, c = leaf([1.0]), leaf([1.0]), leaf([1.0])
        layer.apply([a, b], c).backward()
        assert [t.grad.item() for t in (a, b, c)] == [2, 3, 4]

    def test_the_same_tensor_twice(self):
        x = leaf([1.0])
        make(lambda ctx, a, b: a * b, lambda ctx, g: (g * 2, g * 3)).apply(x, x).backward()
        assert x.grad.item() == 5

    def test_tensors_without_gradient(self):
        a, c = leaf([1.0]), constant([1.0])
        make(lambda ctx, a, c: a * c, lambda ctx, g: g * 2).apply(a, c).backward()
        make(lambda ctx, c, a: a * c, lambda ctx, g: (None, g * 2)).apply(c, a).backward()
        make(lambda ctx, c, a: a * c, lambda ctx, g: (g, g * 2)).apply(c, a).backward()
        assert a.grad.item() == 6
        assert c.grad is None

    def test_nothing_is_recorded_where_nothing_is_wanted(self):
        assert Tanh.apply(constant([1.0])).stop_gradient
        with paddle.no_grad():
            assert Tanh.apply(leaf([1.0])).stop_gradient


class TestResults:
    def test_several_of_them(self):
        layer = make(lambda ctx, x: (x * 2, "text", x * 3), lambda ctx, a, b: a * 2 + b * 3)
        x = leaf([1.0])
        first, text, second = layer.apply(x)
        assert text == "text"
        (first * 10 + second).backward()
        assert x.grad.item() == 23

    def test_list_and_named_tuple(self):
        pair = namedtuple("pair", "low high")
        x = leaf([1.0])
        assert isinstance(make(lambda ctx, x: [x * 2], lambda ctx, g: g).apply(x), list)
        made = make(lambda ctx, x: pair(x, x * 2), lambda ctx, a, b: a).apply(x)
        assert made.high.item() == 2

    def test_gradients_that_did_not_arrive_are_zeros(self):
        seen = []
        layer = make(lambda ctx, x: (x * 2, x * 3), lambda ctx, a, b: seen.append(b) or a)
        layer.apply(leaf([1.0, 2.0]))[0].backward()
        assert seen[0].numpy().tolist() == [0, 0]

    def test_or_none(self):
        seen = []

        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        make(forward, lambda ctx, a, b: seen.append(b) or a).apply(leaf([1.0]))[0].backward()
        assert seen == [None]

    def test_results_without_gradient(self):
        def forward(ctx, x):
            best = x * 3
            ctx.mark_non_differentiable(best)
            return x * 2, best, paddle.argmax(x)

        x = leaf([1.0, 2.0])
        y, best, where = make(forward, lambda ctx, a, b, c: a * 2).apply(x)
        assert [t.stop_gradient for t in (y, best, where)] == [False, True, True]
        y.backward()
        assert x.grad.numpy().tolist() == [2, 2]

    def test_the_input_itself(self):
        """A gradient reversal: the input keeps its own place in the graph."""
        reverse = make(lambda ctx, x: x, lambda ctx, g: -g)
        x = leaf([1.0])
        h = x * 2
        y = reverse.apply(h)
        (y * 10 + h).backward()
        assert x.grad.item() == -20 + 2
        make(lambda ctx, x: x, lambda ctx, g: g * 7).apply(leaf([1.0]))  # also a leaf

    def test_the_same_tensor_twice(self):
        def forward(ctx, x):
            y = x * 2
            return y, y

        x = leaf([1.0])
        a, b = make(forward, lambda ctx, a, b: a * 2 + b * 20).apply(x)
        (a + b).backward()
        assert x.grad.item() == 22

    def test_a_tensor_that_others_hold_is_not_touched(self):
        held = constant([5.0])
        y = make(lambda ctx, x: held, lambda ctx, g: g).apply(leaf([1.0]))
        assert not y.stop_gradient
        assert held.stop_gradient

    @pytest.mark.parametrize("result", [5, None, {"x": 1}, [], "text"])
    def test_no_tensor_at_all(self, result):
        with pytest.raises(ValueError, match=r"\(Made\) forward must return a Tensor"):
            make(lambda ctx, x: result, lambda ctx, g: g).apply(leaf([1.0]))


class TestInPlace:
    def test_a_changed_input_that_is_returned(self):
        layer = make(lambda ctx, x: x.multiply_(constant([3.0])), lambda ctx, g: g * 3)
        x = leaf([2.0])
        h = x * 1
        y = layer.apply(h)
        assert y is h
        (h * h).backward()
        assert x.grad.item() == pytest.approx(2 * 6 * 3)

    def test_saved_and_returned(self):
        def forward(ctx, x):
            x.multiply_(constant([3.0]))
            ctx.save_for_backward(x)
            return x

        x = leaf([2.0])
        y = make(forward, lambda ctx, g: g * ctx.saved_tensor()[0]).apply(x * 1)
        y.backward()
        assert x.grad.item() == 6

    def test_mark_not_inplace(self):
        def forward(ctx, x):
            ctx.mark_not_inplace(x)
            return x.multiply_(constant([3.0]))

        h = leaf([2.0]) * 1
        assert make(forward, lambda ctx, g: g).apply(h) is not h

    def test_a_leaf_cannot_be_changed(self):
        layer = make(lambda ctx, x: x.multiply_(constant([3.0])), lambda ctx, g: g * 3)
        with pytest.raises(ValueError, match=r"\(Made\) a leaf tensor .* cannot be changed in place"):
            layer.apply(leaf([2.0]))

    def test_a_saved_tensor_that_was_changed(self):
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        h = leaf([2.0]) * 1
        y = make(forward, lambda ctx, g: g * ctx.saved_tensor()[0] * 2).apply(h)
        h.add_(constant([1.0]))
        with pytest.raises(
            RuntimeError,
            match=r"\(Made_grad\) a tensor that the gradient of Made saved was changed",
        ):
            y.backward()

    def test_backward_may_change_its_gradients(self):
        a, b = leaf([1.0]), leaf([1.0])
        y = make(lambda ctx, x: x * 2, lambda ctx, g: g.multiply_(constant([2.0]))).apply(a)
        (y + b).backward()
        assert [a.grad.item(), b.grad.item()] == [2, 1]


class TestSaved:
    @pytest.mark.parametrize("saved", [(), (None, 3, "text"), (constant([1.0]), None)])
    def test_anything_can_be_saved(self, saved):
        got = []

        def forward(ctx, x):
            ctx.save_for_backward(*saved)
            return x * 2

        make(forward, lambda ctx, g: got.append(ctx.saved_tensor()) or g).apply(leaf([1.0])).backward()
        assert len(got[0]) == len(saved)
        assert all(a is b for a, b in zip(got[0], saved))

    def test_nothing_was_saved(self):
        got = []
        make(lambda ctx, x: x * 2, lambda ctx, g: got.append(ctx.saved_tensor()) or g).apply(leaf([1.0])).backward()
        assert got == [None]

    def test_the_context(self):
        seen = []
        make(lambda ctx, x: seen.append(ctx) or x * 2, lambda ctx, g: seen.append(ctx) or g).apply(
            leaf([1.0])
        ).backward()
        assert isinstance(seen[0], PyLayerContext)
        assert seen[0] is seen[1]


class TestRefused:
    @pytest.mark.parametrize(
        ("returned", "error", "text"),
        [
            (
                lambda g: g,
                ValueError,
                "forward got 2 tensor(s), so backward must return 2 gradient(s); received 1",
            ),
            (lambda g: (g, g, g), ValueError, "received 3"),
            (lambda g: (g, 5), TypeError, "gradient 1 must be a Tensor or None; received int"),
            (
                lambda g: (constant([1.0, 2.0]), g),
                ValueError,
                "gradient 0 must have the shape of its tensor",
            ),
        ],
    )
    def test_wrong_gradients(self, returned, error, text):
        y = make(lambda ctx, a, b: a * b, lambda ctx, g: returned(g)).apply(leaf([1.0]), leaf([1.0]))
        with pytest.raises(error) as caught:
            y.backward()
        assert str(caught.value).startswith("(Made.backward) ")
        assert text in str(caught.value)

    def test_no_forward_or_backward(self):
        with pytest.raises(NotImplementedError, match=r"forward\(ctx"):
            type("Empty", (PyLayer,), {}).apply(leaf([1.0]))
        half = type("Half", (PyLayer,), {"forward": staticmethod(lambda ctx, x: x * 2)})
        with pytest.raises(NotImplementedError, match=r"backward\(ctx"):
            half.apply(leaf([1.0])).backward()

    def test_errors_in_backward_say_where(self):
        y = make(lambda ctx, x: x * 2, lambda ctx, g: 1 / 0).apply(leaf([1.0]))
        with pytest.raises(ZeroDivisionError) as caught:
            y.backward()
        assert "backward of the PyLayer Made" in caught.value.__notes__[0]


def test_none_is_no_gradient():
    x = leaf([1.0])
    (make(lambda ctx, x: x * 2, lambda ctx, g: None).apply(x) + x).backward()
    assert x.grad.item() == 1


def test_gradients_are_cast_to_the_dtype_of_their_tensor():
    x = leaf([1.0], "float32")
    make(lambda ctx, x: x * 2, lambda ctx, g: paddle.cast(g, "float64")).apply(x).backward()
    assert x.grad.dtype == paddle.float32


def test_backward_may_run_a_backward_pass_itself():
    """As recomputation does: forward once more, with the tape on."""

    def backward(ctx, g):
        (x,) = ctx.saved_tensor()
        again = paddle.to_tensor(x.numpy(), stop_gradient=False)
        with paddle.enable_grad():
            again.exp().backward(g)
        return again.grad

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    x = leaf([0.5])
    make(forward, backward).apply(x).backward()
    assert x.grad.item() == pytest.approx(np.exp(0.5))


def test_once_differentiable():
    layer = make(lambda ctx, x: x * x, once_differentiable(lambda ctx, g: g * 2))
    x = leaf([3.0])
    (g,) = paddle.grad(layer.apply(x), x, create_graph=True)
    assert g.item() == 2
    assert g.stop_gradient


def test_function_is_another_name():
    assert paddle.autograd.Function is paddle.autograd.PyLayer


def test_the_graph_is_freed_without_the_garbage_collector():
    """Whether backward ran or not, and wherever the result was kept."""

    def forward(ctx, x):
        y = x * 2
        ctx.save_for_backward(x, y)
        ctx.y = y
        return y

    layer = make(forward, lambda ctx, g: g * 2)
    for is_run in (False, True):
        y = layer.apply(leaf([1.0]) * 1)
        node = weakref.ref(y.grad_fn.node)
        if is_run:
            y.backward()
            alive = node()
            assert alive is not None
            assert alive.is_released
            del alive
        del y
        flush_current()
        assert node() is None
    assert count_garbage(lambda: layer.apply(leaf([1.0]) * 1)) == 0
