"""The element types of Paddle's model files: our name, the tag in PIR `.json`, the number in `.pdmodel`, NumPy's type."""

from __future__ import annotations

from functools import cache

import numpy as np

# our name -> (tag in PIR .json, number in .pdmodel and .pdiparams, bytes of an element)
_TABLE: dict[str, tuple[str, int, int]] = {
    "bool": ("0.t_bool", 0, 1),
    "int16": ("0.t_i16", 1, 2),
    "int32": ("0.t_i32", 2, 4),
    "int64": ("0.t_i64", 3, 8),
    "float16": ("0.t_f16", 4, 2),
    "float32": ("0.t_f32", 5, 4),
    "float64": ("0.t_f64", 6, 8),
    "uint8": ("0.t_ui8", 20, 1),
    "int8": ("0.t_i8", 21, 1),
    "bfloat16": ("0.t_bf16", 22, 2),
    "complex64": ("0.t_c64", 23, 8),
    "complex128": ("0.t_c128", 24, 16),
    "float8_e4m3fn": ("0.t_f8e4m3fn", 32, 1),
    "float8_e5m2": ("0.t_f8e5m2", 33, 1),
}

TAGS: dict[str, str] = {name: row[0] for name, row in _TABLE.items()}
NAMES_OF_TAGS: dict[str, str] = {tag: name for name, tag in TAGS.items()}
NUMBERS: dict[str, int] = {name: row[1] for name, row in _TABLE.items()}
NAMES_OF_NUMBERS: dict[int, str] = {number: name for name, number in NUMBERS.items()}

# A tensor array (a list that a loop appends to) has the type of its elements with brackets: "float32[]".
ARRAY = "[]"
UNDEFINED = "undefined"


def element_size(name: str) -> int:
    return _TABLE[name][2]


@cache
def numpy_dtype(name: str) -> np.dtype:
    if name not in _TABLE:
        raise ValueError(f"(paddle file) {name!r} is not an element type of Paddle's files; known: {', '.join(_TABLE)}")
    if name.startswith(("bfloat16", "float8")):
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))
    return np.dtype(name)
