"""CTC: compared with a decoder written the slow way, and with what spaces look like."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from proa.ocr.models import read_characters
from proa.ocr.recognising import decode

CHARACTERS = ["", "a", "b", "中", "@", " "]


def steps(*classes: int, sure: float = 0.95, space: dict[int, float] | None = None) -> np.ndarray:
    chances = np.full((len(classes), len(CHARACTERS)), 1e-5)
    chances[np.arange(len(classes)), classes] = sure
    for place, chance in (space or {}).items():
        chances[place, -1] = chance
    return chances


def test_random_steps_decode_as_the_definition_says() -> None:
    generator = np.random.default_rng(3)
    for _ in range(200):
        classes = generator.integers(0, len(CHARACTERS), generator.integers(1, 12)).tolist()
        chances = steps(*classes)
        merged = [key for key, _ in itertools.groupby(classes)]
        expected = "".join(CHARACTERS[key] for key in merged if key)
        text, confidence = decode(chances, CHARACTERS)
        assert text == expected
        assert confidence == (pytest.approx(0.95) if expected else 0.0)


def test_repetitions_merge_unless_a_blank_is_between() -> None:
    assert decode(steps(1, 1, 0, 1, 2, 2), CHARACTERS)[0] == "aab"
    assert decode(steps(0, 0), CHARACTERS) == ("", 0.0)


def test_a_doubtful_gap_between_letters_is_a_space() -> None:
    assert decode(steps(1, 0, 0, 2), CHARACTERS)[0] == "ab"
    assert decode(steps(1, 0, 0, 2, space={1: 0.03, 2: 0.02}), CHARACTERS)[0] == "a b"
    # Where one was read already, there is no second; Chinese has none.
    assert decode(steps(1, 5, 0, 2, space={2: 0.3}), CHARACTERS)[0] == "a b"
    assert decode(steps(3, 0, 0, 2, space={1: 0.3}), CHARACTERS)[0] == "中b"
    # Beside a sign more is needed.
    assert decode(steps(1, 0, 0, 4, space={1: 0.1}), CHARACTERS)[0] == "a@"
    assert decode(steps(1, 0, 0, 4, space={1: 0.15, 2: 0.1}), CHARACTERS)[0] == "a @"


def test_characters_are_lines_of_a_file(tmp_path) -> None:
    file = tmp_path / "keys.txt"
    file.write_bytes("\ufeffa\r\n\u2028\r\n中".encode())
    assert read_characters(str(file)) == ["", "a", "\u2028", "中", " "]
    file.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(ValueError, match=r"characters cannot be read.*keys\.txt"):
        read_characters(str(file))
    file.write_bytes(b"")
    with pytest.raises(ValueError, match="one character a line"):
        read_characters(str(file))
