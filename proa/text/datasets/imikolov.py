"""Mikolov's selection of the Penn Treebank, for language models."""

from __future__ import annotations

import collections
import io
import tarfile
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.errors import failed_check
from ...io import Dataset
from ...utils.dataset_files import choose_mode, find_file, member, whole_file

_URL = "https://dataset.bj.bcebos.com/imikolov%2Fsimple-examples.tgz"
_MD5 = "30177ea32e27c525793142b6bf2c8e2d"
_FOLDER = "./simple-examples/data/ptb.{}.txt"


class Imikolov(Dataset):
    """The Penn treebank as prepared by Mikolov: windows of words, or sentences.

    Words that occur more than `min_word_freq` times in the parts for training and validation have numbers; `word_idx`
    maps words, as bytes, and the strings "<s>", "<e>" and "<unk>" to them.

    Args:
        data_file: the archive; None to download it.
        data_type: "NGRAM" for windows of `window_size` words, "SEQ" for (sentence, sentence shifted by one).
        window_size: the length of windows; in "SEQ", longer sentences are left out where it is positive.
        mode: 'train' or 'test'.
        min_word_freq: how often a word must occur.
        download: whether a missing file may be downloaded.

    Examples:
        >>> dataset = paddle.text.Imikolov(data_type="NGRAM", window_size=5)  # doctest: +SKIP
        >>> paddle.text.Imikolov(data_type="WORDS")
        Traceback (most recent call last):
            ...
        proa.core.errors.FailedCheck: (Imikolov) data_type must be 'NGRAM' or 'SEQ'; received data_type: 'WORDS'.
    """

    def __init__(
        self,
        data_file: str | None = None,
        data_type: str = "NGRAM",
        window_size: int = -1,
        mode: str = "train",
        min_word_freq: int = 50,
        download: bool = True,
    ) -> None:
        where = "Imikolov"
        self.data_type = data_type.upper() if isinstance(data_type, str) else data_type
        if self.data_type not in ("NGRAM", "SEQ"):
            raise failed_check(where, "data_type must be 'NGRAM' or 'SEQ'", f"data_type: {data_type!r}")
        self.mode = choose_mode(where, mode, ("train", "test"))
        if self.data_type == "NGRAM" and window_size < 1:
            raise failed_check(where, "NGRAM needs the number of words in a window", f"window_size: {window_size}")
        self.window_size, self.min_word_freq = window_size, min_word_freq
        self.data_file = find_file(where, "data_file", data_file, _URL, _MD5, "imikolov", download)
        with whole_file(where, self.data_file), tarfile.open(self.data_file) as archive:
            texts = {
                part: member(where, archive, self.data_file, _FOLDER.format(part))
                for part in dict.fromkeys(("train", "valid", self.mode))
            }
        self.word_idx = self._build_work_dict(texts, min_word_freq)
        lines = io.BytesIO(texts[self.mode])
        self.data = self._load_anno(lines)

    def word_count(self, f: Iterable[Any], word_freq: dict[Any, int] | None = None) -> dict[Any, int]:
        """How often each word occurs in the lines of a file.

        Each line begins with "<s>" and ends with "<e>".

        Args:
            f: the lines, as bytes.
            word_freq: earlier counts that are added to, or None.

        Returns:
            A dictionary of counts.

        Examples:
            >>> counts = paddle.text.Imikolov.word_count(None, [b"the cat", b"the dog"])
            >>> counts[b"the"], counts["<s>"]
            (2, 2)
        """
        counts: dict[Any, int] = collections.defaultdict(int) if word_freq is None else word_freq
        for line in f:
            for word in (*line.strip().split(), "<s>", "<e>"):
                counts[word] = counts.get(word, 0) + 1
        return counts

    def _build_work_dict(self, texts: dict[str, bytes], cutoff: int) -> dict[Any, int]:
        counts = self.word_count(io.BytesIO(texts["train"]), self.word_count(io.BytesIO(texts["valid"])))
        counts.pop(b"<unk>", None)  # it is what all rare words are called

        def order(word: Any) -> tuple[int, bytes]:
            return -counts[word], word.encode() if isinstance(word, str) else word

        kept = sorted((word for word, count in counts.items() if count > cutoff), key=order)
        numbers = {word: number for number, word in enumerate(kept)}
        numbers["<unk>"] = len(kept)
        return numbers

    def _load_anno(self, lines: Iterable[bytes]) -> list[tuple[Any, ...]]:
        unknown = self.word_idx["<unk>"]
        begin, end = (self.word_idx.get(mark, unknown) for mark in ("<s>", "<e>"))
        data: list[tuple[Any, ...]] = []
        for line in lines:
            words = [self.word_idx.get(word, unknown) for word in line.strip().split()]
            if self.data_type == "SEQ":
                if self.window_size <= 0 or len(words) + 1 <= self.window_size:
                    data.append(([begin, *words], [*words, end]))
                continue
            sentence = [begin, *words, end]
            for last in range(self.window_size, len(sentence) + 1):
                data.append(tuple(sentence[last - self.window_size : last]))
        return data

    def __getitem__(self, idx: int) -> tuple[np.ndarray, ...]:
        return tuple(np.array(part) for part in self.data[idx])

    def __len__(self) -> int:
        return len(self.data)
