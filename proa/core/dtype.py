"""The data types: Paddle's names over NumPy dtypes.

Inside proa a data type is always a `numpy.dtype` (ml_dtypes supplies bfloat16 and the float8 formats).
`DType` is the face that users see: `paddle.float32`, printed and compared as Paddle does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import ml_dtypes
import numpy as np

from .errors import type_error

if TYPE_CHECKING:
    from ..eager.annotations import DTypeLike

# Paddle's numbering, which appears in its repr and in saved programs.
_ENUM_VALUES = {
    "bool": 1,
    "uint8": 2,
    "int8": 3,
    "uint16": 4,
    "int16": 5,
    "uint32": 6,
    "int32": 7,
    "uint64": 8,
    "int64": 9,
    "float32": 10,
    "float64": 11,
    "complex64": 12,
    "complex128": 13,
    "float16": 15,
    "bfloat16": 16,
    "float8_e4m3fn": 17,
    "float8_e5m2": 18,
}

_EXTENDED = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
}


class DType:
    """A type of numbers, such as `paddle.float32`; there is one object for each.

    Examples:
        >>> paddle.to_tensor([1.0]).dtype is paddle.float32
        True
        >>> paddle.float32 == "float32", paddle.bfloat16.itemsize
        (True, 2)
    """

    __slots__ = ("name", "numpy_dtype", "value")

    def __init__(self, name: str, numpy_dtype: np.dtype, value: int) -> None:
        self.name = name
        self.numpy_dtype = numpy_dtype
        self.value = value

    def __repr__(self) -> str:
        return f"paddle.{self.name}"

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self is other
        if isinstance(other, str):
            return other == self.name or other == f"paddle.{self.name}"
        if isinstance(other, (np.dtype, type)):
            try:
                return np.dtype(cast(Any, other)) == self.numpy_dtype
            except TypeError:
                return False
        return NotImplemented

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return dtype_of, (self.name,)

    @property
    def itemsize(self) -> int:
        """How many bytes a number has.

        Examples:
            >>> paddle.float64.itemsize
            8
        """
        return self.numpy_dtype.itemsize

    @property
    def is_floating_point(self) -> bool:
        """Whether it is a type of floating numbers.

        Examples:
            >>> paddle.bfloat16.is_floating_point, paddle.int32.is_floating_point
            (True, False)
        """
        return is_floating(self.numpy_dtype)

    @property
    def is_complex(self) -> bool:
        """Whether it is a type of complex numbers.

        Examples:
            >>> paddle.complex64.is_complex, paddle.float32.is_complex
            (True, False)
        """
        return self.numpy_dtype.kind == "c"


_BY_NAME: dict[str, DType] = {}
_BY_NUMPY: dict[np.dtype, DType] = {}
for _name, _value in _ENUM_VALUES.items():
    _numpy_dtype = np.dtype(_EXTENDED.get(_name, _name))
    _BY_NAME[_name] = _BY_NUMPY[_numpy_dtype] = DType(_name, _numpy_dtype, _value)
_BY_NAME.update(
    {
        "float": _BY_NAME["float32"],
        "double": _BY_NAME["float64"],
        "half": _BY_NAME["float16"],
        "int": _BY_NAME["int32"],
        "long": _BY_NAME["int64"],
        "short": _BY_NAME["int16"],
        "cfloat": _BY_NAME["complex64"],
        "cdouble": _BY_NAME["complex128"],
    }
)

for _name in _ENUM_VALUES:
    # As in Paddle's enumeration: `paddle.dtype.FLOAT32`.
    setattr(DType, _name.upper(), _BY_NAME[_name])

BOOL = np.dtype("bool")
INT32 = np.dtype("int32")
INT64 = np.dtype("int64")
FLOAT16 = np.dtype("float16")
FLOAT32 = np.dtype("float32")
FLOAT64 = np.dtype("float64")
COMPLEX64 = np.dtype("complex64")
COMPLEX128 = np.dtype("complex128")
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_FLOATING = frozenset(
    [FLOAT16, BFLOAT16, FLOAT32, FLOAT64, np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)]
)
# Types whose NumPy arithmetic is missing, slow or too coarse: kernels compute in float32 instead.
_REDUCED = frozenset(_FLOATING - {FLOAT32, FLOAT64})

PYTHON_TYPES: dict[type, np.dtype] = {bool: BOOL, int: INT64, float: FLOAT32, complex: COMPLEX64}


def to_numpy_dtype(dtype: object) -> np.dtype:
    """The NumPy dtype for anything a user may name a type with: a string, DType, NumPy or Python type."""
    if isinstance(dtype, DType):
        return dtype.numpy_dtype
    if isinstance(dtype, str):
        known = _BY_NAME.get(dtype.removeprefix("paddle."))
        if known is not None:
            return known.numpy_dtype
    elif isinstance(dtype, type) and dtype in PYTHON_TYPES:
        return FLOAT64 if dtype is float else COMPLEX128 if dtype is complex else PYTHON_TYPES[dtype]
    elif dtype is not None:
        try:
            candidate = np.dtype(dtype)  # type: ignore[call-overload]
        except TypeError:
            candidate = None
        if candidate in _BY_NUMPY:
            return candidate  # type: ignore[return-value]
    raise type_error("dtype", f"{dtype!r} is not a data type", fix=f"use one of {', '.join(_ENUM_VALUES)}")


def dtype_of(dtype: object) -> DType:
    """The user-facing DType for anything that names a type."""
    return dtype if isinstance(dtype, DType) else _BY_NUMPY[to_numpy_dtype(dtype)]


def name_of(dtype: np.dtype) -> str:
    known = _BY_NUMPY.get(dtype)
    return known.name if known is not None else str(dtype)


def is_supported(dtype: np.dtype) -> bool:
    return dtype in _BY_NUMPY


def is_floating(dtype: np.dtype) -> bool:
    return dtype in _FLOATING


def is_reduced_precision(dtype: np.dtype) -> bool:
    """Whether NumPy has no good arithmetic of its own for this floating type (half, bfloat16, float8)."""
    return dtype in _REDUCED


def is_differentiable(dtype: np.dtype) -> bool:
    return dtype in _FLOATING or dtype.kind == "c"


def is_integer(dtype: np.dtype) -> bool:
    return dtype.kind in "iu"


def real_dtype(dtype: np.dtype) -> np.dtype:
    return FLOAT32 if dtype == COMPLEX64 else FLOAT64 if dtype == COMPLEX128 else dtype


class _Default:
    dtype = FLOAT32


def set_default_dtype(dtype: object) -> None:
    """Sets the floating type that creation functions and layers use when none is named."""
    chosen = to_numpy_dtype(dtype)
    if chosen not in (FLOAT16, BFLOAT16, FLOAT32, FLOAT64):
        raise type_error(
            "set_default_dtype",
            f"the default must be float16, bfloat16, float32 or float64, received {dtype!r}",
        )
    _Default.dtype = chosen


def get_default_dtype() -> str:
    """The floating type that creation functions and layers use where none is named.

    Examples:
        >>> paddle.get_default_dtype()
        'float32'
    """
    return name_of(_Default.dtype)


def default_float() -> np.dtype:
    return _Default.dtype


class FInfo:
    """The limits of a floating type: `min`, `max`, `eps`, `tiny`, `smallest_normal`, `resolution`, `bits`, `dtype`.

    Args:
        dtype: the type; of a complex one, that of its parts.

    Examples:
        >>> info = paddle.finfo("float16")
        >>> info.max, info.eps, info.bits
        (65504.0, 0.0009765625, 16)
    """

    def __init__(self, dtype: DTypeLike) -> None:
        real = real_dtype(to_numpy_dtype(dtype))
        info = cast(Any, ml_dtypes.finfo(real))
        self.dtype = name_of(real)
        self.bits = int(info.bits)
        self.min, self.max = float(info.min), float(info.max)
        self.eps, self.tiny = float(info.eps), float(info.tiny)
        self.smallest_normal = float(info.smallest_normal)
        self.resolution = 10.0**-info.precision

    def __repr__(self) -> str:
        names = ("min", "max", "eps", "resolution", "smallest_normal", "tiny")
        limits = ", ".join(f"{name}={getattr(self, name):g}" for name in names)
        return f"paddle.finfo({limits}, bits={self.bits}, dtype={self.dtype})"


class IInfo:
    """The limits of an integer type: `min`, `max`, `bits`, `dtype`.

    Args:
        dtype: the type.

    Examples:
        >>> info = paddle.iinfo("int8")
        >>> info.min, info.max
        (-128, 127)
    """

    def __init__(self, dtype: DTypeLike) -> None:
        info = np.iinfo(to_numpy_dtype(dtype))
        self.dtype = name_of(to_numpy_dtype(dtype))
        self.bits, self.min, self.max = int(info.bits), int(info.min), int(info.max)

    def __repr__(self) -> str:
        return f"paddle.iinfo(min={self.min}, max={self.max}, bits={self.bits}, dtype={self.dtype})"


DTYPES: dict[str, DType] = {name: _BY_NAME[name] for name in _ENUM_VALUES}
