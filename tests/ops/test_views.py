"""What shares memory and what does not, as observed in Paddle 3.3.1, and functions that change
shapes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle

DATA = np.arange(24, dtype="float32").reshape(2, 3, 4)


def source() -> Any:
    return paddle.to_tensor(DATA)


SHARING = {
    "x[0]": lambda x: x[0],
    "x[0:1]": lambda x: x[0:1],
    "x[:]": lambda x: x[:],
    "x[...]": lambda x: x[...],
    "x[0,1,2]": lambda x: x[0, 1, 2],
    "x[:,::2]": lambda x: x[:, ::2],
    "x[::-1]": lambda x: x[::-1],
    "x[None]": lambda x: x[None],
    "x[int tensor]": lambda x: x[paddle.to_tensor(0)],
    "x[pending int tensor]": lambda x: x[paddle.to_tensor(0) + paddle.to_tensor(1), 1:],
    "slice": lambda x: paddle.slice(x, [1], [1], [3]),
    "strided_slice": lambda x: paddle.strided_slice(x, [2], [3], [0], [-2]),
    "iteration": lambda x: next(iter(x)),
    "unbind": lambda x: paddle.unbind(x, 1)[2],
    "reshape": lambda x: x.reshape([4, 6]),
    "flatten": lambda x: x.flatten(1),
    "view": lambda x: x.view([6, 4]),
    "view dtype": lambda x: x.view("int32"),
    "view_as": lambda x: x.view_as(paddle.zeros([24])),
    "unflatten": lambda x: x.unflatten(2, [2, 2]),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "squeeze": lambda x: x.squeeze(),
    "transpose": lambda x: x.transpose([2, 0, 1]),
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "moveaxis": lambda x: paddle.moveaxis(x, 0, 2),
    "swapaxes": lambda x: paddle.swapaxes(x, 0, 1),
    "detach": lambda x: x.detach(),
    "data": lambda x: x.data,
}
COPYING = {
    "clone": lambda x: x.clone(),
    "cast": lambda x: x.cast("float32"),
    "to": lambda x: x.to("float32"),
    "assign": lambda x: paddle.assign(x),
    "to_tensor": lambda x: paddle.to_tensor(x),
    "expand": lambda x: x.expand([2, 3, 4]),
    "broadcast_to": lambda x: x.broadcast_to([2, 3, 4]),
    "split": lambda x: x.split(2)[0],
    "chunk": lambda x: x.chunk(2)[0],
    "unstack": lambda x: x.unstack()[0],
    "x[[0,1]]": lambda x: x[[0, 1]],
    "x[mask]": lambda x: x[x > 3],
    "x[True]": lambda x: x[True],
    "gather": lambda x: x.gather(paddle.to_tensor([0])),
    "flip": lambda x: x.flip(0),
    "dropout": lambda x: paddle.nn.functional.dropout(x, 0.5, training=False),
}
SAME = {
    "reshape": lambda x: x.reshape([2, 3, 4]),
    "astype": lambda x: x.astype("float32"),
    "float": lambda x: x.float(),
    "to": lambda x: x.to("cpu"),
    "cpu": lambda x: x.cpu(),
    "plus": lambda x: +x,
    "dropout": lambda x: paddle.nn.functional.dropout(x, 0.0),
    "pin_memory": lambda x: x.pin_memory(),
}


@pytest.mark.parametrize("name", SHARING)
def test_a_change_of_the_source_is_seen_in_the_view(name: str) -> None:
    make = SHARING[name]
    x = source()
    view = make(x)
    x[...] = paddle.to_tensor(DATA * 3 + 1)
    np.testing.assert_array_equal(view.numpy(), make(paddle.to_tensor(DATA * 3 + 1)).numpy())
    assert view.inplace_version == x.inplace_version == 1


@pytest.mark.parametrize("name", SHARING)
def test_a_change_of_the_view_is_seen_in_the_source(name: str) -> None:
    make = SHARING[name]
    x = source()
    view, other = make(x), make(x)
    before = view.numpy()
    view[...] = 0
    assert (view.numpy() == 0).all()
    assert (other.numpy() == 0).all()
    changed = x.numpy()
    if name != "view dtype":
        assert (changed != DATA).sum() == (before != 0).sum()
        assert set(DATA[changed != DATA].ravel().tolist()) == set(before.ravel().tolist()) - {0.0}
    else:
        assert (changed == 0).all()


@pytest.mark.parametrize("name", COPYING)
def test_copies_share_nothing(name: str) -> None:
    x = source()
    copied = COPYING[name](x)
    assert copied is not x
    before = copied.numpy()
    x[...] = 100.0
    np.testing.assert_array_equal(copied.numpy(), before)
    copied[...] = 50.0
    assert (x.numpy() == 100).all()


@pytest.mark.parametrize("name", SAME)
def test_what_changes_nothing_returns_the_tensor_itself(name: str) -> None:
    x = source()
    assert SAME[name](x) is x


def test_chains_of_indices_write_through() -> None:
    x = source()
    x[0][1][2] = 50.0
    assert x.numpy()[0, 1, 2] == 50
    rows = [x[i] for i in range(2)]
    x[1, 0] = paddle.full([4], 7.0)
    assert (rows[1].numpy()[0] == 7).all()
    rows[0][:, 0:2] = -1.0
    assert (x.numpy()[0, :, :2] == -1).all()


def test_views_of_a_moving_position_are_refreshed() -> None:
    x = source()
    for i in range(2):
        row = x[i]
        x[i, 0] = float(i) + 100
        np.testing.assert_array_equal(row.numpy()[0], np.full(4, i + 100))


def test_in_place_reshape_keeps_sharing() -> None:
    x = source()
    view, row = x.reshape([6, 4]), x[1]
    assert x.reshape_([4, 6]) is x
    assert x.shape == [4, 6]
    x[0] = -1.0
    assert (view.numpy().ravel()[:6] == -1).all()
    row[...] = 9.0
    np.testing.assert_array_equal(x.numpy().ravel()[12:], np.full(12, 9))
    x.flatten_()
    x.unsqueeze_(0)
    x.squeeze_()
    x[0] = 33.0
    assert view.numpy()[0, 0] == 33
    y = paddle.ones([2, 3])
    y.stop_gradient = False
    with pytest.raises(ValueError, match="leaf"):
        y.reshape_([3, 2])
    z = y * 2.0
    z.unsqueeze_(0)
    (z * 3.0).sum().backward()
    assert (y.grad.numpy() == 6).all()
    assert z.shape == [1, 2, 3]


def test_set_value_and_copy() -> None:
    x = source()
    row = x[0]
    x.set_value(np.ones((2, 3, 4), "float32"))
    assert x.inplace_version == 0
    assert (row.numpy() == 1).all()
    row.copy_(paddle.full([3, 4], 2.0), True)
    assert (x.numpy()[0] == 2).all()
    parameter = paddle.ones([2])
    parameter.stop_gradient = False
    parameter.set_value(paddle.full([2], 4.0))
    assert parameter.is_leaf
    (parameter * parameter).sum().backward()
    assert parameter.grad.tolist() == [8, 8]
    for value, error in (
        (np.ones(3, "float32"), ValueError),
        (np.ones(2), ValueError),
        ({"a": 1}, TypeError),
    ):
        with pytest.raises(error):
            parameter.set_value(value)
    with pytest.raises(RuntimeError, match="type"):
        parameter.copy_(paddle.ones([2], "int64"))
    with pytest.raises(ValueError, match="shape"):
        parameter.copy_(paddle.ones([3]))
    values = [3.0, 5.0]
    parameter.set_value(values)
    assert parameter.tolist() == values


def test_detach() -> None:
    x = paddle.ones([2])
    x.stop_gradient = False
    y = x * 2.0
    detached = y.detach()
    assert detached.stop_gradient
    assert detached.is_leaf
    assert y.detach_() is y
    assert y.is_leaf
    assert y.stop_gradient
    z = x * 3.0
    (z * z.detach()).sum().backward()
    assert x.grad.tolist() == [9, 9]


# ---- types and devices ---------------------------------------------------------------------------


def test_methods_that_cast() -> None:
    x = paddle.to_tensor([1.5, -2.0])
    names = {
        "float": "float32",
        "half": "float16",
        "bfloat16": "bfloat16",
        "double": "float64",
        "int": "int32",
        "long": "int64",
        "short": "int16",
        "char": "int8",
        "bool": "bool",
        "cfloat": "complex64",
        "cdouble": "complex128",
    }
    for method, dtype in names.items():
        converted = getattr(x, method)()
        assert converted.dtype == dtype
        np.testing.assert_array_equal(converted.numpy().astype("complex128"), x.numpy().astype(converted.numpy().dtype))
    assert x.type_as(paddle.ones([1], "int64")).dtype == paddle.int64
    with pytest.raises(TypeError):
        x.astype("foo")


def test_to_takes_devices_and_types_in_any_order() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    x.stop_gradient = False
    assert x.to("int32").dtype == paddle.int32
    assert x.to(paddle.float64).dtype == paddle.float64
    assert x.to("cpu", "float64").dtype == paddle.float64
    assert x.to(dtype="float64", device="cpu", blocking=True).place.is_cpu_place()
    assert x.to(paddle.ones([1], "int64")).dtype == paddle.int64
    assert x.to("float64", True).dtype == paddle.float64
    x.to("float64").sum().backward()
    assert x.grad.dtype == paddle.float32
    for bad, error in (
        ((), TypeError),
        ((3,), ValueError),
        (("no such thing!",), ValueError),
        (("cpu", "cpu"), TypeError),
    ):
        with pytest.raises(error):
            x.to(*bad)
    with pytest.raises(TypeError):
        x.to("cpu", copy_tensor=True)
    assert x.get_device() == -1


# ---- shapes: errors that samples do not show -----------------------------------------------------


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (lambda x: paddle.squeeze(x, 3), ValueError),
        (lambda x: paddle.unsqueeze(x, 4), ValueError),
        (lambda x: paddle.unsqueeze(x, -5), ValueError),
        (lambda x: paddle.unsqueeze(x, 1.5), TypeError),
        (lambda x: paddle.flatten(x, 2, 1), ValueError),
        (lambda x: paddle.flatten(x, 3), ValueError),
        (lambda x: paddle.unflatten(x, 2, [3, 2]), ValueError),
        (lambda x: paddle.expand(x, [4, 3, 4]), ValueError),
        (lambda x: paddle.expand(x, [4]), ValueError),
        (lambda x: paddle.expand(x, [-1, 2, 3, 4]), ValueError),
        (lambda x: paddle.expand_as(x, paddle.ones([3])), ValueError),
        (lambda x: paddle.broadcast_tensors([x, paddle.ones([5])]), ValueError),
        (lambda x: paddle.broadcast_tensors(x), ValueError),
        (lambda x: paddle.tile(x, [-1]), ValueError),
        (lambda x: paddle.repeat_interleave(x, 0, 0), ValueError),
        (lambda x: paddle.repeat_interleave(x, paddle.to_tensor([1, 2, 3]), 0), ValueError),
        (lambda x: paddle.flip(x, 5), ValueError),
        (lambda x: paddle.flip(x, [0, 0]), ValueError),
        (lambda x: paddle.roll(x, 1, 5), ValueError),
        (lambda x: paddle.roll(x, [1, 2], 0), ValueError),
        (lambda x: paddle.moveaxis(x, [0, 0], [1, 2]), ValueError),
        (lambda x: paddle.moveaxis(x, [0, 1], [1]), ValueError),
        (lambda x: paddle.view(x[:, :, :3], "float64"), ValueError),
        (lambda x: paddle.ones([3]).mT, ValueError),
        (lambda x: paddle.concat([]), ValueError),
        (lambda x: paddle.concat(x), ValueError),
        (lambda x: paddle.concat([x, 1]), ValueError),
        (lambda x: paddle.concat([x, x], 3), ValueError),
        (lambda x: paddle.concat([x, paddle.ones([2, 3, 5])]), ValueError),
        (lambda x: paddle.concat([x, x.astype("float64")]), ValueError),
        (lambda x: paddle.concat([paddle.to_tensor(1.0)]), ValueError),
        (lambda x: paddle.stack([x, x[0]]), ValueError),
        (lambda x: paddle.stack([x, x], 4), ValueError),
        (lambda x: paddle.stack([]), ValueError),
        (lambda x: paddle.split(x, 2, 1), ValueError),
        (lambda x: paddle.split(x, 0), ValueError),
        (lambda x: paddle.split(x, -1), ValueError),
        (lambda x: paddle.split(x, [1, 1], 1), ValueError),
        (lambda x: paddle.split(x, [-1, -1], 1), ValueError),
        (lambda x: paddle.split(x, 2.0), TypeError),
        (lambda x: paddle.split(x, 2, 5), ValueError),
        (lambda x: paddle.chunk(x, 2, 1), ValueError),
        (lambda x: paddle.unbind(x, 3), ValueError),
        (lambda x: paddle.unbind(paddle.to_tensor(1.0)), ValueError),
        (lambda x: paddle.unstack(x, 0, 3), ValueError),
        (lambda x: paddle.nn.functional.pad(x, [1, 1], mode="foo"), ValueError),
        (lambda x: paddle.nn.functional.pad(x, [1, 1, 1]), ValueError),
        (lambda x: paddle.nn.functional.pad(x, [4, 2], mode="reflect"), ValueError),
        (lambda x: paddle.nn.functional.pad(x, [1, 1], data_format="NCHW"), ValueError),
        (lambda x: paddle.nn.functional.pad(x, [-3, -3]), ValueError),
        (lambda x: paddle.nn.functional.pad(x, "a"), TypeError),
    ],
)
def test_misuse(act: Any, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        act(source())
    assert str(caught.value).startswith("(")


def test_integers_may_be_given_one_by_one() -> None:
    x = source()
    assert x.expand(5, 2, 3, 4).shape == [5, 2, 3, 4]
    assert x.view(6, 4).shape == [6, 4]
    assert x.tile(2, 1, 1).shape == [4, 3, 4]
    assert x.clone().reshape_(6, 4).shape == [6, 4]
    assert x.repeat(2, 1, 1).shape == [4, 3, 4]
    assert x.new_zeros(2, 2).shape == [2, 2]
    assert paddle.zeros(2, 3).shape == [2, 3]
    assert paddle.ones(paddle.to_tensor([2, 3])).shape == [2, 3]


@pytest.mark.parametrize(
    ("shape", "axis", "count"), [((2, 3, 4), 1, 3), ((5,), 0, 2), ((2, 3), None, 4), ((2, 0, 3), 1, 2)]
)
def test_a_whole_number_of_repetitions_needs_no_indices(shape: tuple[int, ...], axis: int | None, count: int) -> None:
    data = np.random.default_rng(0).normal(size=shape).astype("float32")
    x = paddle.to_tensor(data, stop_gradient=False)
    repeated = paddle.repeat_interleave(x, count, axis)
    np.testing.assert_array_equal(repeated.numpy(), np.repeat(data, count, axis))
    (repeated * repeated).sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), 2 * count * data, rtol=1e-6)


def test_a_repeated_tensor_is_a_copy() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    once = paddle.repeat_interleave(x, 1, 0)
    once.add_(paddle.ones([2]))
    assert x.tolist() == [1.0, 2.0]
