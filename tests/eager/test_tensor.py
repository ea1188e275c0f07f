"""The Tensor: description, conversion, protocols, copies. Expected values are what Paddle 3.3.1 was seen to do."""

from __future__ import annotations

import copy
import gc
import math
import pickle
import sys
import types
import weakref

import numpy as np
import pytest

import proa as paddle

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
    "complex64", "complex128", "float8_e4m3fn", "float8_e5m2",
]  # fmt: skip


def test_description() -> None:
    x = paddle.to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert x.shape == [2, 3]
    assert x.shape == (2, 3)
    assert isinstance(x.shape, list)
    assert x.dtype == paddle.float32
    assert str(x.dtype) == "paddle.float32"
    assert (x.ndim, x.dim(), x.size, len(x)) == (2, 2, 6, 2)
    assert x.stop_gradient
    assert x.is_leaf
    assert x.grad is None
    assert str(x.place) == "Place(cpu)"
    assert x.strides == [3, 1]
    assert x.element_size() == 4
    assert x.inplace_version == 0


def test_the_shape_list_is_the_users_own() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    shape = x.shape
    shape.append(7)
    assert x.shape == [2]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_round_trips(dtype: str) -> None:
    x = paddle.to_tensor([0, 1, 1, 0]).astype(dtype)
    assert x.dtype == getattr(paddle, dtype)
    assert x.numpy().dtype == x.dtype.numpy_dtype
    np.testing.assert_array_equal(x.astype("float32").numpy(), [0, 1, 1, 0])
    again = pickle.loads(pickle.dumps(x))
    assert again.dtype == x.dtype
    np.testing.assert_array_equal(again.astype("float32").numpy(), [0, 1, 1, 0])


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (1.5, "float32"), (3, "int64"), (True, "bool"), (1 + 2j, "complex64"), ([1, 2.5], "float32"), ([True, 2], "int64"),
        (np.float64(1), "float64"), (np.zeros(2), "float64"), (np.zeros(2, "int32"), "int32"), ([], "float32"),
    ],
)  # fmt: skip
def test_to_tensor_dtypes(data: object, dtype: str) -> None:
    assert paddle.to_tensor(data).dtype == getattr(paddle, dtype)


@pytest.mark.parametrize("data", [[[1, 2], [3]], "text", None, {"a": 1}, [object()]])
def test_to_tensor_refuses_what_is_not_numbers(data: object) -> None:
    with pytest.raises((TypeError, ValueError), match="to_tensor"):
        paddle.to_tensor(data)


def test_to_tensor_copies() -> None:
    source = np.zeros(3, "float32")
    x = paddle.to_tensor(source)
    source[0] = 9.0
    assert x.tolist() == [0.0, 0.0, 0.0]
    array = x.numpy()
    array[1] = 5.0
    assert x.tolist() == [0.0, 0.0, 0.0]


def test_zero_dimensional() -> None:
    x = paddle.to_tensor(3.5)
    assert x.shape == []
    assert x.item() == 3.5
    assert float(x) == 3.5
    assert int(x) == 3
    assert bool(x)
    assert f"{x:.2f}" == "3.50"
    assert math.sqrt(paddle.to_tensor(4.0)) == 2.0
    with pytest.raises(TypeError):
        len(x)


def test_conversion_of_many_elements_is_refused() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    for convert in (float, int, bool, complex):
        with pytest.raises((ValueError, TypeError), match="one element"):
            convert(x)
    with pytest.raises(ValueError, match="item"):
        x.item()
    with pytest.raises(IndexError):
        x.item(7)
    assert x.item(1) == 2.0


def test_index_protocol() -> None:
    assert [10, 20, 30][paddle.to_tensor(1)] == 20
    with pytest.raises(TypeError, match="integer"):
        [10, 20][paddle.to_tensor(1.0)]


def test_array_protocols() -> None:
    import jax.numpy as jnp

    x = paddle.to_tensor([1.0, 2.0])
    assert np.asarray(x).dtype == np.float32
    assert np.asarray(x, dtype="float64").dtype == np.float64
    assert isinstance(np.ones(2, "float32") * x, paddle.Tensor)
    assert jnp.asarray(x).shape == (2,)
    np.testing.assert_array_equal(np.from_dlpack(x.cpu()), [1.0, 2.0])
    assert jnp.sin(jnp.asarray(x)).shape == (2,)


def test_hash_and_equality() -> None:
    x, y = paddle.to_tensor([1.0]), paddle.to_tensor([1.0])
    assert hash(x) != hash(y)
    assert len({x, y}) == 2
    assert (x == y).item() is True
    assert (x == None) is False  # noqa: E711
    assert (x != None) is True  # noqa: E711


def test_copies() -> None:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    x.note = "mine"
    deep = copy.deepcopy(x)
    assert deep is not x
    assert deep.note == "mine"
    assert not deep.stop_gradient
    assert deep.grad is None
    with paddle.no_grad():
        x.add_(paddle.to_tensor([1.0, 1.0]))
    assert deep.tolist() == [1.0, 2.0]
    clone = x.clone()
    assert not clone.stop_gradient
    assert not clone.is_leaf
    detached = x.detach()
    assert detached.stop_gradient
    assert pickle.loads(pickle.dumps(x)).stop_gradient is False


def test_conversions() -> None:
    x = paddle.to_tensor([1.6, -1.6])
    assert x.astype("int64").tolist() == [1, -1]
    assert x.cast("bool").dtype == paddle.bool
    assert x.to("float64").dtype == paddle.float64
    assert x.cpu() is x or x.cpu().tolist() == x.tolist()
    with pytest.raises(TypeError, match="not a data type"):
        x.astype("float33")


def test_version_counts_in_place_changes() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    x.add_(paddle.to_tensor([1.0, 1.0]))
    x[0] = 5.0
    assert x.inplace_version == 2
    assert x.tolist() == [5.0, 3.0]
    y = x
    x += 1.0
    assert y.tolist() == [5.0, 3.0], "+= makes a new tensor, as in Paddle"


def test_memory_is_freed_with_the_tensor() -> None:
    x = paddle.to_tensor(np.ones(10, "float32"))
    y = x * 2.0
    y.numpy()
    reference = weakref.ref(y)
    del y
    assert reference() is None
    gc.collect()


def test_printing() -> None:
    text = str(paddle.to_tensor([[1.0, 2.0]]))
    assert text == "Tensor(shape=[1, 2], dtype=float32, place=Place(cpu), stop_gradient=True,\n       [[1., 2.]])"


def test_data_while_another_thread_imports_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", types.ModuleType("jax"))  # as it is in the middle of that
    assert paddle.to_tensor([1.5, 2.0]).tolist() == [1.5, 2.0]
    assert paddle.to_tensor(np.arange(3)).tolist() == [0, 1, 2]


def test_copies_of_large_arrays_lie_where_xla_reads_them() -> None:
    """XLA copies arrays that begin elsewhere once more, at each run."""
    base = np.arange(20001, dtype=np.float32)
    for data, dtype in (
        (base[1:], None),
        (base[1:].reshape(100, 200).T, None),
        (base[1:], "float64"),
        (base[1:] > 7, None),
    ):
        made = paddle.to_tensor(data, dtype)
        found = made._data()
        assert found.ctypes.data % 64 == 0
        assert found.flags.c_contiguous
        assert not np.may_share_memory(found, data)
        np.testing.assert_array_equal(made.numpy(), data)
