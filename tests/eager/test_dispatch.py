"""Operands on several devices: what is on the CPU follows, two accelerators are refused."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa.core.aval import make_aval
from proa.core.place import make_place
from proa.eager.dispatch import _same_place
from proa.eager.tensor import wrap
from proa.ir.operation import find_operation


def test_operands_on_one_device_stay_as_they_are() -> None:
    x, y = paddle.to_tensor([1.0]), paddle.to_tensor([2.0])
    assert _same_place(find_operation("add"), [x, y, 2.0, None]) == [x, y, 2.0, None]


def test_two_accelerators_are_refused() -> None:
    array = np.ones(2, "float32")
    tensors = [wrap(array, make_aval((2,), array.dtype, make_place("gpu", index))) for index in (0, 1)]
    with pytest.raises(ValueError, match=r"different devices.*gpu:0.*gpu:1"):
        _same_place(find_operation("add"), tensors)


@pytest.mark.gpu
def test_a_host_tensor_follows_and_keeps_its_gradient() -> None:
    host = paddle.to_tensor([1.0, 2.0], place="cpu", stop_gradient=False)
    device = paddle.to_tensor([3.0, 4.0], place="gpu:0")
    product = host * device
    assert product.place == paddle.CUDAPlace(0)
    product.sum().backward()
    assert host.grad.place == paddle.CPUPlace()
    assert host.grad.tolist() == [3.0, 4.0]
