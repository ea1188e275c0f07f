"""Translation from English to French (a small part of WMT 2014)."""

from __future__ import annotations

import tarfile
from typing import Any

from ...core.errors import failed_check, value_error
from ...utils.dataset_files import choose_mode, damaged, find_file, member, whole_file
from .translation import BEGIN, END, UNKNOWN, TranslationDataset, pairs_of

_URL = "http://paddlemodels.bj.bcebos.com/wmt/wmt14.tgz"
_MD5 = "0791583d57d5beb693b9414c5b36798c"
_LONGEST = 80


class WMT14(TranslationDataset):
    """English and French sentences: (source, target, target shifted by one).

    Args:
        data_file: the archive; None to download it.
        mode: 'train', 'test' or 'gen'.
        dict_size: how many words of each language's list are used; -1 for all.
        download: whether a missing file may be downloaded.

    Examples:
        >>> source, target, following = paddle.text.WMT14(dict_size=1000)[0]  # doctest: +SKIP
        >>> paddle.text.WMT14(mode="all")
        Traceback (most recent call last):
            ...
        proa.core.errors.FailedCheck: (WMT14) mode must be one of train, test, gen; received mode: 'all'.
    """

    def __init__(
        self, data_file: str | None = None, mode: str = "train", dict_size: int = -1, download: bool = True
    ) -> None:
        where = "WMT14"
        self.mode = choose_mode(where, mode, ("train", "test", "gen"))
        if dict_size <= 0:
            raise failed_check(where, "dict_size must be positive", f"dict_size: {dict_size}")
        self.dict_size = dict_size
        self.data_file = find_file(where, "data_file", data_file, _URL, _MD5, "wmt14", download)
        with whole_file(where, self.data_file), tarfile.open(self.data_file) as archive:
            names = archive.getnames()

            def content(ending: str) -> bytes:
                found = [name for name in names if name.endswith(ending)]
                if len(found) != 1:
                    raise damaged(where, self.data_file, f"there is no (single) {ending} in it")
                return member(where, archive, self.data_file, found[0])

            self.src_dict, self.trg_dict = (
                self._numbered(where, content(ending)) for ending in ("src.dict", "trg.dict")
            )
            pairs = pairs_of(content(f"{self.mode}/{self.mode}"))
            self._fill(pairs, self.src_dict, self.trg_dict, _LONGEST)

    def _numbered(self, where: str, content: bytes) -> dict[str, int]:
        words = content.decode("utf-8").splitlines()[: self.dict_size]
        numbers = {word.strip(): number for number, word in enumerate(words)}
        if not {BEGIN, END, UNKNOWN} <= numbers.keys():
            raise value_error(
                where, f"the first words of a list must be {BEGIN}, {END} and {UNKNOWN}", f"dict_size: {self.dict_size}",
                "give a dict_size of at least 3",
            )  # fmt: skip
        return numbers

    def get_dict(self, reverse: bool = False) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """The vocabularies of both languages.

        Args:
            reverse: whether numbers lead to words; otherwise words lead to numbers.

        Returns:
            Two dictionaries.

        Examples:
            >>> english, french = paddle.text.WMT14(dict_size=1000).get_dict()  # doctest: +SKIP
        """
        if not reverse:
            return self.src_dict, self.trg_dict
        source, target = ({number: word for word, number in words.items()} for words in (self.src_dict, self.trg_dict))
        return source, target
