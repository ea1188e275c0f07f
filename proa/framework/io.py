"""`paddle.save` and `paddle.load`, in Paddle's own file format.

The format is a pickle with two faces:

* a *state dictionary* (every value a tensor, or a plain dictionary such as a schedule's state) is a
  dictionary of NumPy arrays, with the tensors' own names under `StructuredToParameterName@@`;
* anything else keeps its shape, and each tensor in it is a tuple of its name and a NumPy array.

bfloat16 is stored as uint16. A pickle can make Python run anything, so files are read by an
unpickler that knows nothing but arrays, numbers, strings and containers. Files are written beside
their place and moved there when they are whole.
"""

from __future__ import annotations

import contextlib
import os
import pickle
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from ..core.dtype import BFLOAT16
from ..core.errors import message, type_error, value_error
from ..eager.declare import public
from ..eager.tensor import Tensor, tensor_from_data
from .unpickler import RestrictedUnpickler

_NAME_TABLE = "StructuredToParameterName@@"
_SLICE_TABLE = "UnpackBigParamInfor@@"
_LOAD_OPTIONS = ("model_filename", "params_filename", "keep_name_table", "return_numpy")

# What may stand in a file: all that `load` can read back.
_PLAIN = (type(None), bool, int, float, complex, str, bytes, bytearray)
_CONTAINERS = (dict, list, tuple, set, frozenset)


@public()
def save(obj: Any, path: str | os.PathLike[str] | BinaryIO, protocol: int = 4, **configs: Any) -> None:
    """Writes tensors, state dictionaries and nested containers of them to a file Paddle can read.

    An interrupted save leaves the file as it was before.
    """
    if not isinstance(protocol, int) or not 2 <= protocol <= 4:
        raise value_error("save", "protocol must be 2, 3 or 4", f"protocol: {protocol!r}")
    if configs.pop("use_binary_format", False):
        raise NotImplementedError(message("save", "use_binary_format is not supported"))
    if configs:
        raise value_error("save", f"there is no option {sorted(configs)}")
    if hasattr(obj, "state_dict") and hasattr(obj, "sublayers"):
        raise value_error("save", "a Layer itself cannot be saved", type(obj).__name__, "save its state_dict()")
    content = _state_dictionary(obj) if _is_state_dictionary(obj) else _with_arrays(obj)
    if hasattr(path, "write"):
        pickle.dump(content, path, protocol)  # type: ignore[arg-type]
        return
    target = _target("save", path)
    with _replacing(target) as file:
        pickle.dump(content, file, protocol)


@public()
def load(path: str | os.PathLike[str] | BinaryIO, **configs: Any) -> Any:
    """Reads a file that `save` wrote, here or in Paddle.

    `return_numpy=True` gives arrays instead of tensors; `keep_name_table=True` keeps the table of
    tensor names of a state dictionary. Nothing in the file is executed: a file with anything but
    arrays, numbers, strings and containers is refused.
    """
    unknown = sorted(set(configs) - set(_LOAD_OPTIONS))
    if unknown:
        raise value_error("load", f"there is no option {unknown}", fix=f"use one of {_LOAD_OPTIONS}")
    if hasattr(path, "read"):
        content = _unpickle(path, "the given stream")
    else:
        name = os.fspath(path)  # type: ignore[arg-type]
        if os.path.isdir(name):
            raise IsADirectoryError(message("load", "the path is a folder", repr(name)))
        if not os.path.exists(name):
            raise FileNotFoundError(message("load", "there is no such file", repr(name)))
        with open(name, "rb") as file:
            content = _unpickle(file, repr(name))
    return _restore(content, bool(configs.get("return_numpy")), bool(configs.get("keep_name_table")))


def _unpickle(file: Any, name: str) -> Any:
    try:
        return RestrictedUnpickler(file).load()
    except (
        EOFError,
        IndexError,
        KeyError,
        AttributeError,
        UnicodeDecodeError,
        MemoryError,
    ) as error:
        problem: Exception = error
    except pickle.UnpicklingError as error:
        if getattr(error, "refused", False):
            raise
        problem = error
    except (TypeError, ValueError) as error:
        problem = error
    raise value_error(
        "load", "the file is not one that save() writes, or it is damaged", f"{name}: {problem}"
    ) from problem


# ---- writing -------------------------------------------------------------------------------------


def _target(where: str, path: Any) -> str:
    name = os.fspath(path)
    if not isinstance(name, str) or not os.path.basename(name):
        raise value_error(where, "the path must end with a file name", f"path: {path!r}")
    folder = os.path.dirname(name)
    if folder:
        os.makedirs(folder, exist_ok=True)
    return os.path.realpath(name)  # behind a link: the file itself is replaced


@contextlib.contextmanager
def _replacing(target: str) -> Iterator[BinaryIO]:
    """A file that appears at `target` when the block ends well, and never otherwise."""
    temporary = f"{target}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    file = open(temporary, "xb")  # noqa: SIM115 (closed below, before it is moved)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _is_state_dictionary(obj: Any) -> bool:
    """Whether every value is a tensor or a dictionary without tensors."""
    if not isinstance(obj, dict) or not obj:
        return False
    tensors = 0
    for key, value in obj.items():
        if isinstance(value, Tensor):
            tensors += 1
        elif not isinstance(value, dict) or _has_tensor(value):
            return False
        if not isinstance(key, str):
            return False
    return tensors > 0


def _has_tensor(obj: Any) -> bool:
    if isinstance(obj, dict):
        return any(_has_tensor(value) for value in obj.values())
    if isinstance(obj, (list, tuple, set)):
        return any(_has_tensor(value) for value in obj)
    return isinstance(obj, Tensor)


def _array(tensor: Tensor) -> np.ndarray:
    array = np.ascontiguousarray(np.asarray(tensor._data()))
    array = array.reshape(tensor._aval.shape)
    return array.view(np.uint16) if array.dtype == BFLOAT16 else array


def _state_dictionary(obj: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    names: dict[str, str] = {}
    for key, value in obj.items():
        if isinstance(value, Tensor):
            content[key] = _array(value)
            names[key] = value.name
        else:
            content[key] = _with_arrays(value)
    content[_NAME_TABLE] = names
    return content


def _with_arrays(obj: Any) -> Any:
    """The same structure with tensors as (name, array); TypeError for what is not data."""
    if isinstance(obj, Tensor):
        return _NamedArray((obj.name, _array(obj)))
    if isinstance(obj, dict):
        pairs = [(_with_arrays(key), _with_arrays(value)) for key, value in obj.items()]
        return OrderedDict(pairs) if isinstance(obj, OrderedDict) else dict(pairs)
    if isinstance(obj, (set, frozenset)) or type(obj) in (list, tuple):
        return type(obj)(_with_arrays(item) for item in obj)
    if isinstance(obj, (np.ndarray, np.generic)):
        if obj.dtype.hasobject:
            raise type_error("save", "an array of Python objects cannot be saved", repr(obj.dtype))
        return obj
    if isinstance(obj, _PLAIN):
        return obj
    if isinstance(obj, _CONTAINERS):  # a named tuple, a list of the user's own class …
        return _with_arrays(tuple(obj) if isinstance(obj, tuple) else list(obj))
    raise type_error(
        "save",
        f"an object of the type {type(obj).__name__} cannot be saved",
        repr(obj)[:80],
        "save tensors, arrays, numbers, strings and containers of them (a layer's state_dict())",
    )


class _NamedArray(tuple):  # type: ignore[type-arg]
    """A tensor as Paddle writes it: the call `tuple((name, array))`."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        return tuple, (tuple(self),)


# ---- reading -------------------------------------------------------------------------------------


def _restore(content: Any, return_numpy: bool, keep_name_table: bool) -> Any:
    if isinstance(content, dict) and _NAME_TABLE in content:
        return _restore_state(content, return_numpy, keep_name_table)
    return _restore_nested(content, return_numpy)


def _restore_state(content: dict[str, Any], return_numpy: bool, keep_name_table: bool) -> Any:
    content = _joined_slices(content)
    names = content.get(_NAME_TABLE)
    found: dict[str, Any] = {}
    for key, value in content.items():
        if key == _NAME_TABLE:
            if keep_name_table:
                found[key] = value
        elif isinstance(value, np.ndarray):
            name = names.get(key) if isinstance(names, dict) else None
            found[key] = value if return_numpy else _tensor(value, name)
        else:
            found[key] = _restore_nested(value, return_numpy)
    return found


def _joined_slices(content: dict[str, Any]) -> dict[str, Any]:
    """Arrays above 1 GiB are cut into slices by Paddle's older protocols; puts them together."""
    table = content.get(_SLICE_TABLE)
    if not isinstance(table, dict):
        return content
    joined = {key: value for key, value in content.items() if key != _SLICE_TABLE}
    for name, entry in table.items():
        parts = [joined.pop(part) for part in entry["slices"]]
        joined[name] = np.concatenate(parts).reshape(entry["OriginShape"])
    return joined


def _tensor(array: np.ndarray, name: Any) -> Tensor:
    tensor = tensor_from_data(array.view(BFLOAT16) if array.dtype == np.uint16 else array)
    if isinstance(name, str):
        tensor.name = name
    return tensor


def _restore_nested(obj: Any, return_numpy: bool) -> Any:
    if isinstance(obj, tuple):
        if len(obj) == 2 and isinstance(obj[0], str) and isinstance(obj[1], np.ndarray):
            return obj[1] if return_numpy else _tensor(obj[1], obj[0])
        return tuple(_restore_nested(item, return_numpy) for item in obj)
    if isinstance(obj, list):
        return [_restore_nested(item, return_numpy) for item in obj]
    if isinstance(obj, dict):
        kind = OrderedDict if isinstance(obj, OrderedDict) else dict
        return kind((key, _restore_nested(value, return_numpy)) for key, value in obj.items())
    return obj
