"""Protocol-buffer messages from a schema that is a plain dictionary: read with limits, and written.

A schema maps a field's number to (name, kind). Kinds: "int" (signed 64-bit varint), "bool", "float" (32 bit),
"double", "string", "bytes", or another schema for a nested message; with an "s" ("ints", "strings" …) or within a list
([schema]) the field is repeated. A message becomes a dictionary with the fields that are there.

Why not the protobuf package: it would be a dependency for this one message type, it takes a message with fields of the
wrong wire type silently as unknown, and its own limits (64 MB, depth 100) do not bound the memory of a hostile file.
"""

from __future__ import annotations

import struct
from typing import Any

Schema = dict[int, tuple[str, Any]]
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_DEEPEST = 32
_WIRE = {"int": _VARINT, "bool": _VARINT, "float": _FIXED32, "double": _FIXED64, "string": _BYTES, "bytes": _BYTES}


def _varint(data: memoryview, at: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= end or shift > 63:
            raise ValueError("(protobuf) a number runs past its end; the file is damaged")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _skip(data: memoryview, at: int, end: int, wire: int) -> int:
    """Past a field that the schema does not have (a newer version's)."""
    if wire == _VARINT:
        return _varint(data, at, end)[1]
    if wire == _BYTES:
        size, at = _varint(data, at, end)
    elif wire in (_FIXED32, _FIXED64):
        size = 4 if wire == _FIXED32 else 8
    else:
        raise ValueError(f"(protobuf) field type {wire} is not in use; the file is damaged")
    if size > end - at:
        raise ValueError("(protobuf) a field is longer than what is left of the file; the file is damaged")
    return at + size


def _scalar(data: memoryview, at: int, end: int, kind: str) -> tuple[Any, int]:
    wire = _WIRE[kind]
    if wire == _VARINT:
        value, at = _varint(data, at, end)
        return (_signed(value) if kind == "int" else value != 0), at
    after = _skip(data, at, end, wire)
    if kind == "float":
        return struct.unpack_from("<f", data, at)[0], after
    if kind == "double":
        return struct.unpack_from("<d", data, at)[0], after
    size, start = _varint(data, at, end)
    piece = bytes(data[start : start + size])
    if kind == "string":
        try:
            return piece.decode(), after
        except UnicodeDecodeError:
            raise ValueError(f"(protobuf) a name is not text: {piece[:20]!r}; the file is damaged") from None
    return piece, after


def decode(data: bytes | memoryview, schema: Schema, depth: int = 0) -> dict[str, Any]:
    """The message in `data`. Raises ValueError for anything that does not fit the schema."""
    if depth > _DEEPEST:
        raise ValueError(f"(protobuf) messages are nested more than {_DEEPEST} deep; the file is damaged")
    view = memoryview(data)
    at, end = 0, len(view)
    message: dict[str, Any] = {}
    while at < end:
        key, at = _varint(view, at, end)
        number, wire = key >> 3, key & 7
        if number == 0:
            raise ValueError("(protobuf) a field has the number 0; the file is damaged")
        entry = schema.get(number)
        if entry is None:
            at = _skip(view, at, end, wire)
            continue
        name, kind = entry
        repeated = isinstance(kind, list) or (isinstance(kind, str) and kind.endswith("s") and kind[:-1] in _WIRE)
        element = kind[0] if isinstance(kind, list) else kind[:-1] if repeated else kind
        if isinstance(element, dict):
            if wire != _BYTES:
                raise ValueError(f"(protobuf) the field {name} has wire type {wire}; the file is damaged")
            after = _skip(view, at, end, wire)
            size, start = _varint(view, at, end)
            value: Any = decode(view[start : start + size], element, depth + 1)
            at = after
        elif repeated and wire == _BYTES and _WIRE[element] != _BYTES:  # packed
            after = _skip(view, at, end, wire)
            _, at = _varint(view, at, end)
            values = message.setdefault(name, [])
            while at < after:
                value, at = _scalar(view, at, after, element)
                values.append(value)
            continue
        else:
            if wire != _WIRE[element]:
                raise ValueError(f"(protobuf) the field {name} has wire type {wire}; the file is damaged")
            value, at = _scalar(view, at, end, element)
        if repeated:
            message.setdefault(name, []).append(value)
        else:
            message[name] = value
    return message


def _put_varint(value: int) -> bytes:
    value &= 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _put(value: Any, kind: Any) -> tuple[int, bytes]:
    if isinstance(kind, dict):
        content = encode(value, kind)
    elif kind in ("int", "bool"):
        return _VARINT, _put_varint(int(value))
    elif kind == "float":
        return _FIXED32, struct.pack("<f", value)
    elif kind == "double":
        return _FIXED64, struct.pack("<d", value)
    else:
        content = value.encode() if kind == "string" else value
    return _BYTES, _put_varint(len(content)) + content


def encode(message: dict[str, Any], schema: Schema) -> bytes:
    """The bytes of a message; repeated numbers are written one by one, as Paddle (proto2) does."""
    out: list[bytes] = []
    for number, (name, kind) in schema.items():
        if name not in message:
            continue
        repeated = isinstance(kind, list) or (isinstance(kind, str) and kind.endswith("s") and kind[:-1] in _WIRE)
        element = kind[0] if isinstance(kind, list) else kind[:-1] if repeated else kind
        for value in message[name] if repeated else [message[name]]:
            wire, content = _put(value, element)
            out.append(_put_varint(number << 3 | wire))
            out.append(content)
    return b"".join(out)
