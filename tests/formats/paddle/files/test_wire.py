"""Protocol-buffer messages: known encodings, and limits."""

from __future__ import annotations

import pathlib
import struct

import pytest

from proa.formats.paddle.files.legacy.schema import PROGRAM
from proa.formats.paddle.files.wire import Schema, decode, encode

FIXTURES = pathlib.Path(__file__).parent.parent / "fixtures"
INNER: Schema = {1: ("a", "int")}
SCHEMA: Schema = {
    1: ("number", "int"),
    2: ("text", "string"),
    3: ("inner", INNER),
    4: ("numbers", "ints"),
    5: ("flag", "bool"),
    6: ("small", "float"),
    7: ("large", "double"),
    8: ("raw", "bytes"),
    9: ("inners", [INNER]),
    10: ("texts", "strings"),
}


@pytest.mark.parametrize(
    ("message", "data"),
    [
        ({"number": 150}, "08 96 01"),
        ({"number": -1}, "08 ff ff ff ff ff ff ff ff ff 01"),
        ({"text": "testing"}, "12 07 74 65 73 74 69 6e 67"),
        ({"inner": {"a": 150}}, "1a 03 08 96 01"),
        ({"numbers": [3, 270]}, "20 03 20 8e 02"),
        ({"flag": True}, "28 01"),
        ({"small": 1.0}, "35 00 00 80 3f"),
        ({"large": -2.0}, "39 00 00 00 00 00 00 00 c0"),
        ({"raw": b"\xff\x00"}, "42 02 ff 00"),
        ({"inners": [{"a": 1}, {}]}, "4a 02 08 01 4a 00"),
        ({"texts": ["", "é"]}, "52 00 52 02 c3 a9"),
    ],
)
def test_known_bytes(message: dict, data: str) -> None:
    assert encode(message, SCHEMA) == bytes.fromhex(data)
    assert decode(bytes.fromhex(data), SCHEMA) == message


def test_packed_numbers_and_unknown_fields() -> None:
    assert decode(bytes.fromhex("22 06 03 8e 02 9e a7 05"), SCHEMA) == {"numbers": [3, 270, 86942]}
    unknown = "f8 01 05  fa 01 02 08 01  fd 01 00 00 00 00  f9 01" + "00" * 8
    assert decode(bytes.fromhex(unknown + "08 01"), SCHEMA) == {"number": 1}


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.pdmodel")), ids=lambda path: path.name)
def test_real_files_are_reproduced_byte_by_byte(path: pathlib.Path) -> None:
    content = path.read_bytes()
    assert encode(decode(content, PROGRAM), PROGRAM) == content


@pytest.mark.parametrize(
    "data",
    [
        "08",  # ends within a field
        "08 ff ff ff ff ff ff ff ff ff ff 01",  # eleven bytes of number
        "12 05 61",  # text longer than the file
        "12 ff ff ff ff ff ff ff ff 7f",
        "12 02 ff fe",  # not text
        "0a 01 00",  # a number as bytes
        "18 01",  # a message as number
        "00 01",  # field 0
        "0b",  # a group
        "35 00 00",
        "22 02 ff ff",  # packed number past its end
    ],
)
def test_damaged_messages(data: str) -> None:
    with pytest.raises(ValueError, match="protobuf"):
        decode(bytes.fromhex(data), SCHEMA)


def test_depth_is_limited() -> None:
    nested: Schema = {}
    nested[1] = ("again", nested)
    data = b""
    for _ in range(100):
        data = (
            b"\x0a"
            + (struct.pack("B", len(data)) if len(data) < 128 else bytes([len(data) % 128 | 128, len(data) // 128]))
            + data
        )
    with pytest.raises(ValueError, match="nested more than"):
        decode(data, nested)
