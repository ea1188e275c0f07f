"""What bounds captures, and what is refused instead of leaking."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn
from proa.ir.capture import CaptureError


class Masked(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.mask: Any = paddle.to_tensor([1.0, 0.0])
        self.captures = 0

    def forward(self, x: Any) -> Any:
        self.captures += 1
        return x * self.mask


def one() -> Any:
    return paddle.to_tensor([1.0, -2.0])


def test_a_buffer_that_is_replaced_at_each_call_is_captured_a_bounded_number_of_times() -> None:
    net = paddle.jit.to_static(Masked(), max_programs=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for step in range(20):
            net.mask = paddle.to_tensor([float(step), 1.0])
            assert net(one()).numpy().tolist() == [float(step), -2.0]
    texts = [w for w in caught if "(to_static)" in str(w.message)]
    assert len(texts) == 1
    assert "other members" in str(texts[0].message)
    assert texts[0].filename == __file__
    assert sum(map(len, net.forward._programs.values())) <= 2


def test_with_full_graph_it_is_captured_again_and_right() -> None:
    net = paddle.jit.to_static(Masked(), max_programs=2, full_graph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for step in range(12):
            net.mask = paddle.to_tensor([float(step), 1.0])
            assert net(one()).numpy().tolist() == [float(step), -2.0]
    assert net.captures == 12


@pytest.mark.parametrize("kind", ["list", "dictionary"])
def test_tensors_put_into_a_container_from_outside(kind: str) -> None:
    def made() -> Any:
        history: Any = [] if kind == "list" else {}

        def function(x: Any) -> Any:
            if kind == "list":
                history.append(x * 2)
                return sum(history)
            history[len(history)] = x * 2
            return sum(history.values())

        return function, history

    captured, history = made()
    static = paddle.jit.to_static(captured)
    plain, _ = made()
    with pytest.warns(RuntimeWarning, match="history comes from outside, and the code puts tensors of the graph"):
        first = static(one())
    np.testing.assert_allclose(first.numpy(), plain(one()).numpy())
    for _ in range(3):
        np.testing.assert_allclose(static(one()).numpy(), plain(one()).numpy())
    assert len(history) == 4
    strict, history = made()
    with pytest.raises(CaptureError, match="puts tensors of the graph into it"):
        paddle.jit.to_static(strict, full_graph=True)(one())
    assert len(history) == 0


def test_values_of_tensors_that_are_put_outside_keep_python_values() -> None:
    seen: list[Any] = ["first"]

    @paddle.jit.to_static(full_graph=True)
    def function(x: Any) -> Any:
        seen.append(x.shape[0])
        return x * 2

    function(one())
    function(one())
    assert seen == ["first", 2]
