"""Damaged and hostile files: an error or the same content, quickly, without running anything or asking for much memory."""

from __future__ import annotations

import io
import pickle
import pickletools
import random
import struct
import time
import tracemalloc

import numpy as np
import pytest

import proa as paddle
from proa.framework.unpickler import scan

nn = paddle.nn


@pytest.fixture(scope="module")
def model():
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4))


def same(left, right):
    return set(left) == set(right) and all(
        left[key].dtype == right[key].dtype and np.array_equal(left[key].numpy(), right[key].numpy()) for key in right
    )


def attempt(path, data):
    """What load gives for these bytes, or None after an exception of the right kind."""
    path.write_bytes(data)
    try:
        return paddle.load(path)
    except (ValueError, pickle.UnpicklingError):
        return None


@pytest.mark.parametrize("name", ["m.pdparams", "m.safetensors"])
def test_random_bit_flips_are_noticed(tmp_path, model, name):
    path = tmp_path / name
    state = model.state_dict()
    paddle.save(state, path)
    whole = path.read_bytes()
    chance = random.Random(5)
    started = time.perf_counter()
    refused = 0
    for _ in range(400):
        data = bytearray(whole)
        # The checksum of safetensors stands under a name, which could be hit at the same time.
        for _ in range(1 if name == "m.safetensors" else chance.choice([1, 1, 2, 8])):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        found = attempt(path, data)
        refused += found is None
        assert found is None or same(found, state)
    assert refused > 350
    assert time.perf_counter() - started < 10


@pytest.mark.parametrize("name", ["m.pdparams", "m.safetensors"])
def test_truncated_files_are_noticed(tmp_path, model, name):
    path = tmp_path / name
    paddle.save(model.state_dict(), path)
    whole = path.read_bytes()
    chance = random.Random(6)
    for length in [0, 1, 7, 8, 9, len(whole) - 1, *(chance.randrange(len(whole)) for _ in range(150))]:
        # Without anything of the checksum a pickle is still whole.
        assert attempt(path, whole[:length]) is None or length == scan(whole)


def test_damage_of_files_without_a_checksum(tmp_path, model):
    """Such as Paddle's: numbers may have changed unnoticed, but nothing worse happens."""
    stream = io.BytesIO()
    paddle.save({"m": model.state_dict(), "l": [1, (2, "x"), {"a": 1.5}], "z": 1 + 2j}, stream, protocol=2)
    whole = stream.getvalue()
    chance = random.Random(7)
    started = time.perf_counter()
    tracemalloc.start()
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 2, 5])):
            data[chance.randrange(len(data))] = chance.randrange(256)
        attempt(tmp_path / "f", data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6
    assert time.perf_counter() - started < 20


def test_the_message_names_file_and_reason_and_the_model_is_untouched(tmp_path, model):
    path = tmp_path / "best.pdparams"
    paddle.save(model.state_dict(), path)
    data = bytearray(path.read_bytes())
    before = model[0].weight.numpy()
    position = data.index(before.tobytes())
    data[position] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"best\.pdparams.*checksum"):
        model.set_state_dict(paddle.load(path))
    path.write_bytes(data[: position + 5])
    with pytest.raises(ValueError, match=r"best\.pdparams.*bytes are there"):
        model.set_state_dict(paddle.load(path))
    np.testing.assert_array_equal(model[0].weight.numpy(), before)


# ---- hostile files -------------------------------------------------------------------------------

PROTO = b"\x80\x04"


def call(module, name, arguments):
    """The pickle of a call."""
    return PROTO + b"c" + f"{module}\n{name}\n".encode() + pickle.dumps(arguments, 4)[2:-1] + b"R."


@pytest.mark.parametrize(
    "data",
    [
        PROTO + b"C\x01xr\xff\xff\xff\x7f.",  # remembered under a number of two thousand millions
        PROTO + b"C\x01xp4000000000\n.",
        PROTO + b"\x8e" + struct.pack("<Q", 1 << 40) + b"x.",  # bytes of a terabyte
        PROTO + b"B" + struct.pack("<I", 1 << 31) + b"x.",
        PROTO + b"\x95" + struct.pack("<Q", 1 << 40) + b"N.",  # a frame of a terabyte
        PROTO + b"\x8b" + struct.pack("<i", -5) + b".",
        call("builtins", "bytes", (10**12,)),
        call("builtins", "bytearray", (10**12,)),
        call("numpy", "dtype", ("O",)),
        call("numpy", "dtype", ("i4,i4",)),
        call("numpy", "dtype", ("V999999999",)),
        call("numpy", "dtype", ("U99999999",)),
        call("os", "system", ("true",)),
        call("builtins", "eval", ("1",)),
        call("numpy", "load", ("x",)),
        call("numpy.ma", "MaskedArray", ()),
        PROTO + b"N" * 10,
        b"PK\x03\x04 a zip archive",
        b"",
    ],
)
def test_hostile_pickles_are_refused(tmp_path, data):
    tracemalloc.start()
    assert attempt(tmp_path / "f", data) is None
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10e6


def test_content_that_doubles_at_every_level_is_read_in_time(tmp_path):
    level = [1]
    for _ in range(60):
        level = [level, level]
    (tmp_path / "f").write_bytes(pickle.dumps(level))
    started = time.perf_counter()
    found = paddle.load(tmp_path / "f")
    assert found[0] is found[1]
    assert time.perf_counter() - started < 1


def test_content_that_contains_itself_or_is_too_deep_is_refused(tmp_path):
    ring: list = []
    ring.append(ring)
    (tmp_path / "f").write_bytes(pickle.dumps(ring))
    with pytest.raises(ValueError, match="contains itself"):
        paddle.load(tmp_path / "f")
    (tmp_path / "f").write_bytes(PROTO + b"]" * 100_000 + b"a" * 99_999 + b".")
    with pytest.raises(ValueError, match="Recursion"):
        paddle.load(tmp_path / "f")


def test_scan_agrees_with_the_standard_library():
    for protocol in range(5):
        for content in ({"a": [1, 2.5, "x" * 300, b"y" * 70000], "b": np.arange(10)}, 10**50, (None, True, {1, 2})):
            data = pickle.dumps(content, protocol)
            assert scan(data + b"more") == len(data)
            assert [p for _, _, p in pickletools.genops(data)][-1] == len(data) - 1
