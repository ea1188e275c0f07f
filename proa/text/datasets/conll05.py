"""Semantic roles: who did what to whom. The test part of CoNLL 2005, which is free."""

from __future__ import annotations

import gzip
import tarfile
from typing import Any

import numpy as np

from ...io import Dataset
from ...utils.dataset_files import damaged, find_file, member, whole_file

_PREFIX = "http://paddlemodels.bj.bcebos.com/conll05st"
_FILES = (
    ("data_file", "/conll05st-tests.tar.gz", "387719152ae52d60422c016e92a742fc"),
    ("word_dict_file", "%2FwordDict.txt", "ea7fb7d4c75cc6254716f0177a506baa"),
    ("verb_dict_file", "%2FverbDict.txt", "0d2977293bbb6cbefab5b0f97db1e77c"),
    ("target_dict_file", "%2FtargetDict.txt", "d8c7f03ceb5fc2e5a0fa7503a4353751"),
    ("emb_file", "%2Femb", "bf436eb0faa1f6f9103017f8be57cdb7"),
)
_WORDS = "conll05st-release/test.wsj/words/test.wsj.words.gz"
_ROLES = "conll05st-release/test.wsj/props/test.wsj.props.gz"
_UNKNOWN = 0


class Conll05st(Dataset):
    """CoNLL 2005's semantic roles: one sample for each verb of each sentence.

    A sample is nine arrays of the sentence's length: the words, the verb's neighbourhood (two words before it to two
    after it, each repeated), the verb, marks of the neighbourhood, and the labels (B-, I- and O).

    Args:
        data_file: the archive; None to download it.
        word_dict_file, verb_dict_file, target_dict_file: the lists of words, verbs and labels.
        emb_file: word vectors.
        download: whether missing files may be downloaded.

    Examples:
        >>> dataset = paddle.text.Conll05st()  # doctest: +SKIP
        >>> words, *_, labels = dataset[0]  # doctest: +SKIP
        >>> paddle.text.Conll05st(data_file="missing.tgz", download=False)
        Traceback (most recent call last):
            ...
        FileNotFoundError: (Conll05st) data_file is not a file; received data_file: 'missing.tgz'; ...
    """

    def __init__(
        self,
        data_file: str | None = None,
        word_dict_file: str | None = None,
        verb_dict_file: str | None = None,
        target_dict_file: str | None = None,
        emb_file: str | None = None,
        download: bool = True,
    ) -> None:
        where = "Conll05st"
        given = (data_file, word_dict_file, verb_dict_file, target_dict_file, emb_file)
        self.data_file, self.word_dict_file, self.verb_dict_file, self.target_dict_file, self.emb_file = (
            find_file(where, parameter, path, _PREFIX + ending, md5, "conll05st", download)
            for path, (parameter, ending, md5) in zip(given, _FILES, strict=True)
        )
        self.word_dict = _numbered(where, self.word_dict_file)
        self.predicate_dict = _numbered(where, self.verb_dict_file)
        self.label_dict = _labels(where, self.target_dict_file)
        self.sentences: list[list[str]] = []
        self.predicates: list[str] = []
        self.labels: list[list[str]] = []
        self._load_anno(where)

    def _load_anno(self, where: str) -> None:
        with whole_file(where, self.data_file), tarfile.open(self.data_file) as archive:
            words, roles = (
                gzip.decompress(member(where, archive, self.data_file, name)).decode("utf-8").split("\n")
                for name in (_WORDS, _ROLES)
            )
        sentence: list[str] = []
        rows: list[list[str]] = []
        for word, role in zip(words, roles, strict=False):
            if word.strip() and role.split():
                sentence.append(word.strip())
                rows.append(role.split())
                continue
            self._add(where, sentence, rows)
            sentence, rows = [], []
        self._add(where, sentence, rows)

    def _add(self, where: str, sentence: list[str], rows: list[list[str]]) -> None:
        """The samples of one sentence: a column of brackets for each of its verbs."""
        if not rows:
            return
        verbs = [row[0] for row in rows if row[0] != "-"]
        if any(len(row) != len(verbs) + 1 for row in rows):
            raise damaged(where, self.data_file, f"the columns of {' '.join(sentence)!r} are not one for each verb")
        for number, verb in enumerate(verbs, start=1):
            labels = _spread([row[number] for row in rows])
            if labels is None or "B-V" not in labels:
                raise damaged(where, self.data_file, f"the brackets of {' '.join(sentence)!r} do not fit")
            self.sentences.append(sentence)
            self.predicates.append(verb)
            self.labels.append(labels)

    def __getitem__(self, idx: int) -> tuple[np.ndarray, ...]:
        sentence, labels = self.sentences[idx], self.labels[idx]
        length, verb = len(sentence), labels.index("B-V")
        marks = [1 if abs(place - verb) <= 2 else 0 for place in range(length)]
        near = []
        for place in range(verb - 2, verb + 3):
            word = "bos" if place < 0 else "eos" if place >= length else sentence[place]
            near.append([self.word_dict.get(word, _UNKNOWN)] * length)
        words = [self.word_dict.get(word, _UNKNOWN) for word in sentence]
        predicate = [self.predicate_dict.get(self.predicates[idx], _UNKNOWN)] * length
        numbers = [self.label_dict.get(label, self.label_dict["O"]) for label in labels]
        return tuple(np.array(part) for part in (words, *near, predicate, marks, numbers))

    def __len__(self) -> int:
        return len(self.sentences)

    def get_dict(self) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
        """The numbers of words, verbs and labels.

        Returns:
            Three dictionaries.

        Examples:
            >>> words, verbs, labels = paddle.text.Conll05st().get_dict()  # doctest: +SKIP
        """
        return self.word_dict, self.predicate_dict, self.label_dict

    def get_embedding(self) -> str:
        """The path of the file of word vectors.

        Examples:
            >>> paddle.text.Conll05st().get_embedding()  # doctest: +SKIP
        """
        return self.emb_file


def _spread(brackets: list[str]) -> list[str] | None:
    """Brackets such as (A0*, * and *) as one label for each word; None when they do not fit."""
    labels: list[str] = []
    role: str | None = None
    for bracket in brackets:
        if bracket.startswith("("):
            role = bracket[1:].partition("*")[0]
            labels.append(f"B-{role}")
        elif not bracket.startswith("*"):
            return None
        else:
            labels.append("O" if role is None else f"I-{role}")
        if bracket.endswith(")"):
            role = None
    return labels


def _lines(where: str, path: str) -> list[str]:
    with whole_file(where, path), open(path, encoding="utf-8") as file:
        return [line.strip() for line in file]


def _numbered(where: str, path: str) -> dict[str, int]:
    return {line: number for number, line in enumerate(_lines(where, path))}


def _labels(where: str, path: str) -> dict[str, int]:
    """B- and I- of each role, in the file's order, and O at the end."""
    roles: dict[str, Any] = dict.fromkeys(line[2:] for line in _lines(where, path) if line.startswith(("B-", "I-")))
    names = [f"{prefix}-{role}" for role in roles for prefix in ("B", "I")]
    return {name: number for number, name in enumerate([*names, "O"])}
