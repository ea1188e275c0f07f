"""An unpickler that reads data and runs nothing.

A pickle names the functions it wants called. Only the few that NumPy arrays and plain containers need are found here,
each checked for what it is called with; everything else is refused by name. Arrays and their data types are put together
by the code below from checked parts, never by NumPy from whatever the file says. Before anything is read, `scan` walks
over the file's commands: lengths and numbers that cannot be true (a damaged file) are found there, so that no memory is
asked for on their word.
"""

from __future__ import annotations

import pickle
import pickletools
import sys
from collections import OrderedDict
from typing import Any

import ml_dtypes
import numpy as np

_FLOAT_FORMATS = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
# How many bytes hold the length of an argument that says its own.
_LENGTH_BYTES = {
    pickletools.TAKEN_FROM_ARGUMENT1: 1, pickletools.TAKEN_FROM_ARGUMENT4: 4,
    pickletools.TAKEN_FROM_ARGUMENT4U: 4, pickletools.TAKEN_FROM_ARGUMENT8U: 8,
}  # fmt: skip


def _argument_sizes() -> dict[int, tuple[str, int]]:
    sizes: dict[int, tuple[str, int]] = {}
    for opcode in pickletools.opcodes:
        argument = opcode.arg
        if argument is None:
            kind = ("fixed", 0)
        elif argument.n >= 0:
            kind = ("fixed", argument.n)
        elif argument.n in _LENGTH_BYTES:
            kind = ("counted", _LENGTH_BYTES[argument.n])
        else:
            kind = ("lines", 2 if opcode.name in ("GLOBAL", "INST") else 1)
        sizes[ord(opcode.code)] = kind
    return sizes


_SIZES = _argument_sizes()
_STOP, _FRAME, _PUT_TEXT = ord("."), 0x95, ord("p")
_PUTS = (_PUT_TEXT, ord("q"), ord("r"))


class Damaged(ValueError):
    """The file is not a whole pickle."""


def scan(data: Any) -> int:
    """Where the pickle at the beginning of `data` (bytes, a memory map) ends; `Damaged` if it cannot be read."""
    position, end, num_commands = 0, len(data), 0
    while position < end:
        code = data[position]
        kind = _SIZES.get(code)
        if kind is None:
            raise Damaged(f"byte {position} is not a command of a pickle (0x{code:02x})")
        start, position = position, position + 1
        if code == _STOP:
            return position
        how, size = kind
        number = 0
        if how == "lines":
            for _ in range(size):
                newline = data.find(b"\n", position)
                if newline < 0:
                    raise Damaged(f"the file ends within the text at byte {start}")
                line, position = data[position:newline], newline + 1
                if code == _PUT_TEXT:
                    number = int(line) if line.isdigit() and len(line) < 12 else -1
        elif size:
            number = int.from_bytes(data[position : position + size], "little")
            position += size
            needed = position + (number if how == "counted" or code == _FRAME else 0)
            if needed > end:
                raise Damaged(f"{end} bytes are there, and at least {needed} belong to it")
            if how == "counted":
                position = needed
        # Numbers under which parts are remembered go up one by one; one far above would only cost memory.
        if code in _PUTS and not 0 <= number <= num_commands:
            raise Damaged("it numbers its parts as no pickle does")
        num_commands += 1
    raise Damaged(f"it ends after {end} bytes, before its end was said")


class PendingArray:
    """An array whose parts were read; `array()` puts them together."""

    __slots__ = ("parts",)

    def __init__(self) -> None:
        self.parts: Any = None

    def __setstate__(self, state: Any) -> None:
        if not isinstance(state, tuple) or len(state) != 5:
            raise refusal("an array in an unknown form")
        _, shape, dtype, is_fortran, data = state
        kind = dtype.dtype if isinstance(dtype, PendingDtype) else None
        if kind is None or not isinstance(data, bytes):
            raise refusal("an array of Python objects")
        self.parts = (kind, _shape(shape, kind, len(data)), bool(is_fortran), data)

    def array(self) -> np.ndarray:
        """The array, with memory of its own."""
        return np.array(self.view())

    def view(self) -> np.ndarray:
        """The array in the memory that was read: for those who copy it anyway."""
        if self.parts is None:
            raise Damaged("an array without content")
        dtype, shape, is_fortran, data = self.parts
        flat = np.frombuffer(data, dtype) if dtype.itemsize and data else np.zeros(int(np.prod(shape)), dtype)
        return flat.reshape(shape, order="F" if is_fortran else "C").astype(dtype.newbyteorder("="), copy=False)


class PendingDtype:
    """A NumPy data type: its name, and the order of its bytes once that is read."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: np.dtype) -> None:
        self.dtype = dtype

    def __setstate__(self, state: Any) -> None:
        if not isinstance(state, tuple) or len(state) < 5 or any(part is not None for part in state[2:5]):
            raise refusal("a structured data type")
        if state[1] not in ("<", ">", "|", "="):
            raise Damaged(f"a data type with the byte order {state[1]!r}")
        dtype = self.dtype
        if dtype.kind in "mM" and len(state) > 8:
            unit, count = state[8][1][:2]
            dtype = np.dtype(f"{dtype.kind}8[{int(count)}{bytes(unit).decode()}]")
        self.dtype = dtype.newbyteorder(state[1])


def _shape(shape: Any, dtype: np.dtype, num_bytes: int) -> tuple[int, ...]:
    if not isinstance(shape, tuple) or not all(type(size) is int and size >= 0 for size in shape):
        raise Damaged(f"an array with the shape {shape!r}")
    elements = 1
    for size in shape:
        elements *= size
    if elements * dtype.itemsize != num_bytes:
        raise Damaged(f"an array of the shape {list(shape)} and type {dtype} with {num_bytes} bytes")
    return shape


class _Allowed:
    """A function that a pickle may call; without attributes, so that it cannot be changed."""

    __slots__ = ()


class _ArrayClass(_Allowed):
    """Stands for `numpy.ndarray`, which is only named, never called."""


class _MakeArray(_Allowed):
    def __call__(self, kind: Any, shape: Any, typecode: Any) -> PendingArray:
        if not isinstance(kind, _ArrayClass):
            raise refusal("a NumPy array of another class")
        return PendingArray()


class _MakeScalar(_Allowed):
    def __call__(self, dtype: Any, data: Any = b"") -> Any:
        if not isinstance(dtype, PendingDtype) or not isinstance(data, bytes):
            raise refusal("a NumPy scalar of Python objects")
        _shape((), dtype.dtype, len(data))
        return np.frombuffer(data, dtype.dtype)[0] if data else np.zeros((), dtype.dtype)[()]


class _MakeDtype(_Allowed):
    def __call__(self, name: Any, align: Any = False, copy: Any = True) -> PendingDtype:
        if isinstance(name, _FloatFormat):
            return PendingDtype(np.dtype(getattr(ml_dtypes, name.name)))
        if not isinstance(name, str) or len(name) > 12:
            raise refusal(f"NumPy's data type {str(name)[:40]!r}")
        dtype = np.dtype(name)
        if dtype.hasobject or dtype.fields is not None or dtype.kind not in "biufcSUmM" or dtype.itemsize > 1 << 20:
            raise refusal(f"NumPy's data type {name!r}")
        return PendingDtype(dtype)


class _ArrayFromBuffer(_Allowed):
    def __call__(self, buffer: Any, dtype: Any, shape: Any, order: Any = "C") -> PendingArray:
        pending = PendingArray()
        pending.__setstate__((1, shape, dtype, order == "F", bytes(_checked_bytes(buffer))))
        return pending


class _FloatFormat(_Allowed):
    """A floating-point format beyond NumPy's own."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_name", name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("this cannot be changed")

    @property
    def name(self) -> str:
        return self._name


class _EncodeLatin1(_Allowed):
    """How bytes were written before protocol 3."""

    def __call__(self, text: Any, encoding: Any = "latin1") -> bytes:
        if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
            raise refusal(f"the text encoding {str(encoding)[:40]!r}")
        return text.encode("latin1")


def _checked_bytes(content: Any) -> Any:
    """Bytes, never a number: `bytes(10**12)` would be a terabyte of zeros."""
    if not isinstance(content, (bytes, bytearray, list)):
        raise refusal("bytes made of something else")
    return content


class _MakeBytes(_Allowed):
    def __call__(self, content: Any = b"") -> bytes:
        return bytes(_checked_bytes(content))


class _MakeByteArray(_Allowed):
    def __call__(self, content: Any = b"", encoding: Any = None) -> bytearray:
        return bytearray(_EncodeLatin1()(content, encoding) if encoding is not None else _checked_bytes(content))


_ALLOWED: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("_codecs", "encode"): _EncodeLatin1(),
    ("numpy", "ndarray"): _ArrayClass(),
    ("numpy", "dtype"): _MakeDtype(),
}
for _module in ("numpy._core.multiarray", "numpy.core.multiarray"):
    _ALLOWED[_module, "_reconstruct"] = _MakeArray()
    _ALLOWED[_module, "scalar"] = _MakeScalar()
for _module in ("numpy._core.numeric", "numpy.core.numeric"):
    _ALLOWED[_module, "_frombuffer"] = _ArrayFromBuffer()
for _module in ("builtins", "__builtin__"):
    _ALLOWED.update({(_module, kind.__name__): kind for kind in (complex, dict, frozenset, list, set, tuple)})
    _ALLOWED[_module, "bytes"] = _MakeBytes()
    _ALLOWED[_module, "bytearray"] = _MakeByteArray()
for _format in _FLOAT_FORMATS:
    _ALLOWED["ml_dtypes", _format] = _FloatFormat(_format)


class Refusal(pickle.UnpicklingError):
    """The file asks for more than data; a file that is merely damaged raises another error."""


def refusal(what: str) -> Refusal:
    """The error for a file that asks for more than data."""
    return Refusal(
        f"(load) the file is refused: it asks for {what}, and only arrays, numbers, strings and containers are read, "
        "because an object in a file can run any code. If you trust where the file comes from, say so: "
        "paddle.load(path, allow_objects=True), allow_objects=[its classes], or PROA_ALLOW_OBJECTS=1."
    )


class RestrictedUnpickler(pickle.Unpickler):
    """Finds only what data needs, and classes of `more`: by module and name, ones that run nothing when they are made."""

    def __init__(self, file: Any, more: dict[tuple[str, str], Any] | None = None) -> None:
        super().__init__(file)
        self._more = more or {}

    def find_class(self, module: str, name: str) -> Any:
        found = _ALLOWED.get((module, name)) or self._more.get((module, name))
        if found is None:
            raise refusal(f"{module}.{name}"[:200])
        return found

    def persistent_load(self, pid: Any) -> Any:
        raise refusal(f"an object kept outside of the file ({str(pid)[:40]!r})")


class ObjectUnpickler(pickle.Unpickler):
    """Finds everything (`allowed` is True), or what data needs and the named classes: for files that the user trusts."""

    def __init__(self, file: Any, allowed: Any) -> None:
        super().__init__(file)
        self._names = None if allowed is True else {_class_name(entry) for entry in allowed}

    def find_class(self, module: str, name: str) -> Any:
        if module.split(".")[0] == "paddle" and "paddle" not in sys.modules:
            module = "proa" + module[len("paddle") :]  # written by Paddle, or under its name
        needed = (module, name) in _ALLOWED and module != "_codecs"
        if self._names is not None and not needed and f"{module}.{name}" not in self._names:
            raise refusal(f"{module}.{name}"[:200])
        return super().find_class(module, name)


def _class_name(entry: Any) -> str:
    return entry if isinstance(entry, str) else f"{entry.__module__}.{entry.__qualname__}"
