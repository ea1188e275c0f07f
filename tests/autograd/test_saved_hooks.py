"""saved_tensors_hooks: packing what backward needs."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import proa as paddle
from proa.autograd import PyLayer, saved_tensors_hooks
from tests.autograd.reference import leaf


class Log:
    """A pair of hooks that keep values on the host and count their calls."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def pack(self, tensor):
        self.calls.append("pack")
        return tensor.numpy()

    def unpack(self, array):
        self.calls.append("unpack")
        return paddle.to_tensor(array)

    def block(self):
        return saved_tensors_hooks(self.pack, self.unpack)


def test_saved_operands_go_through_the_hooks():
    x, w, log = leaf([1.0, 2.0]), leaf([3.0, 4.0]), Log()
    with log.block():
        y = x * w
    assert log.calls == ["pack", "pack"]
    y.backward()
    assert log.calls == ["pack", "pack", "unpack", "unpack"]
    assert x.grad.numpy().tolist() == [3, 4]
    assert w.grad.numpy().tolist() == [1, 2]


def test_saved_results_too():
    x, log = leaf([0.5]), Log()
    with log.block():
        y = x.exp()
    y.backward()
    assert log.calls == ["pack", "unpack"]
    assert x.grad.item() == pytest.approx(np.exp(0.5))


def test_nothing_is_packed_where_nothing_is_saved_or_recorded():
    log = Log()
    with log.block():
        leaf([1.0]) + leaf([2.0])
        with paddle.no_grad():
            leaf([1.0]) * leaf([2.0])
    leaf([1.0]) * leaf([2.0])
    assert log.calls == []


def test_the_unpacked_value_counts():
    x, w = leaf([1.0]), leaf([3.0])
    with saved_tensors_hooks(lambda t: None, lambda _: paddle.to_tensor([100.0], dtype="float64")):
        y = x * w
    y.backward()
    assert x.grad.item() == 100


def test_a_tensor_changed_in_place_after_packing_does_no_harm():
    x, log = leaf([2.0]), Log()
    h = x * 1
    with log.block():
        y = h.sin()
    h.zero_()
    y.backward()
    assert x.grad.item() == pytest.approx(np.cos(2.0))


def test_second_order_finds_the_history_of_unpacked_tensors():
    x, log = leaf([0.5]), Log()
    with log.block():
        h = x * x
        y = h.exp() * h
        (g,) = paddle.grad(y, x, create_graph=True)
        (second,) = paddle.grad(g, x)
    value = 0.5
    # y = v exp(v) with v = x², so y' = 2x (1 + v) exp(v)
    expected = (2 * (1 + value**2) + 4 * value**2 + 4 * value**2 * (1 + value**2)) * np.exp(value**2)
    assert second.item() == pytest.approx(expected)


def test_of_nested_blocks_the_innermost_counts():
    outer, inner, x = Log(), Log(), leaf([0.5])
    with outer.block():
        with inner.block():
            y = x.sin()
        z = y.sin()
    z.backward()
    assert outer.calls == inner.calls == ["pack", "unpack"]


def test_py_layer():
    class Square(PyLayer):
        @staticmethod
        def forward(ctx, x):
            y = x * x
            ctx.save_for_backward(x, y, 2)
            return y

        @staticmethod
        def backward(ctx, g):
            x, y, two = ctx.saved_tensor()
            return g * x * two + g * (y - y)

    x, log = leaf([3.0]), Log()
    with log.block():
        y = Square.apply(x)
    (g,) = paddle.grad(y, x, create_graph=True)
    assert log.calls == ["pack", "pack", "unpack", "unpack"]
    assert g.item() == 6
    assert paddle.grad(g, x)[0].item() == 2


def test_several_operands_and_outputs():
    x, log = leaf([[0.1, 0.2], [0.3, 0.4]]), Log()
    with log.block():
        values, _ = paddle.topk(x.exp(), 1)
    values.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [[0, np.exp(0.2)], [0, np.exp(0.4)]])


def test_hooks_compute_without_being_recorded():
    """Otherwise what they compute would be packed in turn, for ever."""
    x = leaf([2.0])
    with saved_tensors_hooks(lambda t: t * 2, lambda t: t / 2):
        y = x * x
    y.backward()
    assert x.grad.item() == 4


def test_other_threads_are_left_alone():
    log, results = Log(), []

    def work():
        x = leaf([3.0])
        (x * x).backward()
        results.append(x.grad.item())

    with log.block():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert results == [6]
    assert log.calls == []


def test_the_block_ends_with_an_error():
    log = Log()
    with pytest.raises(KeyError), log.block():
        raise KeyError
    leaf([1.0]) * leaf([2.0])
    assert log.calls == []


class TestRefused:
    @pytest.mark.parametrize("hooks", [(1, lambda t: t), (lambda t: t, None)])
    def test_what_is_no_function(self, hooks):
        with pytest.raises(TypeError, match=r"\(saved_tensors_hooks\) .*pack_hook must be callable"):
            saved_tensors_hooks(*hooks)

    def test_what_is_no_tensor(self):
        with saved_tensors_hooks(lambda t: t, lambda t: 5):  # type: ignore[arg-type]
            y = leaf([1.0]).sin()
        with pytest.raises(TypeError, match="the unpack hook must give a Tensor; received int"):
            y.backward()
