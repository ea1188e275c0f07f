"""The kinds of tensors in GGUF files, by ggml's names and numbers.

A quantised tensor is made of blocks: `elements` of a row that follow each other are stored in `num_bytes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np


@dataclass(frozen=True)
class Kind:
    name: str
    number: int
    elements: int
    num_bytes: int
    dtype: np.dtype | None = None  # of the elements, where each stands for itself

    @property
    def is_quantised(self) -> bool:
        return self.dtype is None

    @property
    def bits(self) -> float:
        """Of an element, with its share of the scales."""
        return 8 * self.num_bytes / self.elements

    def __str__(self) -> str:
        return self.name


def _plain(name: str, number: int, dtype: Any) -> Kind:
    return Kind(name, number, 1, np.dtype(dtype).itemsize, np.dtype(dtype))


_ALL = (
    _plain("F32", 0, "float32"),
    _plain("F16", 1, "float16"),
    Kind("Q4_0", 2, 32, 18),
    Kind("Q4_1", 3, 32, 20),
    Kind("Q5_0", 6, 32, 22),
    Kind("Q5_1", 7, 32, 24),
    Kind("Q8_0", 8, 32, 34),
    Kind("Q8_1", 9, 32, 40),
    Kind("Q2_K", 10, 256, 84),
    Kind("Q3_K", 11, 256, 110),
    Kind("Q4_K", 12, 256, 144),
    Kind("Q5_K", 13, 256, 176),
    Kind("Q6_K", 14, 256, 210),
    Kind("Q8_K", 15, 256, 292),
    Kind("IQ2_XXS", 16, 256, 66),
    Kind("IQ2_XS", 17, 256, 74),
    Kind("IQ3_XXS", 18, 256, 98),
    Kind("IQ1_S", 19, 256, 50),
    Kind("IQ4_NL", 20, 32, 18),
    Kind("IQ3_S", 21, 256, 110),
    Kind("IQ2_S", 22, 256, 82),
    Kind("IQ4_XS", 23, 256, 136),
    _plain("I8", 24, "int8"),
    _plain("I16", 25, "int16"),
    _plain("I32", 26, "int32"),
    _plain("I64", 27, "int64"),
    _plain("F64", 28, "float64"),
    Kind("IQ1_M", 29, 256, 56),
    _plain("BF16", 30, ml_dtypes.bfloat16),
    Kind("TQ1_0", 34, 256, 54),
    Kind("TQ2_0", 35, 256, 66),
    Kind("MXFP4", 39, 32, 17),
)
KINDS: dict[str, Kind] = {kind.name: kind for kind in _ALL}
BY_NUMBER: dict[int, Kind] = {kind.number: kind for kind in _ALL}
