"""Requests for results and their answers as HTTP bodies: JSON, with the bytes of tensors behind it (binary extension)."""

from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np

from .datatypes import checked_shape, from_bytes, from_json, to_bytes, to_json
from .refusals import Kind, Refused, bad_request
from .service import Answer, Question, refuse_not_offered, seconds_of
from .signature import Signature

HEADER_LENGTH = "inference-header-content-length"


def unpacked(body: bytes, encoding: str | None, most: int) -> bytes:
    """The body without its compression, if it stays within the limit."""
    if encoding in (None, "", "identity"):
        return body
    if encoding not in ("gzip", "deflate"):
        raise Refused(Kind.UNKNOWN_ENCODING, f"the encoding {encoding[:40]!r} is not known; use gzip or deflate.")
    reader = zlib.decompressobj(wbits=47 if encoding == "gzip" else 15)
    try:
        found = reader.decompress(body, most + 1)
    except zlib.error as error:
        raise bad_request(f"the body is no {encoding} data: {error}.") from None
    if len(found) > most:
        raise Refused(Kind.TOO_LARGE, f"the unpacked request has more than the {most} bytes that are allowed.")
    if not reader.eof:
        raise bad_request(f"the {encoding} data of the body ends too early.")
    return found


def parsed_json(text: bytes | memoryview) -> dict[str, Any]:
    try:
        found = json.loads(bytes(text))
    except (ValueError, RecursionError) as error:
        raise bad_request(f"the request is no JSON: {str(error)[:200]}.") from None
    if not isinstance(found, dict):
        raise bad_request(f"the request must be a JSON object; received {type(found).__name__}.")
    return found


def read_question(body: bytes, header_length: str | None, signature: Signature) -> Question:
    """What a body asks for; Refused where it cannot be understood."""
    view = memoryview(body)
    length = len(view)
    if header_length is not None:
        if not header_length.isascii() or not header_length.isdecimal() or int(header_length[:20]) > len(view):
            raise bad_request(f"{HEADER_LENGTH} is {header_length[:40]!r}; the body has {len(view)} bytes.")
        length = int(header_length)
    message = parsed_json(view[:length])
    parameters = _table(message, "parameters")
    refuse_not_offered(parameters)
    inputs = _read_inputs(message, view[length:], signature)
    asked = message.get("outputs") or []
    if not isinstance(asked, list) or not all(isinstance(entry, dict) for entry in asked):
        raise bad_request("outputs must be a list of objects.")
    all_binary = parameters.get("binary_data_output") is True
    outputs = []
    for entry in asked:
        own = _table(entry, "parameters")
        refuse_not_offered(own)
        outputs.append((entry.get("name"), own.get("binary_data", all_binary) is True))
    identity = message.get("id", "")
    if not isinstance(identity, str):
        raise bad_request(f"id must be a text; received {str(identity)[:60]}.")
    return Question(inputs, outputs, all_binary, identity, seconds_of(parameters.get("timeout")))


def _read_inputs(message: dict[str, Any], rest: memoryview, signature: Signature) -> dict[str, np.ndarray]:
    given = message.get("inputs")
    if not isinstance(given, list) or not all(isinstance(entry, dict) for entry in given):
        raise bad_request("inputs must be a list of objects.")
    found: dict[str, np.ndarray] = {}
    position = 0
    for entry in given:
        name, datatype = entry.get("name"), entry.get("datatype")
        if not isinstance(name, str) or name in found:
            raise bad_request(f"every input needs a name of its own; received {str(name)[:80]!r}.")
        port = signature.input(name, str(datatype))
        shape = checked_shape(entry.get("shape"), name)
        own = _table(entry, "parameters")
        refuse_not_offered(own)
        size = own.get("binary_data_size")
        if size is None:
            if "data" not in entry:
                raise bad_request(f"input {name} has neither data nor binary_data_size.")
            found[name] = from_json(entry["data"], port.datatype, shape, name)
            continue
        if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= len(rest) - position:
            raise bad_request(f"input {name}: binary_data_size is {size!r}; {len(rest) - position} bytes are left.")
        found[name] = from_bytes(rest[position : position + size], port.datatype, shape, name)
        position += size
    if position != len(rest):
        raise bad_request(f"{len(rest) - position} bytes behind the last tensor belong to no input.")
    return found


def _table(message: dict[str, Any], name: str) -> dict[str, Any]:
    found = message.get(name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise bad_request(f"{name} must be an object; received {str(found)[:60]}.")
    return found


def write_answer(answer: Answer) -> tuple[bytes, dict[str, str]]:
    """The body and the headers."""
    outputs: list[dict[str, Any]] = []
    behind: list[bytes] = []
    for port, array, binary in answer.outputs:
        entry: dict[str, Any] = {"name": port.name, "datatype": port.datatype, "shape": list(array.shape)}
        if binary:
            behind.append(to_bytes(array, port.datatype))
            entry["parameters"] = {"binary_data_size": len(behind[-1])}
        else:
            entry["data"] = to_json(array, port.datatype, port.name)
        outputs.append(entry)
    message: dict[str, Any] = {"model_name": answer.version.name, "model_version": answer.version.version}
    if answer.question.id:
        message["id"] = answer.question.id
    message["outputs"] = outputs
    text = json.dumps(message).encode()
    if not behind:
        return text, {"content-type": "application/json"}
    headers = {"content-type": "application/octet-stream", HEADER_LENGTH: str(len(text))}
    return b"".join([text, *behind]), headers
