"""The binary form of one tensor, safetensors, slices of large arrays, saving in the background."""

from __future__ import annotations

import io
import json
import pickle
import threading

import numpy as np
import pytest

import proa as paddle
from proa.framework import content, writing
from proa.framework import io as framework_io

nn = paddle.nn

# What Paddle 3.3.1 wrote with use_binary_format=True for ones([2]) of each type.
HEAD = bytes(16) + b"\x04\x00\x00\x00\x08"
PADDLES_BINARY = {
    "bool": HEAD + b"\x00\x10\x02\x01\x01",
    "int8": HEAD + b"\x15\x10\x02\x01\x01",
    "int16": HEAD + b"\x01\x10\x02\x01\x00\x01\x00",
    "int32": HEAD + b"\x02\x10\x02\x01\x00\x00\x00\x01\x00\x00\x00",
    "uint8": HEAD + b"\x14\x10\x02\x01\x01",
    "float16": HEAD + b"\x04\x10\x02\x00<\x00<",
    "float64": HEAD + b"\x06\x10\x02\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\xf0?",
    "complex64": HEAD + b"\x17\x10\x02\x00\x00\x80?\x00\x00\x00\x00\x00\x00\x80?\x00\x00\x00\x00",
    "bfloat16": HEAD + b"\x16\x10\x02\x80?\x80?",
    "float8_e4m3fn": HEAD + b" \x10\x0288",
    "float8_e5m2": HEAD + b"!\x10\x02<<",
}


@pytest.mark.parametrize("dtype", PADDLES_BINARY)
def test_binary_form_is_paddles(dtype):
    stream = io.BytesIO()
    paddle.save(paddle.ones([2]).astype(dtype), stream, use_binary_format=True)
    assert stream.getvalue() == PADDLES_BINARY[dtype]
    stream.seek(0)
    found = paddle.load(stream)
    assert found.dtype == getattr(paddle, dtype)
    assert found.astype("float32").tolist() == [1.0, 1.0]


@pytest.mark.parametrize("shape", [[], [300, 2], [0, 3]])
def test_binary_form_of_any_shape(tmp_path, shape):
    tensor = paddle.rand(shape)
    paddle.save(tensor, tmp_path / "t", use_binary_format=True)
    found = paddle.load(tmp_path / "t")
    assert found.shape == shape
    np.testing.assert_array_equal(found.numpy(), tensor.numpy())
    assert isinstance(paddle.load(tmp_path / "t", return_numpy=True), np.ndarray)


def test_binary_form_is_for_one_tensor():
    with pytest.raises(NotImplementedError, match="one tensor"):
        paddle.save({"a": paddle.ones([1])}, io.BytesIO(), use_binary_format=True)


def test_damaged_binary_form(tmp_path):
    whole = bytes(16) + b"\x06\x00\x00\x00\x08\x05\x10\x02\x10\x03" + np.arange(6, dtype="float32").tobytes()
    for bad in (whole[:-1], whole[:30], whole[:10], bytes(16) + b"\xff\xff\xff\x7f" + whole[20:], bytes(40)):
        (tmp_path / "t").write_bytes(bad)
        with pytest.raises(ValueError, match="damaged"):
            paddle.load(tmp_path / "t")


# ---- safetensors ---------------------------------------------------------------------------------


def by_the_book(path):
    """A reader written from the format's description alone."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    head = json.loads(data[8 : 8 + size])
    head.pop("__metadata__", None)
    return {name: (e["dtype"], e["shape"], data[8 + size :][slice(*e["data_offsets"])]) for name, e in head.items()}


def test_safetensors_there_and_back(tmp_path):
    state = {
        "w": paddle.rand([3, 4]),
        "half": paddle.rand([5]).astype("bfloat16"),
        "number": paddle.to_tensor(7),
        "none": paddle.zeros([0, 2]),
        "flags": paddle.to_tensor([True, False]),
        "ümlaut": np.arange(3, dtype="int32"),
    }
    path = tmp_path / "m.safetensors"
    paddle.save(state, path)
    found = paddle.load(path)
    assert set(found) == set(state)
    for name, value in state.items():
        assert found[name].shape == list(value.shape)
        np.testing.assert_array_equal(found[name].numpy(), np.asarray(value))
    raw = by_the_book(path)
    assert raw["w"][:2] == ("F32", [3, 4])
    assert raw["w"][2] == state["w"].numpy().tobytes()
    assert raw["half"][0] == "BF16"
    assert isinstance(paddle.load(path, return_numpy=True)["w"], np.ndarray)


def test_safetensors_of_others(tmp_path):
    """Written by hand as other programs do: no checksum, any order."""
    head = (
        b'{"b":{"dtype":"I64","shape":[1],"data_offsets":[8,16]},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
    )
    body = np.array([1.5, 2.5], "float32").tobytes() + np.array([9], "int64").tobytes()
    (tmp_path / "x.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + body)
    found = paddle.load(tmp_path / "x.safetensors")
    assert found["a"].tolist() == [1.5, 2.5]
    assert found["b"].tolist() == [9]


@pytest.mark.parametrize(
    "head",
    [
        '{"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}',
        '{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}',
        '{"a":{"dtype":"F99","shape":[2],"data_offsets":[0,8]}}',
        '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}',
        '{"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}',
        '{"a":{"dtype":"F32","shape":[1e99],"data_offsets":[0,8]}}',
        '{"a":7}',
        '{"a":{}}',
        '{"a"',
        "{" + '"a":[' * 5000,
    ],
)
def test_safetensors_that_are_wrong(tmp_path, head):
    data = len(head).to_bytes(8, "little") + head.encode() + bytes(8)
    (tmp_path / "x.safetensors").write_bytes(data)
    with pytest.raises(ValueError, match=r"x\.safetensors.*"):
        paddle.load(tmp_path / "x.safetensors")


@pytest.mark.parametrize("content_", [[paddle.ones([1])], {"a": 1}, {"a": {"b": paddle.ones([1])}}, paddle.ones([1])])
def test_safetensors_hold_a_flat_dictionary(tmp_path, content_):
    with pytest.raises(ValueError, match="names and tensors"):
        paddle.save(content_, tmp_path / "x.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_a_flipped_bit_in_safetensors_is_noticed(tmp_path):
    path = tmp_path / "m.safetensors"
    paddle.save({"w": paddle.rand([100])}, path)
    data = bytearray(path.read_bytes())
    data[-5] ^= 4
    path.write_bytes(data)
    with pytest.raises(ValueError, match="checksum"):
        paddle.load(path)


# ---- details of Paddle's pickles -----------------------------------------------------------------


def test_large_arrays_are_cut_as_paddle_cuts_them(monkeypatch):
    monkeypatch.setattr(content, "_SLICE_BYTES", 15)
    tensor = paddle.arange(8, dtype="float32").reshape([2, 4])
    stream = io.BytesIO()
    paddle.save({"w": tensor, "small": paddle.ones([1])}, stream, protocol=3)
    raw = pickle.loads(stream.getvalue())
    assert raw["UnpackBigParamInfor@@"] == {"w": {"OriginShape": (2, 4), "slices": ["w@@.0", "w@@.1", "w@@.2"]}}
    assert [raw[f"w@@.{i}"].tolist() for i in range(3)] == [[0, 1, 2], [3, 4, 5], [6, 7]]
    assert "w" not in raw
    stream.seek(0)
    found = paddle.load(stream)
    assert sorted(found) == ["small", "w"]
    np.testing.assert_array_equal(found["w"].numpy(), tensor.numpy())
    stream = io.BytesIO()
    paddle.save({"w": tensor}, stream, protocol=4)
    assert pickle.loads(stream.getvalue())["w"].shape == (2, 4)


def test_bare_arrays_come_as_tensors_unless_tensors_are_with_them(tmp_path):
    """Observed: Paddle gives tensors for arrays in a file in which nothing was a tensor."""
    paddle.save([np.arange(3), "x"], tmp_path / "a")
    assert isinstance(paddle.load(tmp_path / "a")[0], paddle.Tensor)
    paddle.save([np.arange(3), paddle.ones([1])], tmp_path / "b")
    assert isinstance(paddle.load(tmp_path / "b")[0], np.ndarray)
    assert isinstance(paddle.load(tmp_path / "a", return_numpy=True)[0], np.ndarray)
    paddle.save({"text": np.array(["ab", "c"]), "time": np.array(["2020-01-02"], "M8[D]")}, tmp_path / "c")
    found = paddle.load(tmp_path / "c")
    assert found["text"].tolist() == ["ab", "c"]
    assert found["time"].dtype == np.dtype("M8[D]")


def test_keys_may_be_numbers(tmp_path):
    paddle.save({1: paddle.ones([2])}, tmp_path / "a")
    assert paddle.load(tmp_path / "a")[1].tolist() == [1.0, 1.0]


def test_other_byte_orders_and_layouts(tmp_path):
    arrays = {"big": np.arange(3, dtype=">f4"), "columns": np.asfortranarray(np.arange(6).reshape(2, 3))}
    (tmp_path / "a").write_bytes(pickle.dumps(arrays))
    found = paddle.load(tmp_path / "a")
    assert found["big"].tolist() == [0, 1, 2]
    assert found["columns"].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_several_contents_in_one_stream():
    stream = io.BytesIO()
    paddle.save({"a": paddle.ones([1])}, stream)
    paddle.save(paddle.ones([2]), stream, use_binary_format=True)
    paddle.save([3], stream)
    stream.seek(0)
    assert paddle.load(stream)["a"].tolist() == [1.0]
    assert paddle.load(stream).tolist() == [1.0, 1.0]
    assert paddle.load(stream) == [3]


# ---- whole files or none -------------------------------------------------------------------------


def test_async_save_writes_the_values_of_now(tmp_path, monkeypatch):
    gate = threading.Event()
    replacing = writing.replacing

    def slow(target):
        gate.wait(10)
        return replacing(target)

    monkeypatch.setattr(framework_io, "replacing", slow)
    layer = nn.Linear(2, 2)
    before = layer.weight.numpy()
    paddle.async_save(layer.state_dict(), tmp_path / "m")
    assert not (tmp_path / "m").exists()
    layer.weight.set_value(paddle.zeros([2, 2]))
    gate.set()
    paddle.framework.io.clear_async_save_task_queue()
    np.testing.assert_array_equal(paddle.load(tmp_path / "m")["weight"].numpy(), before)


def test_async_save_tells_what_went_wrong(tmp_path, monkeypatch):
    def full(target):
        raise OSError("no space left")

    monkeypatch.setattr(framework_io, "replacing", full)
    paddle.async_save([1], tmp_path / "m")
    with pytest.raises(OSError, match="no space"):
        paddle.framework.io.clear_async_save_task_queue()
    paddle.framework.io.clear_async_save_task_queue()
    with pytest.raises(ValueError, match="background"):
        paddle.async_save([1], io.BytesIO())


def test_a_failing_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "m"
    paddle.save({"a": paddle.ones([1])}, path)
    old = path.read_bytes()

    def broken(*_):
        raise OSError("the disk is gone")

    monkeypatch.setattr(writing.os, "fsync", broken)
    with pytest.raises(OSError, match="disk"):
        paddle.save({"a": paddle.zeros([1])}, path)
    assert path.read_bytes() == old
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_set_state_dict_changes_all_or_nothing():
    layer = nn.Linear(2, 2)
    before = layer.weight.numpy()
    state = {"weight": paddle.zeros([2, 2]), "bias": paddle.zeros([2], dtype="float64")}
    with pytest.raises(TypeError, match="another data type"):
        layer.set_state_dict(state)
    np.testing.assert_array_equal(layer.weight.numpy(), before)
