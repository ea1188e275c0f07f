"""Safetensors in one file and in several: beside the package of that name, and damaged in every way."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading

import ml_dtypes
import numpy as np
import pytest
import safetensors
import safetensors.numpy

import proa as paddle
from proa.llm.files import read_safetensors, write_safetensors


def some_tensors(count=6):
    chance = np.random.default_rng(3)
    return {f"layers.{n}.weight": chance.normal(size=(4, n + 1)).astype("float32") for n in range(count)}


def same(found, expected):
    assert list(found) == list(expected)
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


# ---- reading -------------------------------------------------------------------------------------


def test_what_the_package_writes(tmp_path):
    tensors = {
        "w": np.arange(6, dtype="float32").reshape(2, 3), "half": np.ones(3, "float16"), "ids": np.arange(5),
        "none": np.zeros((0, 4), "float32"), "one": np.array(7, "int32"), "flags": np.array([True, False]),
    }  # fmt: skip
    safetensors.numpy.save_file(tensors, tmp_path / "model.safetensors")
    for path in (tmp_path, tmp_path / "model.safetensors", str(tmp_path)):
        found = read_safetensors(path)
        assert set(found) == set(tensors)
        for name, array in tensors.items():
            assert found[name].dtype == array.dtype
            assert found[name].shape == array.shape
            np.testing.assert_array_equal(found[name], array)
    assert "w" in found
    assert "v" not in found
    with pytest.raises(KeyError):
        found["v"]
    with pytest.raises(ValueError, match="read-only"):
        found["w"][0] = 1


@pytest.mark.parametrize(
    ("code", "dtype"),
    [
        ("BF16", ml_dtypes.bfloat16),
        ("F8_E4M3", ml_dtypes.float8_e4m3fn),
        ("F8_E5M2", ml_dtypes.float8_e5m2),
        ("F8_E8M0", ml_dtypes.float8_e8m0fnu),
        ("F64", np.float64),
    ],
)
def test_types_that_numpy_lacks(tmp_path, code, dtype):
    """By the format's description: a length, a head in JSON, the numbers."""
    data = bytes(range(48))
    shape = [48 // np.dtype(dtype).itemsize]
    head = json.dumps({"x": {"dtype": code, "shape": shape, "data_offsets": [0, 48]}}).encode()
    (tmp_path / "a.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + data)
    found = read_safetensors(tmp_path)["x"]
    assert found.dtype == dtype
    assert found.tobytes() == data


def test_nothing_is_read_before_it_is_looked_at(tmp_path):
    """A file with a hole of 64 GiB is opened at once, and one small tensor of it read."""
    size = 64 * 2**30
    head = {"a": ["F32", [size // 4], [0, size]], "b": ["F32", [2], [size, size + 8]]}
    head = {name: {"dtype": code, "shape": shape, "data_offsets": place} for name, (code, shape, place) in head.items()}
    text = json.dumps(head).encode()
    with open(tmp_path / "model.safetensors", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.seek(size, os.SEEK_CUR)
        file.write(np.array([1.5, 2.5], "float32").tobytes())
    found = read_safetensors(tmp_path)
    assert found["b"].tolist() == [1.5, 2.5]
    assert found["a"].shape == (size // 4,)
    assert found["a"][-1] == 0


# ---- writing -------------------------------------------------------------------------------------


def test_one_file(tmp_path):
    tensors = some_tensors()
    assert write_safetensors(tmp_path / "new", tensors) == ["model.safetensors"]
    with safetensors.safe_open(tmp_path / "new" / "model.safetensors", "np") as file:
        assert file.metadata()["format"] == "pt"
        assert {name: file.get_tensor(name).tolist() for name in file.keys()} == {  # noqa: SIM118 (no mapping)
            name: array.tolist() for name, array in tensors.items()
        }
    assert {name: array.tolist() for name, array in read_safetensors(tmp_path / "new", verify=True).items()} == {
        name: array.tolist() for name, array in tensors.items()
    }


def test_several_files(tmp_path):
    tensors = some_tensors()  # 16, 32, ... 96 bytes
    files = write_safetensors(tmp_path, tensors, shard_bytes=100)
    assert files[-1] == "model.safetensors.index.json"
    assert sorted(os.listdir(tmp_path)) == sorted(files)
    assert files[0] == "model-00001-of-00004.safetensors"
    index = json.loads((tmp_path / files[-1]).read_text())
    assert index["metadata"]["total_size"] == sum(array.nbytes for array in tensors.values())
    by_package = {}
    for file in files[:-1]:
        held = safetensors.numpy.load_file(tmp_path / file)
        assert sum(array.nbytes for array in held.values()) <= 100
        assert all(index["weight_map"][name] == file for name in held)
        by_package.update(held)
    same({name: by_package[name] for name in tensors}, tensors)
    same(read_safetensors(tmp_path), tensors)
    same(read_safetensors(tmp_path / files[-1]), tensors)


def test_tensors_views_and_transposed_arrays(tmp_path):
    square = np.arange(12, dtype="float32").reshape(3, 4)
    write_safetensors(tmp_path, {"t": square.T, "s": square[::2], "b": paddle.ones([2, 3]).astype("bfloat16")})
    found = read_safetensors(tmp_path)
    np.testing.assert_array_equal(found["t"], square.T)
    np.testing.assert_array_equal(found["s"], square[::2])
    assert found["b"].dtype == ml_dtypes.bfloat16
    assert found["b"].shape == (2, 3)


@pytest.mark.parametrize(("first", "second"), [(100, 10**9), (10**9, 100), (100, 60), (60, 100)])
def test_a_model_over_another(tmp_path, first, second):
    """Files of the old one go, those of others stay, and what was open stays good."""
    (tmp_path / "model-card.md").write_text("stays")
    (tmp_path / "adapter_model.safetensors").write_bytes(b"stays")
    old, new = some_tensors(), {name: array + 1 for name, array in some_tensors(4).items()}
    write_safetensors(tmp_path, old, first)
    opened = read_safetensors(tmp_path)
    files = write_safetensors(tmp_path, new, second)
    assert set(os.listdir(tmp_path)) == {*files, "model-card.md", "adapter_model.safetensors"}
    found = read_safetensors(tmp_path)
    assert set(found) == set(new)
    for name, array in new.items():
        np.testing.assert_array_equal(found[name], array)
    for name, array in old.items():
        np.testing.assert_array_equal(opened[name], array)


@pytest.mark.parametrize("bad", [{"a": [1.0]}, {1: np.ones(1)}, {"a": np.array(["x"])}, {"__metadata__": np.ones(1)}])
@pytest.mark.parametrize("shard_bytes", [10, 10**9])
def test_what_cannot_be_written_leaves_the_old_model(tmp_path, bad, shard_bytes):
    write_safetensors(tmp_path, some_tensors(), 100)
    before = sorted(os.listdir(tmp_path))
    with pytest.raises((TypeError, ValueError)):
        write_safetensors(tmp_path, {**some_tensors(), **bad}, shard_bytes)
    assert sorted(os.listdir(tmp_path)) == before
    same(read_safetensors(tmp_path), some_tensors())


def test_a_full_disk_leaves_the_old_model(tmp_path, monkeypatch):
    write_safetensors(tmp_path, some_tensors(), 100)
    before = sorted(os.listdir(tmp_path))
    calls = []

    def fails_at_the_third(descriptor):
        calls.append(descriptor)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails_at_the_third)
    with pytest.raises(OSError, match="No space left"):
        write_safetensors(tmp_path, {name: array * 2 for name, array in some_tensors().items()}, 100)
    monkeypatch.undo()
    assert sorted(os.listdir(tmp_path)) == before
    same(read_safetensors(tmp_path), some_tensors())


KILLED = """
import os, sys
import numpy as np
from proa.llm.files import write_safetensors
names, steps = [f"layers.{n}.weight" for n in range(6)], 0
replace, unlink = os.replace, os.unlink
def counted(function):
    def call(*arguments):
        global steps
        steps += 1
        if steps == int(sys.argv[2]):
            os._exit(9)
        return function(*arguments)
    return call
os.replace, os.unlink = counted(replace), counted(unlink)
write_safetensors(sys.argv[1], {name: np.full(4, 2.0, "float32") for name in names}, 40)
"""


@pytest.mark.parametrize("step", [1, 2, 4])
def test_a_killed_writer_leaves_no_mixture(tmp_path, step):
    old = {f"layers.{n}.weight": np.full(4, 1.0, "float32") for n in range(6)}
    write_safetensors(tmp_path, old, 40)
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path, str(step)], timeout=100)
    assert done.returncode == 9
    try:
        found = read_safetensors(tmp_path)
    except FileNotFoundError:
        return
    assert len({float(array[0]) for array in found.values()}) == 1
    assert len(found) == 6


# ---- damage --------------------------------------------------------------------------------------


def test_folders_without_a_model(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"must hold model\.safetensors"):
        read_safetensors(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_safetensors(tmp_path / "none.safetensors")
    write_safetensors(tmp_path, some_tensors(), 100)
    os.unlink(tmp_path / "model.safetensors.index.json")
    with pytest.raises(FileNotFoundError, match="without their index"):
        read_safetensors(tmp_path)
    for part in sorted(os.listdir(tmp_path))[1:]:
        os.unlink(tmp_path / part)
    with pytest.raises(FileNotFoundError, match="without their index"):  # one part alone is no model
        read_safetensors(tmp_path)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"weight_map": 3}', '{"weight_map": {"a": "../../etc/passwd"}}', '{"weight_map": {"a": "none"}}',
     '{"weight_map": {"a": "/etc/passwd"}}', '{"weight_map": {"a": "model-00001-of-00004.safetensors"}}', "[" * 100_000],
)  # fmt: skip
def test_wrong_indices(tmp_path, text):
    write_safetensors(tmp_path, some_tensors(), 100)
    (tmp_path / "model.safetensors.index.json").write_text(text)
    with pytest.raises((ValueError, FileNotFoundError), match="index"):
        read_safetensors(tmp_path)


def test_random_damage_is_harmless(tmp_path):
    path = tmp_path / "model.safetensors"
    safetensors.numpy.save_file(some_tensors(), path)
    whole = path.read_bytes()
    chance = random.Random(5)
    head = 8 + int.from_bytes(whole[:8], "little")
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"model\.safetensors"):
            read_safetensors(path)
    refused = 0
    for _ in range(500):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 1, 2, 8])):
            data[chance.randrange(head)] = chance.randrange(256)
        path.write_bytes(data)
        try:
            found = read_safetensors(path)
            assert sum(array.nbytes for array in found.values()) == len(whole) - head
        except ValueError:
            refused += 1
    assert refused > 350


def test_an_empty_tensor_of_an_impossible_shape(tmp_path):
    head = json.dumps({"x": {"dtype": "F32", "shape": [0, 2**60], "data_offsets": [0, 0]}}).encode()
    (tmp_path / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head)
    with pytest.raises(ValueError, match="has the shape"):
        read_safetensors(tmp_path)


def test_a_changed_number_is_noticed_where_asked(tmp_path):
    write_safetensors(tmp_path, some_tensors())
    path = tmp_path / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    assert len(read_safetensors(tmp_path)) == 6
    with pytest.raises(ValueError, match="checksum"):
        read_safetensors(tmp_path, verify=True)


def test_many_threads_read_one_file(tmp_path):
    tensors = {f"w{n}": np.full((64, 64), n, "float32") for n in range(40)}
    write_safetensors(tmp_path, tensors, 50_000)
    found = read_safetensors(tmp_path)
    wrong = []

    def read(seed):
        names = list(tensors)
        random.Random(seed).shuffle(names)
        wrong.extend(name for name in names if found[name].sum() != tensors[name].sum())

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
