"""GGUF files: what the gguf package writes is read, and damage is refused without a crash or a giant allocation."""

from __future__ import annotations

import os
import random
import struct
import time
import tracemalloc

import gguf
import ml_dtypes
import numpy as np
import pytest

from proa.llm.files import GGUF, KINDS
from tests.llm.files.samples import PLAIN, random_blocks, write

QUANTISED = [name for name, kind in KINDS.items() if kind.is_quantised]


def test_kinds_are_ggmls():
    for name, kind in KINDS.items():
        number = gguf.GGMLQuantizationType(kind.number)
        assert number.name == name
        assert gguf.GGML_QUANT_SIZES[number] == (kind.elements, kind.num_bytes)
    assert KINDS["Q4_0"].bits == 4.5


def test_metadata_of_every_type(tmp_path):
    metadata = {
        "a.flag": True, "a.count": -7, "a.ratio": 1.5, "a.text": "Grüße, 世界", "a.numbers": [1, 2, 3],
        "a.reals": [0.5, -1.0], "a.flags": [True, False], "a.texts": ["", "b", "é" * 100], "llama.block_count": 30,
    }  # fmt: skip
    file = GGUF(write(tmp_path / "m.gguf", metadata=metadata))
    for key, value in metadata.items():
        found = file.metadata[key]
        np.testing.assert_array_equal(found, value)
        assert isinstance(found, np.ndarray if key in ("a.numbers", "a.reals", "a.flags") else type(value))
    assert file.architecture == "llama"
    assert file.get(".block_count") == 30
    assert file.get(".none", 4) == 4
    with pytest.raises(TypeError):
        file.metadata["a"] = 1


@pytest.mark.parametrize("code", list(PLAIN))
def test_plain_tensors(tmp_path, code):
    array = np.random.default_rng(1).normal(size=(3, 5, 7)).astype("float32").astype(PLAIN[code])
    file = GGUF(write(tmp_path / "m.gguf", {"x": array, "y": array[0, 0]}))
    assert file.tensors["x"].shape == (3, 5, 7)
    assert not file.tensors["x"].kind.is_quantised
    np.testing.assert_array_equal(file.tensors["x"].dequantised("float64"), array.astype("float64"))
    np.testing.assert_array_equal(file.tensors["y"].dequantised(), array[0, 0].astype("float32"))
    assert file.tensors["x"].blocks.tobytes() == array.tobytes()


def test_bfloat16_by_its_bits(tmp_path):
    bits = np.arange(0, 65536, 7, dtype=np.uint16)
    file = GGUF(write(tmp_path / "m.gguf", blocks={"x": ("BF16", bits.view(np.uint8).reshape(1, -1))}))
    found = file.tensors["x"].dequantised("float32")[0]
    np.testing.assert_array_equal(found.view(np.uint32), bits.astype(np.uint32) << 16)
    assert file.tensors["x"].dequantised("bfloat16").view(np.uint16).tolist() == [bits.tolist()]


@pytest.mark.parametrize("kind", QUANTISED)
def test_blocks_come_as_they_were_written(tmp_path, kind):
    blocks = random_blocks(kind, 6, 4)
    tensor = GGUF(write(tmp_path / "m.gguf", blocks={"x": (kind, blocks)})).tensors["x"]
    assert tensor.kind is KINDS[kind]
    assert tensor.shape == (6, 4 * KINDS[kind].elements)
    np.testing.assert_array_equal(tensor.blocks, blocks)
    with pytest.raises(ValueError, match="read-only"):
        tensor.blocks[0, 0] = 1


def test_many_rows_are_divided_and_put_together_again(tmp_path):
    """Several threads, a last piece that is shorter, and another type than float32."""
    blocks = random_blocks("Q4_0", 1001, 17)
    tensor = GGUF(write(tmp_path / "m.gguf", blocks={"x": ("Q4_0", blocks)})).tensors["x"]
    assert tensor.num_bytes == blocks.nbytes
    scales = blocks.reshape(-1, 18)[:, :2].copy().view("<f2").astype("float32")
    low, high = blocks.reshape(-1, 18)[:, 2:] & 15, blocks.reshape(-1, 18)[:, 2:] >> 4
    expected = (scales * (np.concatenate([low, high], axis=1).astype("float32") - 8)).reshape(1001, -1)
    np.testing.assert_array_equal(tensor.dequantised(), expected)
    np.testing.assert_array_equal(tensor.dequantised("bfloat16"), expected.astype(ml_dtypes.bfloat16))


def test_a_kind_that_nobody_dequantises(tmp_path):
    tensor = GGUF(write(tmp_path / "m.gguf", blocks={"x": ("Q8_1", random_blocks("Q8_1", 1, 1))})).tensors["x"]
    with pytest.raises(ValueError, match=r"Q8_1 cannot be dequantised.*another quantisation"):
        tensor.dequantised()


def test_without_the_package_it_says_what_to_install(tmp_path, monkeypatch):
    tensor = GGUF(write(tmp_path / "m.gguf", blocks={"x": ("Q4_0", random_blocks("Q4_0", 1, 1))})).tensors["x"]
    monkeypatch.setitem(__import__("sys").modules, "gguf", None)
    with pytest.raises(ImportError, match=r"pip install 'proa\[llm\]'"):
        tensor.dequantised()


def split_in_two(tmp_path):
    for number in (0, 1):
        metadata = {"split.no": number, "split.count": 2, "split.tensors.count": 2}
        write(
            tmp_path / f"m-0000{number + 1}-of-00002.gguf",
            {f"x{number}": np.full(4, number, "float32")},
            None,
            metadata,
        )
    return tmp_path / "m-00001-of-00002.gguf"


def test_a_model_in_parts(tmp_path):
    file = GGUF(split_in_two(tmp_path))
    assert [tensor.dequantised()[0] for tensor in file.tensors.values()] == [0, 1]
    with pytest.raises(ValueError, match="the first must be named"):
        GGUF(tmp_path / "m-00002-of-00002.gguf")
    os.replace(tmp_path / "m-00002-of-00002.gguf", tmp_path / "other")
    with pytest.raises(FileNotFoundError, match="part of the model is missing"):
        GGUF(tmp_path / "m-00001-of-00002.gguf")
    (tmp_path / "m-00002-of-00002.gguf").write_bytes((tmp_path / "m-00001-of-00002.gguf").read_bytes())
    with pytest.raises(ValueError, match="not part 2"):
        GGUF(tmp_path / "m-00001-of-00002.gguf")


# ---- damage --------------------------------------------------------------------------------------


def head(*, version=3, tensors=0, values=b"", num_values=0, rest=b""):
    return b"GGUF" + struct.pack("<IQQ", version, tensors, num_values) + values + rest


def text(string):
    return struct.pack("<Q", len(string)) + string


def tensor(name=b"x", shape=(4,), kind=0, start=0):
    return text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, start)


HUGE = 2**63


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"GGML" + bytes(100), "no GGUF file"),
        (b"GG", "no GGUF file"),
        (b"GGUF", "needs 4 bytes, and 0 are left"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "big-endian"),
        (head(version=1), "versions 2 and 3"),
        (head(num_values=HUGE), "needs 8 bytes"),
        (head(tensors=HUGE), "needs 8 bytes"),
        (head(num_values=1, values=struct.pack("<Q", HUGE)), "a text at byte"),
        (head(num_values=1, values=text(b"k") + struct.pack("<I", 99)), "unknown type 99"),
        (head(num_values=1, values=text(b"k") + struct.pack("<IIQ", 9, 4, HUGE)), "an array of"),
        (head(num_values=1, values=text(b"k") + struct.pack("<IIQ", 9, 8, HUGE)), "an array of"),
        (head(num_values=1, values=text(b"k") + struct.pack("<IIQ", 9, 9, HUGE)), "an array of"),
        (head(num_values=1, values=text(b"k") + struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 9), "unknown type 9"),
        (head(num_values=1, values=text(b"k") + struct.pack("<IIQ", 9, 8, 2) + text(b"a") + bytes([9] * 8)), "number 2"),
        (head(num_values=2, values=(text(b"k") + struct.pack("<IB", 0, 1)) * 2), "twice"),
        (head(tensors=2, rest=tensor() * 2 + bytes(99)), "twice"),
        (head(tensors=1, rest=tensor(shape=(1,) * 5)), "5 dimensions"),
        (head(tensors=1, rest=tensor(shape=(HUGE, HUGE))), "has the shape"),
        (head(tensors=1, rest=tensor(shape=(0, HUGE))), "has the shape"),
        (head(tensors=1, rest=tensor(kind=4)), "unknown kind 4"),
        (head(tensors=1, rest=tensor(kind=2) + bytes(99)), "no number of Q4_0 blocks"),
        (head(tensors=1, rest=tensor(start=7) + bytes(99)), "unaligned"),
        (head(tensors=1, rest=tensor(start=HUGE) + bytes(99)), "not fetched to its end"),
        (head(tensors=1, rest=tensor(shape=(100,)) + bytes(99)), "not fetched to its end"),
        (head(tensors=2, rest=tensor(shape=(16,)) + tensor(b"y", start=32) + bytes(200)), "within another"),
        (head(num_values=1, values=text(b"general.alignment") + struct.pack("<II", 4, 3)), "alignment is 3"),
        (head(num_values=1, values=text(b"general.alignment") + struct.pack("<IQ", 8, 1) + b"x"), "alignment is 'x'"),
    ],
)  # fmt: skip
def test_wrong_heads(tmp_path, data, reason):
    path = tmp_path / "m.gguf"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=reason) as caught:
        GGUF(path)
    assert "m.gguf" in str(caught.value)


def test_paths_that_are_no_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        GGUF(tmp_path / "none.gguf")
    with pytest.raises(IsADirectoryError, match="name a file"):
        GGUF(tmp_path)


def test_texts_that_are_no_utf8_do_not_refuse_a_model(tmp_path):
    (tmp_path / "m.gguf").write_bytes(head(num_values=1, values=text(b"k") + struct.pack("<I", 8) + text(b"caf\xe9")))
    assert GGUF(tmp_path / "m.gguf").metadata["k"] == "caf�"


def test_every_cut_is_noticed_and_random_damage_is_harmless(tmp_path):
    path = tmp_path / "m.gguf"
    metadata = {"a.texts": ["a", "bc"] * 20, "a.numbers": list(range(20)), "a.name": "model", "a.flag": True}
    write(path, {"x": np.ones((4, 32), "float32")}, {"y": ("Q4_K", random_blocks("Q4_K", 2, 1))}, metadata)
    whole = path.read_bytes()
    started = time.perf_counter()
    tracemalloc.start()
    for length in range(0, len(whole) - 32, 3):  # what follows the last tensor is filling
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"m\.gguf"):
            GGUF(path)
    chance = random.Random(5)
    begin = whole.index(b"GGUF") + 4
    refused = 0
    for _ in range(600):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 1, 2, 8])):
            place = chance.randrange(begin, len(data))
            data[place] = chance.choice([0, 1, 255, data[place] ^ 1 << chance.randrange(8)])
        path.write_bytes(data)
        try:
            for each in GGUF(path).tensors.values():
                if each.kind.name in ("F32", "F16", "Q4_K"):
                    each.dequantised()
        except (ValueError, FileNotFoundError):
            refused += 1
    assert refused > 150
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()
    assert time.perf_counter() - started < 60


def test_a_file_that_is_cut_while_it_is_open(tmp_path):
    path = write(tmp_path / "m.gguf", {"x": np.ones(4096, "float32")})
    file = GGUF(path)
    os.truncate(path, 1000)
    with pytest.raises(ValueError, match="cut to 1000 bytes"):
        file.tensors["x"].dequantised()


def test_a_file_that_is_replaced_while_it_is_open(tmp_path):
    path = write(tmp_path / "m.gguf", {"x": np.ones(4096, "float32")})
    file = GGUF(path)
    write(tmp_path / "new.gguf", {"x": np.zeros(16, "float32")})
    os.replace(tmp_path / "new.gguf", path)
    assert file.tensors["x"].dequantised().sum() == 4096
