"""Between tensors and what stands in a pickle: Paddle's two forms of content.

* a *state dictionary* (every value a tensor, or a dictionary without tensors such as a schedule's state) is a dictionary
  of NumPy arrays, with the tensors' own names under `StructuredToParameterName@@`;
* anything else keeps its shape, and each tensor in it is a tuple of its name and a NumPy array.

Objects of other classes (the arguments of a trainer) are pickled as they are. Reading them back runs code of those classes,
so that `load` does it only for files that it is told to trust.

bfloat16 is stored as uint16. Protocols 2 and 3 cannot hold large arrays: in a state dictionary these are cut into slices
of less than 1 GiB, listed under `UnpackBigParamInfor@@`.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.dtype import BFLOAT16, is_supported
from ..core.errors import type_error
from ..eager.tensor import Tensor, tensor_from_data
from .unpickler import Damaged, PendingArray

NAME_TABLE = "StructuredToParameterName@@"
_SLICE_TABLE = "UnpackBigParamInfor@@"
_SLICE_BYTES = 2**30 - 1

# What may stand in a file: all that `load` can read back.
_PLAIN = (type(None), bool, int, float, complex, str, bytes, bytearray)
_CONTAINERS = (dict, list, tuple, set, frozenset)
# An array that was read: still in parts, or whole where objects were allowed.
_ARRAYS = (PendingArray, np.ndarray)


# ---- writing -------------------------------------------------------------------------------------


def to_content(obj: Any, protocol: int, copied: bool = False) -> Any:
    """What is pickled for `obj`: arrays (with `copied`, of their own) instead of tensors; TypeError where pickle refuses."""
    if not _is_state_dictionary(obj):
        return _with_arrays(obj, copied)
    content: dict[Any, Any] = {}
    names: dict[Any, str] = {}
    for key, value in obj.items():
        if isinstance(value, Tensor):
            content[key] = stored_array(value, copied)
            names[key] = value.name
        else:
            content[key] = _with_arrays(value, copied)
    content[NAME_TABLE] = names
    return _cut_into_slices(content) if protocol < 4 else content


def stored_array(tensor: Tensor, copied: bool = False) -> np.ndarray:
    """A tensor's numbers as they stand in a file."""
    array = np.array(tensor._data(), order="C") if copied else np.ascontiguousarray(np.asarray(tensor._data()))
    array = array.reshape(tensor._aval.shape)
    return array.view(np.uint16) if array.dtype == BFLOAT16 else array


def _is_state_dictionary(obj: Any) -> bool:
    """Whether every value is a tensor or a dictionary without tensors."""
    if not isinstance(obj, dict) or not obj:
        return False
    return all(
        isinstance(value, Tensor) or (isinstance(value, dict) and not _has_tensor(value)) for value in obj.values()
    )


def _has_tensor(obj: Any) -> bool:
    if isinstance(obj, dict):
        return any(_has_tensor(value) for value in obj.values())
    if isinstance(obj, (list, tuple, set)):
        return any(_has_tensor(value) for value in obj)
    return isinstance(obj, Tensor)


def _cut_into_slices(content: dict[Any, Any]) -> dict[Any, Any]:
    table: dict[Any, Any] = {}
    for key, value in list(content.items()):
        if not isinstance(value, np.ndarray) or value.nbytes <= _SLICE_BYTES:
            continue
        flat = content.pop(key).reshape(-1)
        step = _SLICE_BYTES // value.itemsize
        parts = {f"{key}@@.{number}": flat[i : i + step] for number, i in enumerate(range(0, flat.size, step))}
        content.update(parts)
        table[key] = {"OriginShape": value.shape, "slices": list(parts)}
    if table:
        content[_SLICE_TABLE] = table
    return content


def _with_arrays(obj: Any, copied: bool) -> Any:
    """The same structure with tensors as (name, array)."""
    if isinstance(obj, Tensor):
        return _NamedArray((obj.name, stored_array(obj, copied)))
    if isinstance(obj, dict):
        pairs = [(_with_arrays(key, copied), _with_arrays(value, copied)) for key, value in obj.items()]
        return OrderedDict(pairs) if isinstance(obj, OrderedDict) else dict(pairs)
    if isinstance(obj, (set, frozenset)) or type(obj) in (list, tuple):
        return type(obj)(_with_arrays(item, copied) for item in obj)
    if isinstance(obj, (np.ndarray, np.generic)):
        if obj.dtype.hasobject or obj.dtype.fields is not None:
            raise type_error("save", "an array of Python objects or records cannot be saved", repr(obj.dtype))
        return np.array(obj, copy=copied or None) if isinstance(obj, np.ndarray) else obj
    if isinstance(obj, _PLAIN):
        return obj
    if isinstance(obj, _CONTAINERS):  # a named tuple, a list of the user's own class …
        return _with_arrays(tuple(obj) if isinstance(obj, tuple) else list(obj), copied)
    return _checked_object(obj, copied)


def _checked_object(obj: Any, copied: bool) -> Any:
    """An object of some class, as Paddle pickles it: `load` gives it back to who trusts the file (`allow_objects`)."""
    try:
        pickled = pickle.dumps(obj)
    except Exception as error:
        raise type_error(
            "save",
            f"an object of the type {type(obj).__name__} cannot be saved: {error}"[:300],
            repr(obj)[:80],
            "save tensors, arrays, numbers, strings, containers of them, or objects that pickle can write",
        ) from None
    return pickle.loads(pickled) if copied else obj


class _NamedArray(tuple):  # type: ignore[type-arg]
    """A tensor as Paddle writes it: the call `tuple((name, array))`."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        return tuple, (tuple(self),)


# ---- reading -------------------------------------------------------------------------------------


def from_content(content: Any, return_numpy: bool, keep_name_table: bool) -> Any:
    """What `load` gives for the content of a file."""
    if isinstance(content, dict) and NAME_TABLE in content:
        return _state(content, return_numpy, keep_name_table)
    # Without any named array in it the file holds bare arrays; they come as tensors, as in Paddle.
    make_array = _array if return_numpy or _holds_named_array(content, set()) else _tensor_of_array
    return _Restorer(return_numpy, make_array).restore(content)


def _state(content: dict[Any, Any], return_numpy: bool, keep_name_table: bool) -> dict[Any, Any]:
    content = _joined_slices(content)
    names = content.pop(NAME_TABLE)
    restorer = _Restorer(return_numpy, _array)
    found: dict[Any, Any] = {}
    for key, value in content.items():
        if isinstance(value, (np.ndarray, PendingArray)):
            name = names.get(key) if isinstance(names, dict) else None
            found[key] = _array(value) if return_numpy else _tensor(value, name)
        else:
            found[key] = restorer.restore(value)
    if keep_name_table:
        found[NAME_TABLE] = names
    return found


def _joined_slices(content: dict[Any, Any]) -> dict[Any, Any]:
    """Puts together what was cut into slices."""
    joined = dict(content)
    table = joined.pop(_SLICE_TABLE, None)
    if not isinstance(table, dict):
        return joined
    for name, entry in table.items():
        parts = [_array(joined.pop(part)).reshape(-1) for part in entry["slices"]]
        joined[name] = np.concatenate(parts).reshape(entry["OriginShape"])
    return joined


def _array(pending: Any) -> np.ndarray:
    return pending.array() if isinstance(pending, PendingArray) else pending


def _tensor_of_array(pending: Any) -> Any:
    array = _array(pending)
    return _tensor(array, None) if is_supported(array.dtype) else array


def _tensor(pending: Any, name: Any) -> Tensor:
    array = pending.view() if isinstance(pending, PendingArray) else pending
    tensor = tensor_from_data(array.view(BFLOAT16) if array.dtype == np.uint16 else array)
    if isinstance(name, str):
        tensor.name = name
    return tensor


def _is_named_array(obj: Any) -> bool:
    return isinstance(obj, tuple) and len(obj) == 2 and isinstance(obj[0], str) and isinstance(obj[1], _ARRAYS)


def _holds_named_array(obj: Any, seen: set[int]) -> bool:
    if not isinstance(obj, (dict, list, tuple)) or id(obj) in seen:
        return False
    if _is_named_array(obj):
        return True
    seen.add(id(obj))
    return any(_holds_named_array(item, seen) for item in (obj.values() if isinstance(obj, dict) else obj))


class _Restorer:
    """Walks a structure once; a part that stands in it several times is still one object afterwards."""

    def __init__(self, return_numpy: bool, make_array: Callable[[Any], Any]) -> None:
        self._return_numpy = return_numpy
        self._make_array = make_array
        self._done: dict[int, Any] = {}
        self._open: set[int] = set()

    def restore(self, obj: Any) -> Any:
        if not isinstance(obj, _ARRAYS) and type(obj) not in (tuple, list, dict, OrderedDict):
            return obj
        key = id(obj)
        if key in self._done:
            return self._done[key]
        if key in self._open:
            raise Damaged("a container that contains itself")
        self._open.add(key)
        found = self._done[key] = self._restored(obj)
        self._open.discard(key)
        return found

    def _restored(self, obj: Any) -> Any:
        if isinstance(obj, _ARRAYS):
            return self._make_array(obj)
        if _is_named_array(obj):
            return _array(obj[1]) if self._return_numpy else _tensor(obj[1], obj[0])
        if isinstance(obj, tuple):
            return tuple([self.restore(item) for item in obj])
        if isinstance(obj, list):
            return [self.restore(item) for item in obj]
        kind = OrderedDict if isinstance(obj, OrderedDict) else dict
        return kind([(self.restore(key), self.restore(value)) for key, value in obj.items()])
