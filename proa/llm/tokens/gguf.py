"""Tokenizers from the metadata of GGUF files (`tokenizer.ggml.…`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import value_error
from . import building
from .building import CONTROL, NORMAL, SPACE, UNKNOWN, Vocabulary
from .pretokenisers import WAYS
from .tokenizer import Special

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from ..files import GGUF

_WHERE = "from_gguf"
_PREFIX = "tokenizer.ggml."
# Tokens that end an answer though the file names another one, as llama.cpp has it.
_ENDS = (
    "<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>", "<end_of_turn>",
    "<|endoftext|>", "<|eom_id|>", "<EOT>", "_<EOT>", "<|end_of_text|>", "<end_of_utterance>",
)  # fmt: skip


def read_gguf(file: GGUF) -> tuple[Tokenizer, Special, dict[str, str]]:
    """The tokenizer, the special tokens and the chat templates that a file describes."""
    model = file.get(f"{_PREFIX}model")
    makers = {"gpt2": _byte_pairs, "llama": _merged_pieces, "bert": _word_pieces, "t5": _unigrams}
    if model not in makers:
        raise value_error(
            _WHERE, f"tokenizers of the kind {model!r:.40} are not known" if model else "the file has no tokenizer",
            file.path, f"the kinds that are read are {', '.join(makers)}; a folder with a tokenizer.json works as well",
        )  # fmt: skip
    vocabulary = _vocabulary(file)
    numbers = _Numbers(file, vocabulary)
    inner = makers[model](file, vocabulary, numbers)
    if model != "bert":
        building.add_tokens(inner, vocabulary)
    return inner, numbers.special(), _templates(file)


class _Numbers:
    """The numbers of special tokens."""

    def __init__(self, file: GGUF, vocabulary: Vocabulary) -> None:
        self.file, self.vocabulary = file, vocabulary
        self.bos, self.eos, self.unknown = self.of("bos"), self.of("eos"), self.of("unknown")

    def of(self, name: str) -> int | None:
        number = self.file.get(f"{_PREFIX}{name}_token_id")
        is_one = isinstance(number, int) and not isinstance(number, bool) and 0 <= number < len(self.vocabulary.pieces)
        return number if is_one else None

    def wanted(self, name: str, otherwise: bool) -> int | None:
        """The token for the beginning or end, if texts are to have it."""
        flag = self.file.get(f"{_PREFIX}add_{name}_token")
        return self.of(name) if (otherwise if flag is None else flag) else None

    def special(self) -> Special:
        pieces, kinds = self.vocabulary.pieces, self.vocabulary.kinds
        names = set(_ENDS) & set(self.vocabulary.numbers)
        if {"<|return|>", "<|call|>"} <= names:
            names.discard("<|end|>")  # which ends a part of an answer there
        numbers = [self.eos, self.of("eot"), self.of("eom")]
        found = sorted(self.vocabulary.numbers[name] for name in names)
        numbers += [number for number in found if kinds[number] == CONTROL]
        ends = tuple(dict.fromkeys(number for number in numbers if number is not None))
        pad = self.of("padding")
        roles = {"bos": self.bos, "eos": self.eos, "pad": pad, "unk": self.unknown}
        named = {f"{role}_token": pieces[number] for role, number in roles.items() if number is not None}
        return Special(self.bos, ends, pad, self.unknown, named)


def _vocabulary(file: GGUF) -> Vocabulary:
    pieces = _list_of(file, "tokens", str)
    kinds = file.get(f"{_PREFIX}token_type")
    scores = file.get(f"{_PREFIX}scores")
    kinds = np.full(len(pieces), NORMAL) if kinds is None else np.asarray(kinds)
    scores = np.zeros(len(pieces)) if scores is None else np.asarray(scores)
    if kinds.dtype.kind not in "iu" or scores.dtype.kind != "f" or kinds.ndim != 1 or scores.ndim != 1:
        raise value_error(
            _WHERE, "kinds and scores of tokens must be numbers", f"{file.path}: {kinds.dtype}, {scores.dtype}"
        )
    return Vocabulary(_WHERE, list(pieces), kinds, scores)


def _list_of(file: GGUF, name: str, kind: type) -> list[Any]:
    found = file.get(_PREFIX + name)
    if not isinstance(found, list) or not all(isinstance(each, kind) for each in found):
        raise value_error(_WHERE, f"{_PREFIX}{name} must be a list of texts", f"{file.path}: {type(found).__name__}")
    return found


def _byte_pairs(file: GGUF, vocabulary: Vocabulary, numbers: _Numbers) -> Tokenizer:
    name = file.get(f"{_PREFIX}pre", "default")
    if name not in WAYS:
        raise value_error(
            _WHERE, f"how this model cuts words ({name!r:.40}) is not known", file.path,
            f"known are {', '.join(sorted(WAYS))}; a folder with a tokenizer.json works as well",
        )  # fmt: skip
    way = WAYS[name]
    inner = building.byte_pairs(vocabulary, _list_of(file, "merges", str), way)
    building.surround(inner, [numbers.wanted("bos", way.bos)], [numbers.wanted("eos", False)])
    return inner


def _merged_pieces(file: GGUF, vocabulary: Vocabulary, numbers: _Numbers) -> Tokenizer:
    inner = building.merged_pieces(vocabulary, bool(file.get(f"{_PREFIX}add_space_prefix", True)))
    building.surround(inner, [numbers.wanted("bos", True)], [numbers.wanted("eos", False)])
    return inner


def _unigrams(file: GGUF, vocabulary: Vocabulary, numbers: _Numbers) -> Tokenizer:
    charsmap = file.get(f"{_PREFIX}precompiled_charsmap")
    prefix, squeeze = (
        file.get(f"{_PREFIX}add_space_prefix", True),
        file.get(f"{_PREFIX}remove_extra_whitespaces", False),
    )
    given = b"" if charsmap is None else np.asarray(charsmap).tobytes()
    inner = building.unigrams(vocabulary, bool(prefix), bool(squeeze), given)
    building.surround(inner, [numbers.wanted("bos", False)], [numbers.wanted("eos", True)])
    return inner


def _word_pieces(file: GGUF, vocabulary: Vocabulary, numbers: _Numbers) -> Tokenizer:
    """Files mark the beginnings of words; the package marks what follows them."""
    spelled = {}
    for piece, number in vocabulary.numbers.items():
        if vocabulary.kinds[number] in (CONTROL, UNKNOWN) or (piece[0] == "[" and piece[-1] == "]" and len(piece) > 2):
            spelled[piece] = number
        else:
            spelled[piece.removeprefix(SPACE) if piece.startswith(SPACE) else f"##{piece}"] = number
    lowercase = not any(piece[1:2].isupper() for piece in vocabulary.pieces if piece.startswith(SPACE))
    unknown = next((piece for piece in ("[UNK]", "<unk>") if piece in spelled), vocabulary.unknown)
    inner = building.word_pieces(spelled, lowercase=lowercase, unknown=unknown or "[UNK]")
    kit = building.packages()
    specials = [piece for piece in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]") if piece in spelled]
    inner.add_special_tokens([kit.AddedToken(piece, special=True, normalized=False) for piece in specials])
    first = numbers.of("cls") if numbers.of("cls") is not None else numbers.bos
    last = numbers.of("seperator") if numbers.of("seperator") is not None else numbers.of("separator")
    building.surround(
        inner,
        [first if first is not None else spelled.get("[CLS]")],
        [last if last is not None else spelled.get("[SEP]", numbers.eos)],
    )
    return inner


def _templates(file: GGUF) -> dict[str, str]:
    found = {"default": file.get("tokenizer.chat_template")}
    for key, value in file.metadata.items():
        if key.startswith("tokenizer.chat_template."):
            found[key.removeprefix("tokenizer.chat_template.")] = value
    return {name: text for name, text in found.items() if isinstance(text, str)}
