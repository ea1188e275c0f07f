"""GGUF files to read, written by the gguf package."""

from __future__ import annotations

import gguf
import numpy as np

PLAIN = {"f32": np.float32, "f16": np.float16, "f64": np.float64, "i8": np.int8, "i32": np.int32}


def random_blocks(kind: str, rows: int, blocks: int, seed: int = 0) -> np.ndarray:
    """Rows of random bytes, without scales that are infinite or no numbers."""
    number = gguf.GGMLQuantizationType[kind]
    size = gguf.GGML_QUANT_SIZES[number][1]
    chance = np.random.default_rng(seed)
    found = chance.integers(0, 256, (rows * blocks, size), dtype=np.uint8)
    with np.errstate(all="ignore"):
        bad = ~np.isfinite(found.view("<f2" if size % 2 == 0 else np.uint8).astype("float32")).all(axis=1)
    found[bad] = 0
    return found.reshape(rows, blocks * size)


def write(path, tensors=None, blocks=None, metadata=None, architecture="llama"):
    """A file with plain arrays, arrays of blocks (kind, bytes) and metadata by name."""
    writer = gguf.GGUFWriter(path, architecture)
    for key, value in (metadata or {}).items():
        add = {bool: writer.add_bool, int: writer.add_int32, float: writer.add_float64, str: writer.add_string}
        add.get(type(value), writer.add_array)(key, value)
    for name, array in (tensors or {}).items():
        writer.add_tensor(name, array)
    for name, (kind, array) in (blocks or {}).items():
        writer.add_tensor(name, array, raw_dtype=gguf.GGMLQuantizationType[kind])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
