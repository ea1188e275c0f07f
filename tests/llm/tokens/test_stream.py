"""Text piece by piece: never half a character, and all pieces are what decoding at once gives."""

from __future__ import annotations

import random

import pytest
import tokenizers

from proa.llm.tokens import Tokenizer
from proa.llm.tokens.tokenizer import Special
from tests.llm.tokens.made import make, word_piece_vocabulary
from tests.llm.tokens.strings import odd_strings


@pytest.fixture(scope="module", params=["gpt2 gpt-2", "llama", "llama without prefix", "bert"])
def tokenizer(request, tmp_path_factory):
    return Tokenizer.from_gguf(make(tmp_path_factory.mktemp("made"), request.param))


def pieces_of(tokenizer, ids, **options):
    stream = tokenizer.stream(**options)
    return [*(stream.step(number) for number in ids), stream.flush()]


def test_every_string(tokenizer):
    for text in odd_strings():
        ids = tokenizer.encode(text)
        pieces = pieces_of(tokenizer, ids)
        assert "".join(pieces) == tokenizer.decode(ids)
        if "\ufffd" not in text:
            assert not any("\ufffd" in piece for piece in pieces)


def test_a_long_text_of_bytes(tokenizer):
    text = "".join(odd_strings()).replace("\ufffd", "")
    ids = tokenizer.encode(text)
    pieces = pieces_of(tokenizer, ids)
    assert "".join(pieces) == tokenizer.decode(ids)
    assert max(map(len, pieces)) < 60  # it goes on as it comes


def test_bytes_of_every_string(tokenizer):
    """Tokens are bytes of the text, whatever parts of characters they are, but for spaces."""
    for text in ("größe", "☃ 世界", "👩‍🚀 naïve", "\ufffd é"):
        ids = tokenizer.encode(text, special=False)
        found = b"".join(tokenizer.bytes_of(number) for number in ids)
        assert found.replace(b" ", b"") == tokenizer.decode(ids, skip_special=False).replace(" ", "").encode()


def byte_tokens(pieces):
    """A tokenizer whose tokens are these pieces of bytes."""
    letters = dict(zip(range(256), bytes_as_letters(), strict=True))
    vocabulary = {"".join(letters[byte] for byte in piece): number for number, piece in enumerate(pieces)}
    inner = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, []))
    inner.decoder = tokenizers.decoders.ByteLevel()
    return Tokenizer(inner, Special())


def bytes_as_letters():
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte) if byte in plain else chr(next(others)) for byte in range(256)]


def test_tokens_that_end_one_character_and_begin_the_next():
    one = "世".encode()
    tokenizer = byte_tokens([one[:1], one[1:] + one[:1], one[1:]])
    pieces = pieces_of(tokenizer, [0, *[1] * 20, 2])
    assert "".join(pieces) == "世" * 21
    assert not any("\ufffd" in piece for piece in pieces)
    assert sum(map(bool, pieces)) > 3  # it does not wait for the end


@pytest.mark.parametrize("seed", range(6))
def test_random_bytes_in_random_tokens(seed):
    """Broken characters are shown as broken, and whole ones among them stay whole."""
    chance = random.Random(seed)
    signs = ["a", " ", "é", "世", "🙂", "\x00"]
    data = b"".join(
        chance.choice([chance.choice(signs).encode(), bytes([chance.randrange(256)])])
        if chance.random() < 0.5
        else b"xy"
        for _ in range(300)
    )
    cuts = sorted(chance.sample(range(1, len(data)), len(data) // 2))
    parts = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    known = list(dict.fromkeys(parts))
    tokenizer = byte_tokens(known)
    pieces = pieces_of(tokenizer, [known.index(part) for part in parts])
    assert "".join(pieces) == data.decode("utf-8", "replace") == tokenizer.decode([known.index(part) for part in parts])


def test_special_tokens_are_left_out_or_shown(tmp_path):
    tokenizer = Tokenizer.from_gguf(make(tmp_path, "llama"))
    hello = tokenizer.encode("Hello world", special=False)
    assert pieces_of(tokenizer, [1, *hello, 2]) == [*pieces_of(tokenizer, [1, *hello])[:-1], "", ""]
    assert "".join(pieces_of(tokenizer, [*hello, 2, *hello])) == tokenizer.decode([*hello, 2, *hello])
    shown = "".join(pieces_of(tokenizer, [1, *hello, 2], skip_special=False))
    assert shown == tokenizer.decode([1, *hello, 2], skip_special=False)
    assert shown.endswith("world</s>")


def test_a_stream_may_be_used_again(tokenizer):
    stream = tokenizer.stream()
    ids = tokenizer.encode("hello world", special=False)
    first = "".join(map(stream.step, ids)) + stream.flush()
    assert "".join(map(stream.step, ids)) + stream.flush() == first == tokenizer.decode(ids)
    assert stream.flush() == ""


@pytest.mark.parametrize("number", [-1, 2**32, 2**70])
def test_numbers_that_are_no_tokens(tokenizer, number):
    with pytest.raises(ValueError, match="numbers from 0 on"):
        tokenizer.decode([number])
    with pytest.raises(ValueError, match="numbers from 0 on"):
        tokenizer.stream().step(number)
    assert tokenizer.decode([2**31]) == ""  # beyond the vocabulary, where models have room for more
    assert len(word_piece_vocabulary()) < 2**31
