"""An unpickler that reads data and runs nothing.

A pickle names the functions it wants called. Only the few that NumPy arrays and plain containers
need are found here, each checked for what it is called with; everything else is refused by name.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from typing import Any

import ml_dtypes
import numpy as np
from numpy._core.multiarray import _reconstruct, scalar  # pyright: ignore[reportPrivateUsage]

_BUILTINS = {
    "bool": bool, "bytearray": bytearray, "bytes": bytes, "complex": complex, "dict": dict,
    "float": float, "frozenset": frozenset, "int": int, "list": list, "set": set, "str": str,
    "tuple": tuple,
}  # fmt: skip
_FLOAT_FORMATS = ("bfloat16", "float8_e4m3fn", "float8_e5m2")


class _Allowed:
    """A function that a pickle may call; without attributes, so that it cannot be changed."""

    __slots__ = ()


class _MakeArray(_Allowed):
    def __call__(self, kind: Any, shape: Any, typecode: Any) -> Any:
        if kind is not np.ndarray:
            raise refusal("a NumPy array of another class")
        return _reconstruct(np.ndarray, shape, typecode)


class _MakeScalar(_Allowed):
    def __call__(self, dtype: Any, data: Any = b"") -> Any:
        if not isinstance(dtype, np.dtype) or dtype.hasobject:
            raise refusal("a NumPy scalar of Python objects")
        return scalar(dtype, data)


class _MakeDtype(_Allowed):
    def __call__(self, name: Any, align: bool = False, copy: bool = True) -> Any:
        dtype = np.dtype(name)
        if dtype.hasobject or dtype.fields is not None:
            raise refusal(f"NumPy's data type {name!r}")
        return dtype


class _ArrayFromBuffer(_Allowed):
    def __call__(self, buffer: Any, dtype: Any, shape: Any, order: str) -> Any:
        if not isinstance(dtype, np.dtype) or dtype.hasobject:
            raise refusal("an array of Python objects")
        return np.frombuffer(buffer, dtype).reshape(shape, order=order)  # type: ignore[call-overload]


class _EncodeLatin1(_Allowed):
    """How bytes were written before protocol 3."""

    def __call__(self, text: Any, encoding: Any = "latin1") -> bytes:
        if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
            raise refusal(f"the text encoding {encoding!r}")
        return text.encode("latin1")


_ALLOWED: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("_codecs", "encode"): _EncodeLatin1(),
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): _MakeDtype(),
}
for _module in ("numpy._core.multiarray", "numpy.core.multiarray"):
    _ALLOWED[_module, "_reconstruct"] = _MakeArray()
    _ALLOWED[_module, "scalar"] = _MakeScalar()
for _module in ("numpy._core.numeric", "numpy.core.numeric"):
    _ALLOWED[_module, "_frombuffer"] = _ArrayFromBuffer()
for _module in ("builtins", "__builtin__"):
    _ALLOWED.update({(_module, name): kind for name, kind in _BUILTINS.items()})
for _format in _FLOAT_FORMATS:
    _ALLOWED["ml_dtypes", _format] = getattr(ml_dtypes, _format)


def refusal(what: str) -> pickle.UnpicklingError:
    """The error for a file that asks for more than data."""
    error = pickle.UnpicklingError(
        f"(load) the file is refused: it asks for {what}, and only arrays, numbers, strings and "
        "containers are read; files that run code when loaded are never opened."
    )
    error.refused = True  # type: ignore[attr-defined]
    return error


class RestrictedUnpickler(pickle.Unpickler):
    """Finds only what data needs."""

    def find_class(self, module: str, name: str) -> Any:
        found = _ALLOWED.get((module, name))
        if found is None:
            raise refusal(f"{module}.{name}")
        return found

    def persistent_load(self, pid: Any) -> Any:
        raise refusal(f"an object kept outside of the file ({pid!r})")
