"""Tensors from other things, windows, positions, and what a tensor tells of itself."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle

SMALL = np.arange(6, dtype="float32").reshape(2, 3)


# ---- from other things ---------------------------------------------------------------------------


@pytest.mark.parametrize("make", [paddle.as_tensor, paddle.asarray, paddle.from_numpy])
def test_arrays_are_copied(make: Any) -> None:
    array = SMALL.copy()
    x = make(array)
    array[0, 0] = 99
    np.testing.assert_array_equal(x.numpy(), SMALL)
    assert x.dtype == paddle.float32
    assert x.stop_gradient


def test_as_tensor_and_asarray_options() -> None:
    x = paddle.to_tensor(SMALL)
    assert paddle.as_tensor(x) is not x
    assert not paddle.as_tensor([1, 2.0], requires_grad=True).stop_gradient
    assert paddle.asarray([1, 2], dtype="float64", device="cpu").dtype == paddle.float64
    assert paddle.asarray(1.5).shape == []
    with pytest.raises(TypeError, match="NumPy array"):
        paddle.from_numpy([1])


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("BFloat16Tensor", "bfloat16"), ("BoolTensor", "bool"), ("ByteTensor", "uint8"), ("CharTensor", "int8"),
        ("DoubleTensor", "float64"), ("FloatTensor", "float32"), ("HalfTensor", "float16"), ("IntTensor", "int32"),
        ("LongTensor", "int64"), ("ShortTensor", "int16"),
    ],
)  # fmt: skip
def test_tensors_of_a_type(name: str, dtype: str) -> None:
    make = getattr(paddle, name)
    assert make is getattr(paddle.device, name)
    assert make is getattr(paddle.cuda, name)
    assert make([1, 0]).dtype.name == dtype
    assert make([1, 0]).astype("float32").numpy().tolist() == [1, 0]
    assert make(2, 3).shape == [2, 3]
    assert make().shape == [0]
    assert make(paddle.to_tensor(SMALL), device="cpu").dtype.name == dtype
    for wrong in (lambda: make(1.5), lambda: make([1], [2]), lambda: make(-1), lambda: make(None)):
        with pytest.raises(ValueError, match=name):
            wrong()


def test_dlpack() -> None:
    x = paddle.to_tensor(SMALL)
    np.testing.assert_array_equal(paddle.from_dlpack(paddle.to_dlpack(x)).numpy(), SMALL)
    np.testing.assert_array_equal(paddle.from_dlpack(SMALL).numpy(), SMALL)
    np.testing.assert_array_equal(np.from_dlpack(x), SMALL)
    with pytest.raises(TypeError, match="__dlpack__"):
        paddle.from_dlpack([1])


def test_a_mapped_file(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_bytes(SMALL.tobytes())
    storage = paddle.MmapStorage(str(path), 24)
    assert storage.get_slice("float32", 1, 5, 2).numpy().tolist() == [1, 3]
    assert storage.get_slice().shape == [24]
    with pytest.raises(ValueError, match="within"):
        storage.get_slice("float32", 0, 7)
    for name, size in ((path, 48), (tmp_path / "none", 4)):
        with pytest.raises(RuntimeError, match="MmapStorage"):
            paddle.MmapStorage(str(name), size)


def test_tolist_and_size() -> None:
    x = paddle.to_tensor(SMALL)
    assert paddle.tolist(x) == SMALL.tolist()
    assert isinstance(x.shape, paddle.Size)
    assert paddle.Size((2, 3)).numel() == 6


def test_print_options() -> None:
    try:
        paddle.set_printoptions(precision=2)
        assert "0.33" in str(paddle.to_tensor([1 / 3]))
        assert "0.333" not in str(paddle.to_tensor([1 / 3]))
    finally:
        paddle.set_printoptions(precision=8)


# ---- windows and positions -----------------------------------------------------------------------

WINDOWS = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name: str) -> None:
    make = getattr(paddle, name)
    assert make(0).shape == [0]
    assert make(1).numpy().tolist() == [1]
    np.testing.assert_allclose(make(6).numpy(), make(7, False).numpy()[:-1], rtol=1e-6)
    assert not make(3, requires_grad=True).stop_gradient
    assert make(3, dtype=None).dtype == paddle.float32
    for wrong in (-1, 3.5, "3", True):
        with pytest.raises(ValueError, match="window_length"):
            make(wrong)
    with pytest.raises(TypeError, match="floating"):
        make(3, dtype="int32")


def test_windows_as_paddle_computes_them() -> None:
    observed = {
        "bartlett_window": [0.0, 0.4, 0.8, 0.8, 0.4],
        "blackman_window": [0.0, 0.20077011, 0.84922981, 0.84922981, 0.20077011],
        "hamming_window": [0.08, 0.39785218, 0.91214782, 0.91214782, 0.39785218],
        "hann_window": [0.0, 0.34549147, 0.90450847, 0.90450847, 0.34549147],
        "kaiser_window": [5.2773437e-05, 0.10171971, 0.79293942, 0.79293942, 0.10171971],
    }
    for name, values in observed.items():
        np.testing.assert_allclose(getattr(paddle, name)(5).numpy(), values, rtol=1e-6, atol=1e-7)


def test_range_includes_its_end() -> None:
    assert paddle.range(5).numpy().tolist() == [0, 1, 2, 3, 4, 5]
    assert paddle.range(0, 5, 2).dtype == paddle.float32
    assert paddle.range(paddle.to_tensor(0), paddle.to_tensor(4)).shape == [5]
    with pytest.raises(RuntimeError, match="away"):
        paddle.range(5, 0, 2)
    with pytest.raises(ValueError, match="step"):
        paddle.range(0, 5, 0)
    with pytest.raises(TypeError, match="real"):
        paddle.range(0, math.inf)


@pytest.mark.parametrize("function", [paddle.tril_indices, paddle.triu_indices])
def test_triangles(function: Any) -> None:
    for wrong in (
        lambda: function(-1, 2),
        lambda: function(1.5, 2),
        lambda: function(2, "3"),
        lambda: function(2, 2, 0.5),
    ):
        with pytest.raises(TypeError, match="integer"):
            wrong()
    with pytest.raises(RuntimeError, match="int32"):
        function(2, 2, dtype="float32")


# ---- constants, types, old interfaces ------------------------------------------------------------


def test_constants_and_types() -> None:
    assert (paddle.pi, paddle.e, paddle.inf) == (math.pi, math.e, math.inf)
    assert math.isnan(paddle.nan)
    assert paddle.newaxis is None
    names = {
        "half": "float16", "float": "float32", "double": "float64", "int": "int32", "long": "int64",
        "short": "int16", "cfloat": "complex64", "cdouble": "complex128",
    }  # fmt: skip
    for name, dtype in names.items():
        assert getattr(paddle, name) is getattr(paddle, dtype)
    assert isinstance(paddle.pstring, paddle.dtype)
    assert paddle.pstring != paddle.raw
    assert pickle.loads(pickle.dumps(paddle.raw)).name == "raw"
    with pytest.raises(TypeError, match="pstring"):
        paddle.zeros([2], dtype=paddle.pstring)


def test_leftovers() -> None:
    assert paddle.in_dynamic_mode() is True
    assert paddle.disable_signal_handler() is None
    assert paddle.check_shape([1, 2], "op") is None
    reader = paddle.batch(lambda: iter(range(5)), 2)
    assert list(reader()) == [[0, 1], [2, 3], [4]]
    assert list(paddle.batch(lambda: iter(range(5)), 2, True)()) == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match="batch_size"):
        paddle.batch(reader, 0)
    try:
        paddle.set_default_dtype(d="float64")
        assert paddle.ones([1]).dtype == paddle.float64
    finally:
        paddle.set_default_dtype("float32")
    for name in ("conv1d", "conv2d", "conv3d", "adaptive_avg_pool1d", "group_norm", "layer_norm"):
        assert getattr(paddle, name) is getattr(paddle.nn.functional, name)


@pytest.mark.parametrize(("shape", "axis"), [((), 0), ((3,), 0), ((2, 3), 1), ((2, 3, 2), 0), ((2, 3, 2, 2), 1)])
def test_softmax_without_an_axis(shape: tuple[int, ...], axis: int) -> None:
    x = paddle.to_tensor(np.random.default_rng(0).normal(size=shape).astype("float32"))
    exponent = np.exp(x.numpy())
    wanted = exponent / exponent.sum(axis, keepdims=True) if shape else np.float32(1)
    np.testing.assert_allclose(paddle.softmax(x).numpy(), wanted, rtol=1e-5)
    np.testing.assert_allclose(x.softmax(dim=axis).numpy(), wanted, rtol=1e-5)


# ---- what a tensor tells -------------------------------------------------------------------------


def test_attributes_of_a_dense_tensor() -> None:
    x = paddle.to_tensor(SMALL)
    assert (x.stride(), x.stride(0), x.stride(-1), x.sum().stride()) == ([3, 1], 3, 1, [])
    assert (x.offset, x.layout, x.type.name, x.type.value) == (0, "NCHW", "DENSE_TENSOR", 7)
    assert x.placements is x.process_mesh is x.num_shard is None
    assert x.get_selected_rows() is None
    assert x.pin_memory(blocking=False) is x
    with pytest.raises(ValueError, match="axis"):
        x.stride(9)
    for attempt in (x.rows, x.get_map_tensor, x.__tvm_ffi_env_stream__):
        with pytest.raises(RuntimeError, match="float32"):
            attempt()
    for attempt in (x.set_vocab, x.set_string_list):
        with pytest.raises(NotImplementedError, match="numbers"):
            attempt({})
    assert hasattr(x, "block")  # as Paddle's has, for code that asks a parameter for its program
    for name in ("__cuda_array_interface__", "__c_dlpack_exchange_api__", "__dlpack_c_exchange_api__"):
        assert not hasattr(x, name)
    assert not hasattr(paddle.Tensor, "__c_dlpack_exchange_api__")


def test_the_gradient_under_its_other_name() -> None:
    x = paddle.to_tensor(SMALL, stop_gradient=False)
    assert not hasattr(x.grad_, "numpy")
    (x * 2.0).sum().backward()
    assert x.grad_.numpy().tolist() == [[2, 2, 2], [2, 2, 2]]
    x.grad_ = paddle.ones([2, 3])
    assert x.grad.numpy().sum() == 6


def test_old_operators_and_numpy() -> None:
    x = paddle.to_tensor(SMALL + 1)
    np.testing.assert_array_equal(x.__div__(2).numpy(), x.numpy() / 2)
    np.testing.assert_allclose(x.__rdiv__(2).numpy(), 2 / x.numpy())
    assert x[0, 1].__long__() == 2
    assert x[0, 1].__nonzero__() is True
    assert isinstance(np.ones(3, "float32") * x, paddle.Tensor)
    assert isinstance(np.float64(2) * x, paddle.Tensor)
    assert paddle.Tensor.__array_ufunc__ is None
    with pytest.raises(TypeError, match="ufunc"):
        np.add(x, x)


def test_made_by_the_class() -> None:
    made = paddle.Tensor.create_tensor("int32", name="t", persistable=True)
    assert (made.dtype.name, made.name, made.persistable, made.size) == ("int32", "t", True, 0)
    parameter = paddle.Tensor.create_parameter([2], "float32")
    assert parameter.shape == [2]
    assert not parameter.stop_gradient


# ---- another storage -----------------------------------------------------------------------------


def test_resize() -> None:
    x = paddle.to_tensor(SMALL)
    assert x.resize_([2, 2]) is x
    assert x.numpy().tolist() == [[0, 1], [2, 3]]
    assert x.resize_([3, 2], fill_zero=True).numpy().tolist() == [[0, 1], [2, 3], [0, 0]]
    assert x.resize_((6,)).shape == [6]
    assert x.resize_([0, 3]).resize_([2, 0]).shape == [2, 0]
    for wrong in (4, [-1, 2]):
        with pytest.raises(ValueError, match="resize_"):
            x.resize_(wrong)
    leaf = paddle.to_tensor(SMALL, stop_gradient=False)
    with pytest.raises(ValueError, match="leaf"):
        leaf.resize_([3])
    y = leaf * 2.0
    y.resize_([2, 2])
    y.sum().backward()
    assert leaf.grad.numpy().tolist() == [[2, 2, 2], [2, 0, 0]]


def test_set_shares_memory() -> None:
    source = paddle.arange(6, dtype="float32")
    x = paddle.to_tensor(SMALL)
    old_view = x[0]
    assert x.set_(source) is x
    source.add_(paddle.ones([6]))
    assert x.numpy().tolist() == [1, 2, 3, 4, 5, 6]
    assert old_view.numpy().tolist() == [0, 1, 2]
    x.zero_()
    assert source.numpy().sum() == 0
    y = paddle.zeros([1]).set_(paddle.arange(6, dtype="float32"), [2, 2], [1, 2], 4)
    assert y.numpy().tolist() == [[1, 3], [2, 4]]
    assert paddle.zeros([1]).set_(paddle.arange(6, dtype="float32"), [2, 2]).numpy().tolist() == [[0, 1], [2, 3]]
    assert x.set_().shape == [0]
    with pytest.raises(TypeError, match="type"):
        x.set_(paddle.arange(6))
    with pytest.raises(ValueError, match="leaf"):
        paddle.to_tensor(SMALL, stop_gradient=False).set_(source)


@pytest.mark.parametrize("method", ["reconstruct_from_", "set_tensor"])
def test_another_name_for_a_tensor(method: str) -> None:
    x, other = paddle.to_tensor(SMALL), paddle.ones([4], dtype="int32")
    getattr(x, method)(other)
    assert (x.dtype, x.shape) == (paddle.int32, [4])
    other.add_(other)
    assert x.numpy().tolist() == [2, 2, 2, 2]
