"""Native kernels called on NumPy arrays, without XLA: for operations that tier 0 runs one by one.

Nothing is compiled for a new shape, and nothing waits: where the libraries were not made yet, NumPy does the work. The
factories of the kernels are used as they are; inside `on_host` the library gives and calls handlers directly.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import flags
from ...core.dtype import BFLOAT16
from . import compiled, library

_SCALAR, _ARRAY = 3, 1  # XLA_FFI_AttrType
_DTYPES = {  # XLA_FFI_DataType
    np.dtype(np.bool_): 1, np.dtype(np.int8): 2, np.dtype(np.int32): 4, np.dtype(np.int64): 5, np.dtype(np.uint8): 6,
    np.dtype(np.float16): 10, np.dtype(np.float32): 11, np.dtype(np.float64): 12, BFLOAT16: 16,
}  # fmt: skip


class NotThere(Exception):
    """A kernel needs a second library, and that one was not made yet."""


def on_host(factory: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel for NumPy: native code where the factory's kernel would use it, else `plain`."""
    kernel, thread, here = factory(plain), library.THREAD, sys.modules[__name__]

    def run(xp: Any, *arguments: Any) -> Any:
        before, thread.direct = thread.direct, here
        try:
            return kernel(xp, *arguments)
        except NotThere:
            return plain(xp, *arguments)
        finally:
            thread.direct = before

    return run


class _Thread(threading.local):
    def __init__(self) -> None:
        self.last: dict[str, tuple[tuple[Any, ...], int, Any]] = {}  # by name: arrays (weakly), number, results


_THREAD = _Thread()


def once(name: str, arrays: tuple[Any, ...], number: int, compute: Callable[[], Any]) -> Any:
    """What was computed last under this name, if it was from the same arrays: their values are never overwritten."""
    last = _THREAD.last.get(name)
    if last is not None and last[1] == number and all(held() is a for held, a in zip(last[0], arrays, strict=True)):
        return last[2]
    results = compute()
    _THREAD.last[name] = (tuple([weakref.ref(array) for array in arrays]), number, results)
    return results


_FOUND: dict[str, Any] = {}  # by name; what is not there yet may come


def _caller() -> Any:
    """The C function that makes a call frame, or None where it was not compiled yet."""
    if "" not in _FOUND:
        opened = library.opened(compiled.DIRECT)
        if opened is None:
            return None
        opened.proa_use_threads(ctypes.c_int64(flags.get("FLAGS_num_threads") or compiled.num_cores()))
        function = opened.proa_call_directly
        function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p]
        function.restype = ctypes.c_char_p
        _FOUND[""] = function
    return _FOUND[""]


def is_open(symbol: str) -> bool:
    """Whether a handler was asked for before and is there."""
    return symbol in _FOUND


def handler(symbol: str) -> int | None:
    """The address of a handler, or None where there is none yet."""
    found = _FOUND.get(symbol)
    if found is None:
        opened = library.opened(library.owner_of(symbol))
        if opened is None or _caller() is None:
            return None
        found = _FOUND[symbol] = ctypes.cast(getattr(opened, symbol), ctypes.c_void_p).value
    return found


def call(symbol: str, outputs: Any, operands: tuple[Any, ...], attributes: dict[str, Any], over: dict[int, int]) -> Any:
    """Runs a native kernel now; the arrays of its results. `over`: see `library.call`."""
    given = [_in_memory(operand) for operand in operands]
    several = isinstance(outputs, (list, tuple))
    made = [_room(out) for out in (outputs if several else [outputs])]
    for operand, result in over.items():
        np.copyto(made[result], given[operand])
        given[operand] = made[result]
    arrays = [*given, *made]
    description = _described(len(given), arrays, attributes)
    problem = _run(symbol, description, arrays)
    if problem is not None:
        raise RuntimeError(f"({symbol}) {problem.decode(errors='replace')}")
    # What is behind native code in cold code expects the order of memory that shapes imply.
    made = [_contiguous(array) for array in made]
    return tuple(made) if several else made[0]


Description = tuple[np.ndarray, int, bytes]
_DESCRIPTIONS: dict[Any, Description] = {}  # of calls, by what decides them: cold code repeats itself
_MOST_DESCRIPTIONS = 4096


def _described(num_operands: int, arrays: list[Any], attributes: dict[str, Any]) -> Description:
    """What `native/direct.cpp` is told of a call: numbers, where they lie, and the names of its attributes."""
    about = [(name, *_identity(value)) for name, value in attributes.items()]
    key = (num_operands, *[(array.dtype, array.shape) for array in arrays], *about)
    found = _DESCRIPTIONS.get(key)
    if found is None:
        if len(_DESCRIPTIONS) >= _MOST_DESCRIPTIONS:
            _DESCRIPTIONS.clear()
        found = _DESCRIPTIONS[key] = _description(num_operands, arrays, attributes)
    return found


def _identity(value: Any) -> tuple[Any, ...]:
    """Equal for equal attributes alone: 1 is not True."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype, value.shape, value.tobytes()
    return value.__class__, value


def _description(num_operands: int, arrays: list[Any], attributes: dict[str, Any]) -> Description:
    numbers = [num_operands, len(arrays) - num_operands, len(attributes)]
    for array in arrays:
        numbers += [_DTYPES[array.dtype], array.ndim, *array.shape]
    names = b""
    for name, value in sorted(attributes.items()):
        values = np.asarray(value)
        dtype = _DTYPES[values.dtype]
        if values.dtype == np.float32:
            values = values.view(np.int32)  # its bits travel
        assert values.dtype.kind in "bi", f"the attribute {name} cannot travel as an integer"
        numbers += [_ARRAY if values.ndim else _SCALAR, dtype, len(name), values.size]
        numbers += values.reshape(-1).astype(np.int64).tolist()
        names += name.encode()
    made = np.array(numbers, np.int64)
    return made, made.ctypes.data, names


def _run(symbol: str, description: Description, arrays: list[Any]) -> bytes | None:
    """What the handler complains of, or None; the meaning of the numbers is `native/direct.cpp`'s."""
    _, numbers, names = description
    address = _FOUND.get(symbol) or handler(symbol)
    if address is None:
        raise NotThere
    pointers = (ctypes.c_void_p * len(arrays))(*_addresses(arrays))
    return _FOUND[""](address, numbers, ctypes.addressof(pointers), names)


# Where NumPy keeps the address of an array's elements: in the first field behind what every object has. That is part of its
# binary interface (`PyArrayObject_fields`), and reading it takes a fifth of the time of `array.ctypes.data`.
_FIELD = object.__basicsize__
_pointer_at = ctypes.c_void_p.from_address


def _read_addresses(arrays: list[Any]) -> list[Any]:
    return [_pointer_at(id(array) + _FIELD).value for array in arrays]


def _ask_addresses(arrays: list[Any]) -> list[Any]:
    return [array.ctypes.data for array in arrays]


def _is_where_expected() -> bool:
    """Whether the field is there in this Python: another one than CPython may have other objects."""
    if sys.implementation.name != "cpython":
        return False
    examples = [np.zeros(3), np.zeros((2, 5), np.float32)[:, 1:], np.zeros((), np.int8), np.zeros((0, 4))]
    return _read_addresses(examples) == _ask_addresses(examples)


_addresses = _read_addresses if _is_where_expected() else _ask_addresses


def _contiguous(array: Any) -> Any:
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def _in_memory(operand: Any) -> Any:
    """An operand as native code reads it: shape as it is, elements in the order that was asked for."""
    if operand.__class__ is not library.Image:
        return _contiguous(np.asarray(operand))
    return _contiguous(operand.array.transpose(operand.order)).transpose(operand.inverse)


def _room(out: Any) -> Any:
    if out.__class__ is not library.Image:
        return np.empty(out.shape, out.dtype)
    shape = out.array.shape
    return np.empty([shape[axis] for axis in out.order], out.array.dtype).transpose(out.inverse)
