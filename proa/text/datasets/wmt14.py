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
    """(source, target, target shifted by one), with the first `dict_size` words of each language's list."""

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
        """Words to numbers for both languages, or numbers to words."""
        if not reverse:
            return self.src_dict, self.trg_dict
        source, target = ({number: word for word, number in words.items()} for words in (self.src_dict, self.trg_dict))
        return source, target
