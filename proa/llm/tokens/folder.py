"""Tokenizers from a model's folder.

tokenizer.json                            the tokenizer itself; or, in older folders, one of
vocab.json with merges.txt                byte pairs (GPT-2, RoBERTa, Qwen)
vocab.txt                                 word pieces (BERT)
tokenizer.model, spiece.model             sentencepiece (Llama, T5)
tokenizer_config.json, special_tokens_map.json, added_tokens.json, chat_template.jinja
generation_config.json, config.json       which tokens end an answer
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import value_error
from . import building
from .building import NORMAL, Vocabulary
from .pretokenisers import WAYS
from .sentencepiece import BYTE_PAIRS, UNIGRAM, read_model
from .tokenizer import Special

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_WHERE = "from_folder"
_SHIFTED = ("camembert", "mbart", "xlm-roberta", "xlm_roberta")  # whose numbers are not those of their model file


def read_folder(path: str) -> tuple[Tokenizer, Special, dict[str, str]]:
    """The tokenizer, the special tokens and the chat templates of a folder."""
    if not os.path.isdir(path):
        raise FileNotFoundError(f"({_WHERE}) there is no such folder; received {path!r}.")
    folder = _Folder(path)
    try:
        inner = folder.tokenizer()
        folder.add_tokens(inner)
        folder.surround(inner)
        return inner, folder.special(inner), folder.templates()
    except (FileNotFoundError, ImportError, KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:
        # The package has no exceptions of its own, and its panics are no Exceptions.
        if isinstance(error, ValueError) and str(error).startswith("("):
            raise
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise value_error(
            _WHERE, f"the tokenizer in {path!r} cannot be read: {str(error)[:300]}", "", "fetch its files again"
        ) from error


class _Folder:
    def __init__(self, path: str) -> None:
        self.path = path
        self.config = self._json("tokenizer_config.json")
        self.model_config = self._json("config.json")
        # A file of its own is the older way to say which tokens are special.
        for key, value in self._json("special_tokens_map.json").items():
            self.config.setdefault(key, value)

    def _file(self, name: str) -> str | None:
        path = os.path.join(self.path, name)
        return path if os.path.isfile(path) else None

    def _json(self, name: str) -> dict[str, Any]:
        path = self._file(name)
        if path is None:
            return {}
        try:
            with open(path, encoding="utf-8") as file:
                found = json.load(file)
        except (ValueError, RecursionError) as error:
            raise value_error(_WHERE, f"{path!r} is not JSON: {str(error)[:200]}") from error
        if not isinstance(found, dict):
            raise value_error(_WHERE, f"{path!r} must hold a table", type(found).__name__)
        return found

    def _is(self, *names: str) -> bool:
        """Whether the model or its tokenizer is one of these, by what the files say."""
        said = f"{self.config.get('tokenizer_class')} {self.model_config.get('model_type')}".lower()
        return any(name in said for name in names)

    # ---- the tokenizer -------------------------------------------------------------------------

    def tokenizer(self) -> Tokenizer:
        path = self._file("tokenizer.json")
        if path is not None:
            inner = building.packages().Tokenizer.from_file(path)
            # How texts are filled up and cut off is for whoever makes batches to say.
            inner.no_padding()
            inner.no_truncation()
            return inner
        makers: dict[str, Callable[[str], Tokenizer]] = {
            "vocab.json": self._byte_pairs, "tokenizer.model": self._sentencepiece, "spiece.model": self._sentencepiece,
            "vocab.txt": self._word_pieces,
        }  # fmt: skip
        for name, make in makers.items():
            path = self._file(name)
            if path is not None:
                return make(path)
        raise FileNotFoundError(
            f"({_WHERE}) the folder has no tokenizer; received {self.path!r}; expected tokenizer.json or one of "
            f"{', '.join(makers)}."
        )

    def _byte_pairs(self, path: str) -> Tokenizer:
        numbers = self._json("vocab.json")
        merges = self._file("merges.txt")
        if merges is None:
            raise FileNotFoundError(f"({_WHERE}) there is no merges.txt beside the vocabulary; received {path!r}.")
        with open(merges, encoding="utf-8") as file:
            lines = [line.rstrip("\n") for line in file]
        pieces = [""] * len(numbers)
        for piece, number in numbers.items():
            if type(number) is not int or not 0 <= number < len(pieces) or pieces[number]:
                raise value_error(
                    _WHERE, f"{path!r} must number its tokens from 0 on", f"{piece!r:.40}: {number!r:.40}"
                )
            pieces[number] = piece
        vocabulary = Vocabulary(_WHERE, pieces, np.full(len(pieces), NORMAL), np.zeros(len(pieces)))
        merges_alone = [line for line in lines if line and not line.startswith("#version")]
        inner = building.byte_pairs(vocabulary, merges_alone, WAYS["qwen2" if self._is("qwen2") else "gpt-2"])
        if self._is("roberta", "bart"):
            building.surround(inner, [numbers.get("<s>")], [numbers.get("</s>")])
        return inner

    def _word_pieces(self, path: str) -> Tokenizer:
        with open(path, encoding="utf-8") as file:
            numbers = {line.rstrip("\n"): number for number, line in enumerate(file)}
        inner = building.word_pieces(
            numbers, lowercase=bool(self.config.get("do_lower_case", True)), unknown=self.named().get("unk_token", "[UNK]"),
            strip_accents=self.config.get("strip_accents"), chinese=bool(self.config.get("tokenize_chinese_chars", True)),
        )  # fmt: skip
        kit = building.packages()
        specials = [piece for piece in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]") if piece in numbers]
        inner.add_special_tokens([kit.AddedToken(piece, special=True, normalized=False) for piece in specials])
        building.surround(inner, [numbers.get("[CLS]")], [numbers.get("[SEP]")])
        return inner

    def _sentencepiece(self, path: str) -> Tokenizer:
        model = read_model(path)
        if self._is(*_SHIFTED) or model.kind not in (UNIGRAM, BYTE_PAIRS):
            raise value_error(
                _WHERE, f"{path!r} alone does not say how this model numbers its tokens", "",
                "fetch the tokenizer.json of the model as well",
            )  # fmt: skip
        if model.kind == BYTE_PAIRS:
            inner = building.merged_pieces(model.vocabulary, model.prefix, model.charsmap)
        else:
            inner = building.unigrams(model.vocabulary, model.prefix, model.squeeze, model.charsmap)
        building.add_tokens(inner, model.vocabulary)
        for name, number in (("bos", model.bos), ("eos", model.eos), ("pad", model.pad)):
            if 0 <= number < len(model.vocabulary.pieces):
                self.config.setdefault(f"{name}_token", model.vocabulary.pieces[number])
        if model.kind == BYTE_PAIRS:
            self.config.setdefault("add_bos_token", True)
        elif self._is("t5"):
            self.config.setdefault("add_eos_token", True)
        return inner

    # ---- what the other files add --------------------------------------------------------------

    def add_tokens(self, inner: Tokenizer) -> None:
        """Tokens that stand beside the tokenizer, in the order of their numbers."""
        kit = building.packages()
        wanted: dict[int, Any] = {}
        for token, number in self._json("added_tokens.json").items():
            wanted[int(number)] = kit.AddedToken(
                str(token), special=str(token) in self.named().values(), normalized=False
            )
        for number, entry in (self.config.get("added_tokens_decoder") or {}).items():
            options = ("lstrip", "rstrip", "normalized", "single_word", "special")
            chosen = {option: bool(entry[option]) for option in options if option in entry}
            wanted[int(number)] = kit.AddedToken(str(entry["content"]), **chosen)
        for number, token in sorted(wanted.items()):
            held = inner.token_to_id(token.content)
            if held is None:
                inner.add_tokens([token])
                held = inner.token_to_id(token.content)
            if held != number:
                raise value_error(
                    _WHERE, f"the token {token.content!r:.60} has the number {held} in one file and {number} in another",
                    self.path,
                )  # fmt: skip
        missing = [token for token in dict.fromkeys(self.named().values()) if inner.token_to_id(token) is None]
        inner.add_special_tokens([kit.AddedToken(token, special=True, normalized=False) for token in missing])

    def surround(self, inner: Tokenizer) -> None:
        """What the configuration says about the tokens around a text outweighs the tokenizer's own way."""
        flags = [self.config.get("add_bos_token"), self.config.get("add_eos_token")]
        if not any(isinstance(flag, bool) for flag in flags):
            return
        tokens = [self.named().get("bos_token"), self.named().get("eos_token")]
        first, last = [inner.token_to_id(t) if flag and t else None for flag, t in zip(flags, tokens, strict=True)]
        inner.post_processor = building.packages().processors.TemplateProcessing(single="$A", pair="$A $B:1")
        building.surround(inner, [first], [last])

    def named(self) -> dict[str, str]:
        """Special tokens by the names that templates use."""
        found = {}
        for key, value in self.config.items():
            if key.endswith("_token") and not key.startswith("add_"):
                text = value.get("content") if isinstance(value, dict) else value
                if isinstance(text, str) and text:
                    found[key] = text
        return found

    def special(self, inner: Tokenizer) -> Special:
        named = self.named()

        def number(name: str) -> int | None:
            found = inner.token_to_id(named[name]) if name in named else None
            if found is None and name in ("bos_token", "pad_token"):
                found = next(iter(_numbers(self.model_config.get(f"{name}_id"))), None)
            return found

        generation = self._json("generation_config.json")
        ends = [*_numbers(generation.get("eos_token_id")), *_numbers(self.model_config.get("eos_token_id"))]
        own = number("eos_token")
        ends += [] if own is None else [own]
        return Special(number("bos_token"), tuple(dict.fromkeys(ends)), number("pad_token"), number("unk_token"), named)

    def templates(self) -> dict[str, str]:
        given = self.config.get("chat_template") or self._json("chat_template.json").get("chat_template")
        found: dict[str, Any] = {}
        if isinstance(given, str):
            found["default"] = given
        elif isinstance(given, list):
            found = {str(e.get("name")): e.get("template") for e in given if isinstance(e, dict)}
        elif isinstance(given, dict):
            found = dict(given)
        extra = os.path.join(self.path, "additional_chat_templates")
        files = {"default": self._file("chat_template.jinja")}
        if os.path.isdir(extra):
            files |= {entry[:-6]: os.path.join(extra, entry) for entry in os.listdir(extra) if entry.endswith(".jinja")}
        for name, path in files.items():
            if path is not None:
                with open(path, encoding="utf-8") as file:
                    found[name] = file.read()
        return {name: text for name, text in found.items() if isinstance(text, str)}


def _numbers(value: Any) -> list[int]:
    """A number, or several."""
    return [n for n in (value if isinstance(value, list) else [value]) if type(n) is int and n >= 0]
