"""Translation between English and German (the multimodal task of WMT 2016)."""

from __future__ import annotations

import collections
import tarfile
from typing import Any

from ...core.errors import failed_check, value_error
from ...utils.dataset_files import choose_mode, find_file, member, whole_file
from .translation import BEGIN, END, UNKNOWN, TranslationDataset, pairs_of

_URL = "http://paddlemodels.bj.bcebos.com/wmt/wmt16.tar.gz"
_MD5 = "0c38be43600334966403524a40dcd81e"


class WMT16(TranslationDataset):
    """English and German sentences: (source, target, target shifted by one).

    The vocabularies are the most frequent words of the training set, after "<s>", "<e>" and "<unk>".

    Args:
        data_file: the archive; None to download it.
        mode: 'train', 'test' or 'val'.
        src_dict_size: how many words of the source's language are used; -1 for all.
        trg_dict_size: how many of the target's.
        lang: the source's language, "en" or "de".
        download: whether a missing file may be downloaded.

    Examples:
        >>> dataset = paddle.text.WMT16(src_dict_size=1000, trg_dict_size=1000)  # doctest: +SKIP
        >>> paddle.text.WMT16(mode="all")
        Traceback (most recent call last):
            ...
        proa.core.errors.FailedCheck: (WMT16) mode must be one of train, test, val; received mode: 'all'.
    """

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        src_dict_size: int = -1,
        trg_dict_size: int = -1,
        lang: str = "en",
        download: bool = True,
    ) -> None:
        where = "WMT16"
        self.mode = choose_mode(where, mode, ("train", "test", "val"))
        if lang not in ("en", "de"):
            raise failed_check(where, "lang must be 'en' or 'de'", f"lang: {lang!r}")
        if src_dict_size <= 0 or trg_dict_size <= 0:
            raise value_error(
                where, "sizes must be positive", f"src_dict_size: {src_dict_size}, trg_dict_size: {trg_dict_size}"
            )
        self.lang, self.src_dict_size, self.trg_dict_size = lang, src_dict_size, trg_dict_size
        self.data_file = find_file(where, "data_file", data_file, _URL, _MD5, "wmt16", download)
        first = 0 if lang == "en" else 1
        with whole_file(where, self.data_file), tarfile.open(self.data_file) as archive:
            training = list(pairs_of(member(where, archive, self.data_file, "wmt16/train"), first))
            pairs = training
            if self.mode != "train":
                pairs = list(pairs_of(member(where, archive, self.data_file, f"wmt16/{self.mode}"), first))
        self.src_dict = _most_frequent((source for source, _ in training), src_dict_size)
        self.trg_dict = _most_frequent((target for _, target in training), trg_dict_size)
        self._fill(pairs, self.src_dict, self.trg_dict, None)

    def get_dict(self, lang: str, reverse: bool = False) -> dict[Any, Any]:
        """The vocabulary of a language.

        Args:
            lang: "en" or "de".
            reverse: whether numbers lead to words; otherwise words lead to numbers.

        Returns:
            A dictionary.

        Examples:
            >>> paddle.text.WMT16(src_dict_size=1000, trg_dict_size=1000).get_dict("en")["the"]  # doctest: +SKIP
        """
        if lang not in ("en", "de"):
            raise failed_check("get_dict", "lang must be 'en' or 'de'", f"lang: {lang!r}")
        words = self.src_dict if lang == self.lang else self.trg_dict
        return {number: word for word, number in words.items()} if reverse else words


def _most_frequent(sentences: Any, size: int) -> dict[str, int]:
    """Numbers of the marks and the most frequent words; words that are as frequent stay in the order they came in."""
    counts = collections.Counter(word for sentence in sentences for word in sentence.split())
    words = [BEGIN, END, UNKNOWN, *sorted(counts, key=lambda word: -counts[word])][: max(size, 3)]
    return {word: number for number, word in enumerate(words)}
