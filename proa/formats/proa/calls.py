"""Calls that look at values, in a program: which public function, and its arguments.

    call       {"call": {"function": name, "arguments": argument}}
    argument   {"tensor": number of the operand}, {"list": [...]}, {"tuple": [...]}, {"dict": [[key, argument]]},
               {"slice": [a, b, c]}, {"all": true} (...), or {"value": value}

Only functions that compute tensors from tensors and plain data can be named (`graph/deferred.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import DType
from ...graph.deferred import Deferred, function_for, name_in_files
from ...graph.structure import Leaf
from .archive import DamagedArtifact

_DEEPEST = 8
_MOST_PARTS = 10_000
Encode = Callable[[Any], Any]


def encode_call(call: Deferred, encode_value: Encode) -> dict[str, Any]:
    name = name_in_files(call.function)
    if name is None:
        raise TypeError(
            f"(save) values decide the shape of what {call.name} gives, and files cannot name that function"
        )
    return {"call": {"function": name, "arguments": _encode(call.arguments, encode_value)}}


def _encode(value: Any, encode_value: Encode) -> Any:
    if isinstance(value, Leaf):
        return {"tensor": value.position}
    if isinstance(value, dict):
        return {"dict": [[key, _encode(part, encode_value)] for key, part in value.items()]}
    if value.__class__ in (list, tuple):
        return {value.__class__.__name__: [_encode(part, encode_value) for part in value]}
    if value.__class__ is slice:
        return {"slice": [_encode(part, encode_value) for part in (value.start, value.stop, value.step)]}
    if value is Ellipsis:
        return {"all": True}
    if isinstance(value, np.ndarray) and value.size <= _MOST_PARTS:
        return {"list": [_encode(part, encode_value) for part in value.tolist()]}
    return {"value": encode_value(value.numpy_dtype if isinstance(value, DType) else value)}


def decode_call(content: Any, outputs: Sequence[Aval], num_operands: int, decode_value: Encode) -> Deferred:
    name = content.get("function") if isinstance(content, dict) else None
    function = function_for(name) if isinstance(name, str) else None
    if function is None:
        raise DamagedArtifact(f"(load) {str(name)[:60]!r} is no function that a file may name")
    call = Deferred(function, ())
    call.arguments = _decode(content.get("arguments"), num_operands, decode_value)
    good = call.arguments.__class__ is tuple and len(call.arguments) == 2
    if not good or call.arguments[0].__class__ is not tuple or call.arguments[1].__class__ is not dict:
        raise DamagedArtifact(f"(load) the call of {name} has no arguments; the file is damaged")
    call.outputs = list(outputs)
    return call


def _decode(content: Any, count: int, decode_value: Encode, depth: int = 0) -> Any:
    if not isinstance(content, dict) or len(content) != 1 or depth > _DEEPEST:
        raise DamagedArtifact("(load) an argument of a call is of no known kind; the file is damaged")
    ((kind, inner),) = content.items()
    if kind == "value":
        return decode_value(inner)
    if kind == "all":
        return Ellipsis
    if kind == "tensor":
        if inner.__class__ is not int or not 0 <= inner < count:
            raise DamagedArtifact("(load) an argument of a call is no operand; the file is damaged")
        return Leaf(inner)
    if kind not in ("list", "tuple", "dict", "slice") or not isinstance(inner, list) or len(inner) > _MOST_PARTS:
        raise DamagedArtifact("(load) an argument of a call is of no known kind; the file is damaged")
    if kind == "dict":
        pairs = [(key, _decode(part, count, decode_value, depth + 1)) for key, part in inner]
        if not all(isinstance(key, str) for key, _ in pairs):
            raise DamagedArtifact("(load) a named argument has no name; the file is damaged")
        return dict(pairs)
    parts = [_decode(part, count, decode_value, depth + 1) for part in inner]
    if kind == "slice":
        return slice(*parts)
    return parts if kind == "list" else tuple(parts)


__all__ = ["decode_call", "encode_call"]
