"""Hooks on gradients: order, replacement, removal, leaves and results."""

from __future__ import annotations

import pytest

import proa as paddle
from tests.autograd.reference import constant, leaf


def test_hooks_run_in_order_on_what_the_one_before_left():
    x = leaf([1.0, 2.0])
    h = x * 2
    log = []
    h.register_hook(lambda g: log.append(("first", g.numpy().tolist())) or g * 3)
    h.register_hook(lambda g: log.append(("second", g.numpy().tolist())) or g + 1)
    x.register_hook(lambda g: log.append(("leaf", g.numpy().tolist())))
    (h * h).backward()
    assert log == [("first", [4, 8]), ("second", [12, 24]), ("leaf", [26, 50])]
    assert x.grad.numpy().tolist() == [26, 50]


def test_a_hook_sees_the_whole_gradient_once():
    x = leaf([1.0])
    h = x * 2
    seen = []
    h.register_hook(lambda g: seen.append(g.item()))
    x.register_hook(lambda g: seen.append(g.item()))
    (h * 3 + h * 4 + x).backward()
    assert seen == [7, 15]


def test_a_leaf_hook_acts_on_one_pass_not_on_the_sum():
    x = leaf([1.0])
    x.register_hook(lambda g: g * 2)
    (x * 3).backward()
    (x * 3).backward()
    assert x.grad.item() == 12


def test_removal():
    x = leaf([1.0])
    h = x * 2
    for tensor in (x, h):
        handle = tensor.register_hook(lambda g: g * 100)
        assert [handle.remove(), handle.remove()] == [True, False]
    kept = x.register_hook(lambda g: g + 1)
    h.backward()
    assert x.grad.item() == 3
    kept.remove()
    (x * 2).backward()
    assert x.grad.item() == 5


def test_removal_of_one_among_several():
    x = leaf([1.0])
    x.register_hook(lambda g: g + 1)
    middle = x.register_hook(lambda g: g * 100)
    x.register_hook(lambda g: g * 2)
    middle.remove()
    (x * 3).backward()
    assert x.grad.item() == 8


def test_a_hook_may_remove_itself():
    x = leaf([1.0])
    handles = []
    handles.append(x.register_hook(lambda g: handles[0].remove() and g * 10))
    (x * 1).backward()
    (x * 1).backward()
    assert x.grad.item() == 11


def test_a_hook_may_change_the_gradient_in_place():
    """Without touching that of the other operand, which is the same number."""
    a, b = leaf([1.0]), leaf([2.0])
    c = a * 1
    c.register_hook(lambda g: g.add_(constant([10.0])) and None)
    (c + b).backward()
    assert [a.grad.item(), b.grad.item()] == [11, 1]


def test_one_of_several_outputs_has_hooks():
    x = leaf([1.0, 2.0])
    a, b = paddle.split(x, 2)
    a.register_hook(lambda g: g * 10)
    (a + b).backward()
    assert x.grad.numpy().tolist() == [10, 1]


def test_paddle_grad_runs_hooks_of_results_but_not_of_leaves():
    x = leaf([1.0, 2.0])
    h = x * 2
    x.register_hook(lambda g: g * 10)
    h.register_hook(lambda g: g * 3)
    gx, gh = paddle.grad(h * h, [x, h])
    assert gx.numpy().tolist() == [24, 48]
    assert gh.numpy().tolist() == [12, 24]


def test_hooks_in_a_pass_that_is_differentiated():
    x = leaf([2.0])
    h = x * x
    h.register_hook(lambda g: g * x)
    (g,) = paddle.grad(h, x, create_graph=True)
    assert g.item() == 8
    assert paddle.grad(g, x)[0].item() == 8


def test_a_hook_stays_where_it_was_put():
    x = leaf([1.0])
    h = x * 2
    h.register_hook(lambda g: g * 10)
    h.add_(x)
    (h * 1).backward()
    assert x.grad.item() == 21


class TestRefused:
    def test_what_is_no_function(self):
        with pytest.raises(TypeError, match=r"\(register_hook\) a hook must be callable; received NoneType"):
            leaf([1.0]).register_hook(None)

    def test_a_tensor_without_gradient(self):
        with pytest.raises(RuntimeError, match=r"\(register_hook\) this tensor has no gradient"):
            constant([1.0]).register_hook(lambda g: g)

    @pytest.mark.parametrize("on_leaf", [True, False])
    @pytest.mark.parametrize(
        ("result", "error"),
        [(5, TypeError), (constant([1.0, 2.0]), ValueError)],
        ids=["number", "shape"],
    )
    def test_what_a_hook_returns(self, on_leaf, result, error):
        x = leaf([1.0])
        y = x * 2
        (x if on_leaf else y).register_hook(lambda g: result)
        with pytest.raises(error, match=r"^\(register_hook\)"):
            y.backward()


class TestRetainGrads:
    def test_a_result_keeps_its_gradient(self):
        x = leaf([1.0, 2.0])
        h = x * 2
        h.retain_grads()
        h.retain_grads()
        (h * h).backward()
        assert h.grad.numpy().tolist() == [4, 8]

    def test_it_is_the_gradient_at_its_place_among_the_hooks(self):
        x = leaf([1.0])
        before, after = x * 2, x * 2
        before.retain_grads()
        before.register_hook(lambda g: g * 3)
        after.register_hook(lambda g: g * 3)
        after.retain_grads()
        (before + after).backward()
        assert [before.grad.item(), after.grad.item()] == [1, 3]

    def test_a_second_pass_replaces_it(self):
        h = leaf([1.0]) * 2
        h.retain_grads()
        y = h * 5
        y.backward(retain_graph=True)
        y.backward()
        assert h.grad.item() == 5

    def test_on_leaves_and_constants_it_does_nothing(self):
        x, c = leaf([1.0]), constant([1.0])
        x.retain_grads()
        c.retain_grads()
        (x * c).backward()
        assert x.grad.item() == 1
        assert c.grad is None


class TestAfterAccumulation:
    def test_it_sees_the_sum(self):
        x = leaf([1.0])
        seen = []
        x._register_backward_hook(lambda: seen.append(x.grad.item()))
        (x * 3 + x).backward()
        (x * 3).backward()
        assert seen == [4, 7]

    def test_only_on_leaves_with_gradient(self):
        for tensor in (leaf([1.0]) * 2, constant([1.0])):
            with pytest.raises(ValueError, match="_register_backward_hook"):
                tensor._register_backward_hook(lambda: None)


def test_requires_grad():
    x = constant([1.0])
    assert x.requires_grad_() is x
    assert not x.stop_gradient
    assert x.requires_grad_(False).stop_gradient


def test_backward_inside_a_hook():
    x, w = leaf([1.0]), leaf([2.0])
    h = x * 2

    def nested(g):
        assert not paddle.is_grad_enabled()
        with paddle.enable_grad():
            (w * 5).backward()

    h.register_hook(nested)
    (h * 3).backward()
    assert [x.grad.item(), w.grad.item()] == [6, 5]
