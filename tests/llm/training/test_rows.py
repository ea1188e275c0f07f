"""Rows of a batch, beside the documents they are made of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from proa.llm.training.objectives import PairRows
from proa.llm.training.rows import IGNORED, Batch, Rows, StreamRows, WholeRows, batches_of
from proa.llm.training.token_file import TokenFile, token_writer, write_tokens


def corpus(folder: Path, count: int = 40, seed: int = 0) -> tuple[TokenFile, list[list[int]]]:
    rng = np.random.default_rng(seed)
    documents = [rng.integers(0, 500, rng.integers(1, 30)).tolist() for _ in range(count)]
    write_tokens(folder / "corpus.tokens", documents, 500)
    return TokenFile(folder / "corpus.tokens"), documents


def all_rows(rows: Rows) -> Batch:
    return rows.collect(range(len(rows)))


def pieces(batch: Batch) -> list[list[int]]:
    """The documents, or parts of them, that rows hold, each with its last label."""
    found = []
    for ids, labels, segments in zip(batch.ids, batch.labels, batch.segments, strict=True):
        for segment in range(1, segments.max() + 1):
            here = segments == segment
            own, following = ids[here].tolist(), labels[here].tolist()
            assert following[:-1] == own[1:]
            found.append(own if following[-1] == IGNORED else [*own, following[-1]])
    return found


def test_a_stream_holds_every_token_and_every_label_once(tmp_path: Path) -> None:
    file, documents = corpus(tmp_path)
    batch = all_rows(StreamRows(file, 16))
    stream = [token for document in documents for token in document]
    filled = batch.ids[batch.segments > 0]
    assert filled.tolist() == stream[: len(filled)]
    assert len(stream) - len(filled) <= 1  # the last token of all may be a label only
    assert batch.num_learned == sum(len(document) - 1 for document in documents)


def test_documents_do_not_learn_from_each_other(tmp_path: Path) -> None:
    write_tokens(tmp_path / "a", [[1, 2, 3], [4, 5], [6, 7, 8, 9]], 10)
    batch = all_rows(StreamRows(TokenFile(tmp_path / "a"), 4))
    no = IGNORED
    assert batch.ids.tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert batch.labels.tolist() == [[2, 3, no, 5], [no, 7, 8, 9]]
    assert batch.segments.tolist() == [[1, 1, 1, 2], [1, 2, 2, 2]]
    assert batch.positions.tolist() == [[0, 1, 2, 0], [0, 0, 1, 2]]


def test_whole_documents_are_packed_whole(tmp_path: Path) -> None:
    file, documents = corpus(tmp_path)
    rows = WholeRows(file, 32)
    assert sorted(pieces(all_rows(rows))) == sorted(documents)
    used = sum(map(len, documents)) / (len(rows) * 32)
    assert used > 0.9, "rows are hardly filled"
    starts = all_rows(rows).positions[all_rows(rows).segments > 0] == 0
    assert starts.sum() == len(documents)


def test_without_packing_a_row_is_a_document(tmp_path: Path) -> None:
    file, documents = corpus(tmp_path)
    batch = all_rows(WholeRows(file, 32, pack=False))
    assert pieces(batch) == documents
    assert not batch.is_packed
    assert batch.segments.max() == 1


def test_a_document_that_is_too_long_loses_its_end(tmp_path: Path) -> None:
    write_tokens(tmp_path / "a", [list(range(9))], 10)
    batch = all_rows(WholeRows(TokenFile(tmp_path / "a"), 4))
    assert (batch.ids.tolist(), batch.labels.tolist()) == ([[0, 1, 2, 3]], [[1, 2, 3, 4]])


def test_what_is_given_is_not_learned(tmp_path: Path) -> None:
    with token_writer(tmp_path / "a", 10, with_given=True) as writer:
        writer.add([1, 2, 3, 4], [True, True, False, False])
    batch = all_rows(WholeRows(TokenFile(tmp_path / "a"), 4))
    assert batch.labels.tolist() == [[IGNORED, 3, 4, IGNORED]]
    assert batch.num_learned == 2


def test_each_row_comes_once_before_any_comes_again(tmp_path: Path) -> None:
    rows = StreamRows(corpus(tmp_path)[0], 16, seed=5)
    count = len(rows)
    first, second = ([rows.number_at(p) for p in range(e * count, (e + 1) * count)] for e in (0, 1))
    assert sorted(first) == sorted(second) == list(range(count))
    assert first != second != list(range(count))
    assert [rows.number_at(p) for p in range(count)] == first, "the order is a function of the place"
    assert first != [StreamRows(rows.file, 16, seed=6).number_at(p) for p in range(count)]


def test_processes_divide_what_one_alone_would_take(tmp_path: Path) -> None:
    rows = StreamRows(corpus(tmp_path)[0], 16)
    alone = [row for b in batches_of(rows, 3, 4, 2) for row in b.ids.tolist()]
    shared = [[b.ids.tolist() for b in batches_of(rows, 3, 2, 2, rank, 2)] for rank in (0, 1)]
    assert alone == [row for micro in (0, 1) for rank in (0, 1) for row in shared[rank][micro]]


def test_pairs_stay_together(tmp_path: Path) -> None:
    with token_writer(tmp_path / "a", 100, with_given=True) as writer:
        for number in range(5):
            writer.add([50, number], [True, False])
            writer.add([50, number + 10], [True, False])
    rows = PairRows(TokenFile(tmp_path / "a"), 4)
    batch = rows.batch(0, 3)
    assert len(rows) == 5
    assert (batch.ids[3:, 1] - batch.ids[:3, 1]).tolist() == [10, 10, 10]


def test_an_odd_number_of_answers_is_no_file_of_pairs(tmp_path: Path) -> None:
    write_tokens(tmp_path / "a", [[1, 2]], 10)
    with pytest.raises(ValueError, match="odd number of answers"):
        PairRows(TokenFile(tmp_path / "a"), 4)


@pytest.mark.parametrize("length", [1, 0, -3, 2.5, True])
def test_lengths_that_leave_nothing_to_learn_are_refused(tmp_path: Path, length: object) -> None:
    with pytest.raises(ValueError, match="length must be at least 2"):
        StreamRows(corpus(tmp_path)[0], length)  # type: ignore[arg-type]
