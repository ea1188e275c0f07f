"""Film reviews, for or against."""

from __future__ import annotations

import collections
import re
import string
import tarfile

import numpy as np

from ...io import Dataset
from ...utils.dataset_files import choose_mode, damaged, find_file, whole_file

_URL = "https://dataset.bj.bcebos.com/imdb%2FaclImdb_v1.tar.gz"
_MD5 = "7c2ac02c03563afcf9b574c7e56c153a"
_NAME = re.compile(r"aclImdb/(train|test)/(pos|neg)/.*\.txt$")


class Imdb(Dataset):
    """Film reviews: `dataset[i]` is (numbers of words, [0 for a good review or 1 for a bad one]).

    Words that occur more than `cutoff` times in all reviews have numbers, the most frequent first; `word_idx` maps
    the words, as bytes, and the string "<unk>" for all others to them.

    Args:
        data_file: the archive; None to download it.
        mode: 'train' or 'test'.
        cutoff: how often a word must occur.
        download: whether a missing file may be downloaded.

    Examples:
        >>> words, label = paddle.text.Imdb(mode="train")[0]  # doctest: +SKIP
        >>> paddle.text.Imdb(mode="all")
        Traceback (most recent call last):
            ...
        proa.core.errors.FailedCheck: (Imdb) mode must be one of train, test; received mode: 'all'.
    """

    def __init__(
        self, data_file: str | None = None, mode: str = "train", cutoff: int = 150, download: bool = True
    ) -> None:
        where = "Imdb"
        self.mode = choose_mode(where, mode, ("train", "test"))
        self.data_file = find_file(where, "data_file", data_file, _URL, _MD5, "imdb", download)
        reviews = self._read(where)
        counts = collections.Counter(word for _, _, words in reviews for word in words)
        kept = sorted(
            (word for word, count in counts.items() if count > cutoff), key=lambda word: (-counts[word], word)
        )
        self.word_idx: dict[bytes | str, int] = {word: number for number, word in enumerate(kept)}
        unknown = self.word_idx["<unk>"] = len(kept)
        self.docs: list[list[int]] = []
        self.labels: list[int] = []
        for label, wanted in enumerate(("pos", "neg")):
            for part, kind, words in reviews:
                if (part, kind) == (self.mode, wanted):
                    self.docs.append([self.word_idx.get(word, unknown) for word in words])
                    self.labels.append(label)

    def _read(self, where: str) -> list[tuple[str, str, list[bytes]]]:
        """(train or test, pos or neg, words) of every review, in the archive's order."""
        reviews = []
        with whole_file(where, self.data_file), tarfile.open(self.data_file) as archive:
            for entry in archive:
                match = _NAME.match(entry.name)
                file = archive.extractfile(entry) if match else None
                if match is None or file is None:
                    continue
                text = file.read().rstrip(b"\n\r").translate(None, string.punctuation.encode("latin1"))
                reviews.append((match[1], match[2], text.lower().split()))
        if not reviews:
            raise damaged(where, self.data_file, "there are no reviews aclImdb/*/*/*.txt in it")
        return reviews

    def __getitem__(self, idx: int) -> tuple[np.ndarray, np.ndarray]:
        return np.array(self.docs[idx], np.int64), np.array([self.labels[idx]], np.int64)

    def __len__(self) -> int:
        return len(self.docs)
