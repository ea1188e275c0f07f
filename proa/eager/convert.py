"""Host data to arrays, with Paddle's dtype rules: Python floats become the default float, ints int64, NumPy stays."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..core.dtype import BOOL, COMPLEX64, COMPLEX128, FLOAT64, INT64, default_float, is_supported, to_numpy_dtype
from ..core.errors import IntegerTooLarge, type_error, value_error

_LARGE = 1 << 14  # bytes from which on it matters where an array begins
_LINE = 64  # XLA reads arrays where they lie if they begin at a multiple of this, and copies others at each run


def host_array(data: Any, dtype: Any = None, own: bool = True) -> Any:
    """A NumPy array of its own (or a JAX array, as it is) for `data`; ValueError for ragged lists.

    Without `own` it may be the user's: for who has copied it before he could change it.
    """
    wanted = None if dtype is None else to_numpy_dtype(dtype)
    array_class = getattr(sys.modules.get("jax"), "Array", None)  # None, too, while another thread imports JAX
    if array_class is not None and isinstance(data, array_class):
        return data if wanted is None or wanted == data.dtype else data.astype(wanted)
    if isinstance(data, (np.ndarray, np.generic)):
        array = _own_array(data, wanted) if own else np.asarray(data, dtype=wanted, order="C")
    else:
        array = _from_python(data)
        if wanted is None:
            if array.dtype == np.uint64 and not hasattr(data, "__array__"):  # how NumPy takes 2**63 to 2**64 - 1
                raise IntegerTooLarge("(to_tensor) an integer does not fit into int64.")
            wanted = _default_dtype(array.dtype, data)
        array = array.astype(wanted, copy=False)
    if not is_supported(array.dtype):
        raise type_error(
            "to_tensor",
            f"no tensor has the data type {array.dtype}",
            type(data).__name__,
            "give numbers, nested lists of numbers, or arrays",
        )
    return array


def _own_array(data: Any, wanted: Any) -> np.ndarray:
    """A copy, in the order of the axes."""
    dtype = data.dtype if wanted is None else wanted
    size = data.size * dtype.itemsize
    if size < _LARGE or dtype.hasobject or dtype.itemsize == 0:
        return np.array(data, dtype=wanted, order="C")
    room = np.empty(size + _LINE, np.uint8)
    first = -room.ctypes.data % _LINE
    array = room[first : first + size].view(dtype).reshape(data.shape)
    np.copyto(array, data, casting="unsafe")
    return array


def _from_python(data: Any) -> np.ndarray:
    if data is None:
        raise type_error("to_tensor", "None is not data")
    if hasattr(data, "__array__"):
        return np.array(data)
    if hasattr(data, "__dlpack__"):
        return np.array(np.from_dlpack(data))
    try:
        array = np.array(_plain(data))
    except ValueError as error:
        raise value_error("to_tensor", "nested lists must have equal lengths at each level", str(error)) from None
    if array.dtype.kind == "O":
        if _has_big_integer(data):
            raise IntegerTooLarge("(to_tensor) an integer does not fit into int64.")
        raise type_error("to_tensor", "the data is not numbers", f"{type(data).__name__}")
    return array


def _plain(data: Any) -> Any:
    """Lists that hold tensors, as lists of arrays."""
    if isinstance(data, (list, tuple)):
        return [_plain(item) for item in data]
    if hasattr(data, "_aval"):
        return np.asarray(data)
    return data


def _has_big_integer(data: Any) -> bool:
    if isinstance(data, (list, tuple)):
        return any(_has_big_integer(item) for item in data)
    return isinstance(data, int) and not -(2**63) <= data < 2**63


def _holds_tensors(data: Any) -> bool:
    """Whether the numbers in nested lists come from tensors, whose dtype is kept (NumPy's in a list is not)."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return hasattr(data, "_aval") or (hasattr(data, "__dlpack__") and not isinstance(data, (np.ndarray, np.generic)))


def _default_dtype(found: np.dtype, data: Any) -> np.dtype:
    """Paddle's rule for data without a dtype of its own."""
    if _holds_tensors(data):
        return found
    if found == FLOAT64:
        return default_float()
    if found == COMPLEX128:
        return COMPLEX128 if default_float() == FLOAT64 else COMPLEX64
    if found.kind in "iu":
        return INT64
    return BOOL if found.kind == "b" else found
