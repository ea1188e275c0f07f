"""What a sentencepiece model file (`tokenizer.model`, `spiece.model`) holds.

The file is a protocol buffer with a handful of fields that matter; they are read here, which is a page, so that the package
of that name is not needed.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.errors import value_error
from .building import NORMAL, Vocabulary

UNIGRAM, BYTE_PAIRS = 1, 2
_LARGEST = 2**28


@dataclass
class SentencePieceModel:
    vocabulary: Vocabulary
    kind: int
    charsmap: bytes
    prefix: bool  # a space before the text
    squeeze: bool  # several spaces are one
    bos: int
    eos: int
    pad: int


def read_model(path: str) -> SentencePieceModel:
    with open(path, "rb") as file:
        data = file.read(_LARGEST + 1)
    try:
        if len(data) > _LARGEST:
            raise ValueError(f"more than {_LARGEST} bytes")
        return _model(data)
    except (IndexError, TypeError, ValueError, struct.error) as error:
        raise value_error(
            "from_folder", f"{path!r} is no sentencepiece model, or it is damaged", str(error), "fetch the file again"
        ) from error


def _model(data: bytes) -> SentencePieceModel:
    pieces, scores, kinds = [], [], []
    trainer: dict[int, Any] = {}
    normalizer: dict[int, Any] = {}
    for field, value in _fields(data):
        if field == 1:
            piece = dict(_fields(_message(value)))
            pieces.append(_message(piece.get(1, b"")).decode())
            scores.append(struct.unpack("<f", piece.get(2, bytes(4)))[0])
            kinds.append(_number(piece.get(3, NORMAL)))
        elif field in (2, 3):
            (trainer if field == 2 else normalizer).update(_fields(_message(value)))
    return SentencePieceModel(
        Vocabulary("from_folder", pieces, np.array(kinds, np.int64), np.array(scores, np.float32)),
        _number(trainer.get(3, UNIGRAM)),
        _message(normalizer.get(2, b"")),
        bool(_number(normalizer.get(3, 1))),
        bool(_number(normalizer.get(4, 1))),
        *(_signed(_number(trainer.get(field, otherwise))) for field, otherwise in ((41, 1), (42, 2), (43, 2**64 - 1))),
    )


def _message(value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError("a field is a number where text is expected")
    return value


def _number(value: Any) -> int:
    if not isinstance(value, int):
        raise ValueError("a field is text where a number is expected")
    return value


def _signed(value: int) -> int:
    """-1, for "there is none", is written in 64 bits."""
    return value - 2**64 if value >= 2**63 else value


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Numbers and contents of the fields of a message: an int, or bytes."""
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        kind = key & 7
        if kind == 0:
            value, position = _varint(data, position)
            yield key >> 3, value
            continue
        if kind == 2:
            length, position = _varint(data, position)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise ValueError(f"a field of the kind {kind}")
        if position + length > len(data):
            raise ValueError("it ends within a field")
        yield key >> 3, data[position : position + length]
        position += length


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise ValueError("a number without end")
