"""What operands may be: numbers, aliases, `out=`, other devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.core.aval import make_aval
from proa.core.place import make_place
from proa.eager.declare import op
from proa.eager.dispatch import _same_place, record
from proa.eager.tensor import wrap
from proa.ir.operation import find_operation
from proa.ir.recorder import LOCAL, flush_current, recording_gradients, switch_gradients


def test_operands_on_one_device_stay_as_they_are() -> None:
    x, y = paddle.to_tensor([1.0]), paddle.to_tensor([2.0])
    assert _same_place(find_operation("add"), [x, y, 2.0, None]) == [x, y, 2.0, None]


@pytest.mark.parametrize(
    ("name", "call", "operands", "attributes"),
    [
        ("multiply", lambda x: x * 2.5, (2.5,), ()),
        ("add", lambda x: x + 3, (3,), ()),
        ("transpose", lambda x: paddle.transpose(x, [1, 0]), (), ((1, 0),)),
    ],
)
def test_generated_and_general_recording_take_the_same_step(
    name: str, call: Any, operands: tuple[Any, ...], attributes: tuple[Any, ...]
) -> None:
    x = paddle.to_tensor(np.ones((2, 3), "float32"))
    ends = []
    for act in (call, lambda x: record(find_operation(name), [x, *operands], attributes)):
        flush_current()
        made = act(x)
        ends.append((LOCAL.segment.node, list(LOCAL.segment.scalars), made.shape))
    assert ends[0] == ends[1]
    assert ends[0][0] is ends[1][0]


def test_gradients_are_switched_for_a_block_and_back_after_an_error() -> None:
    x = paddle.to_tensor([1.0], stop_gradient=False)
    with recording_gradients(False):
        assert (x * 2).stop_gradient
        with recording_gradients(True):
            assert not (x * 2).stop_gradient
        assert (x * 2).stop_gradient
    with pytest.raises(KeyError), recording_gradients(False):
        raise KeyError
    assert switch_gradients(False) is True
    assert not paddle.is_grad_enabled()
    assert switch_gradients(True) is False
    assert not (x * 2).stop_gradient


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


@pytest.mark.parametrize(
    "call",
    [
        lambda: paddle.full([], 2**63),
        lambda: paddle.to_tensor([1, 2]) + 2**63,
        lambda: paddle.clip(paddle.to_tensor([1, 2]), 0, 2**64),
        lambda: paddle.to_tensor([1, 2], dtype="int32") // 2**31,
        lambda: paddle.to_tensor([1, 2], dtype="int32") + 2**40,
        lambda: paddle.to_tensor([1, 2]) * -(2**63) * 2**70,
    ],
)
def test_an_integer_that_does_not_fit_raises(call: Any) -> None:
    for _ in range(5):
        with pytest.raises(OverflowError, match="does not fit into int"):
            call()


def test_large_integers_that_fit_are_exact() -> None:
    x = paddle.to_tensor([1, 2])
    for _ in range(5):
        np.testing.assert_array_equal((x + 2**62).numpy(), [2**62 + 1, 2**62 + 2])
        np.testing.assert_array_equal((x * 2**40).numpy(), [2**40, 2**41])


@pytest.mark.parametrize(
    "call",
    [
        lambda: paddle.sum("abc"),
        lambda: paddle.nan_to_num(None),
        lambda: paddle.masked_fill(3.5, True, 1.0),
        lambda: paddle.vstack(None),
    ],
)
def test_what_is_no_tensor_is_a_type_error(call: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        call()


def test_aliases_and_out() -> None:
    x = paddle.to_tensor([[1.0, 4.0], [9.0, 16.0]])
    np.testing.assert_array_equal(paddle.sum(input=x, dim=1).numpy(), [5, 25])
    np.testing.assert_array_equal(paddle.multiply(input=x, other=x).numpy(), x.numpy() ** 2)
    np.testing.assert_array_equal(x.pow(exponent=2).numpy(), x.numpy() ** 2)
    target = paddle.zeros([2, 2])
    assert paddle.sqrt(x, out=target) is target
    np.testing.assert_array_equal(target.numpy(), [[1, 2], [3, 4]])
    with pytest.raises(TypeError, match="multiple values"):
        paddle.tanh(x, input=x)
    with pytest.raises(TypeError, match="unexpected keyword"):
        paddle.tanh(x, flavour=1)
    with pytest.raises(TypeError, match="missing required argument 'y'"):
        paddle.multiply(x)
    with pytest.raises(TypeError, match="out must be a Tensor"):
        paddle.tanh(x, out=3)


def test_out_carries_the_gradient() -> None:
    x = paddle.to_tensor([0.5, 2.0], stop_gradient=False)
    target = paddle.zeros([2])
    paddle.exp(x, out=target)
    target.sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), np.exp([0.5, 2.0]), rtol=1e-6)


@pytest.mark.parametrize("taken", ["key", "out", "node"])
def test_names_that_binders_use_are_refused(taken: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def kernel(xp, {taken}): return {taken}", scope)
    with pytest.raises(TypeError, match=taken):
        op(taken)(scope["kernel"])
