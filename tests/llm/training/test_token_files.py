"""Token files: what is written is read, and nothing else is."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from proa.llm.training.token_file import TokenFile, token_writer, write_tokens

DOCUMENTS = [[1, 2, 3], [9], [4, 5, 6, 7], [0, 0]]


@pytest.mark.parametrize("vocab_size", [10, 1 << 16, 1 << 17])
def test_documents_are_read_as_they_were_written(tmp_path: Path, vocab_size: int) -> None:
    write_tokens(tmp_path / "a.tokens", DOCUMENTS, vocab_size)
    with TokenFile(tmp_path / "a.tokens") as file:
        assert (file.vocab_size, file.num_tokens, file.num_documents) == (vocab_size, 10, 4)
        assert file.ends.tolist() == [3, 4, 8, 10]
        tokens, given = file.read(0, 99)
    assert tokens.tolist() == [1, 2, 3, 9, 4, 5, 6, 7, 0, 0]
    assert not given.any()


def test_tokens_are_narrow_where_the_vocabulary_is_small(tmp_path: Path) -> None:
    for name, vocab_size in (("narrow", 1 << 16), ("wide", (1 << 16) + 1)):
        write_tokens(tmp_path / name, [[1] * 1000], vocab_size)
    assert os.path.getsize(tmp_path / "wide") - os.path.getsize(tmp_path / "narrow") == 2000


def test_what_is_given_is_kept_apart(tmp_path: Path) -> None:
    with token_writer(tmp_path / "a", 1000, with_given=True) as writer:
        writer.add([7, 999, 3], [True, True, False])
    tokens, given = TokenFile(tmp_path / "a").read(0, 3)
    assert tokens.tolist() == [7, 999, 3]
    assert given.tolist() == [True, True, False]


@pytest.mark.parametrize("document", [[], [10], [-1], [[1, 2]], [1.5]])
def test_a_document_that_is_none_is_refused_and_nothing_written(tmp_path: Path, document: list) -> None:
    with pytest.raises(ValueError, match="document"):
        write_tokens(tmp_path / "a", [[1, 2], document], 10)
    assert os.listdir(tmp_path) == []


def test_a_file_without_documents_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one document"):
        write_tokens(tmp_path / "a", [], 10)
    assert os.listdir(tmp_path) == []


def test_every_damaged_byte_of_head_and_list_is_noticed(tmp_path: Path) -> None:
    write_tokens(tmp_path / "a", DOCUMENTS, 10)
    whole = (tmp_path / "a").read_bytes()
    tokens = range(64, 64 + 20)
    for place in set(range(len(whole))) - set(tokens):
        changed = bytearray(whole)
        changed[place] ^= 0x41
        (tmp_path / "b").write_bytes(changed)
        with pytest.raises(ValueError, match="not a whole token file"):
            TokenFile(tmp_path / "b")


def test_a_damaged_token_outside_the_vocabulary_is_noticed(tmp_path: Path) -> None:
    write_tokens(tmp_path / "a", DOCUMENTS, 10)
    changed = bytearray((tmp_path / "a").read_bytes())
    changed[65] = 3
    (tmp_path / "a").write_bytes(changed)
    with pytest.raises(ValueError, match="outside its vocabulary"):
        TokenFile(tmp_path / "a").read(0, 10)


@pytest.mark.parametrize("length", [0, 7, 63, 64, 80, 119])
def test_a_file_that_was_cut_short_is_refused(tmp_path: Path, length: int) -> None:
    write_tokens(tmp_path / "a", DOCUMENTS, 10)
    os.truncate(tmp_path / "a", length)
    with pytest.raises(ValueError, match="not a whole token file"):
        TokenFile(tmp_path / "a")


def test_a_file_that_is_cut_short_while_open_is_an_error_and_no_crash(tmp_path: Path) -> None:
    write_tokens(tmp_path / "a", [[1] * 100_000], 10)
    file = TokenFile(tmp_path / "a")
    os.truncate(tmp_path / "a", 1000)
    with pytest.raises(ValueError, match="ends early"):
        file.read(0, 100_000)


def test_threads_read_at_once(tmp_path: Path) -> None:
    numbers = np.arange(50_000) % 997
    write_tokens(tmp_path / "a", [numbers], 1000)
    file = TokenFile(tmp_path / "a")

    def piece(begin: int) -> bool:
        return bool((file.read(begin, begin + 100)[0] == numbers[begin : begin + 100]).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(piece, range(0, 49_900, 37)))
