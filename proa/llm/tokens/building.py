"""Tokenizers of the `tokenizers` package, made from vocabularies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import value_error
from .pretokenisers import Way

if TYPE_CHECKING:
    from tokenizers import Tokenizer

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6  # kinds of pieces, by sentencepiece's numbers
SPACE = "▁"


@dataclass
class Vocabulary:
    """Pieces by their numbers. GGUF files and sentencepiece models hold the same table."""

    where: str
    pieces: list[str]
    kinds: np.ndarray
    scores: np.ndarray

    def __post_init__(self) -> None:
        if not self.pieces or len(self.kinds) != len(self.pieces) or len(self.scores) != len(self.pieces):
            raise value_error(
                self.where, "the vocabulary is not whole",
                f"{len(self.pieces)} tokens, {len(self.kinds)} kinds, {len(self.scores)} scores",
            )  # fmt: skip
        self.numbers = {piece: number for number, piece in enumerate(self.pieces)}
        for number, piece in enumerate(self.pieces):
            # A number that cannot be reached by its spelling still has a place and a name.
            if not piece or self.numbers[piece] != number:
                self.pieces[number] = f"[token {number}]"
                self.numbers[self.pieces[number]] = number

    def of_kind(self, *kinds: int) -> list[int]:
        return np.flatnonzero(np.isin(self.kinds, kinds)).tolist()

    @property
    def unknown(self) -> str | None:
        found = self.of_kind(UNKNOWN)
        return self.pieces[found[0]] if found else None


def packages() -> Any:
    try:
        import tokenizers
    except ImportError as error:
        raise ImportError(
            "(Tokenizer) texts are cut by the tokenizers package, which is not installed; pip install 'proa[llm]'."
        ) from error
    return tokenizers


def byte_pairs(vocabulary: Vocabulary, merges: Sequence[str], way: Way) -> Tokenizer:
    """Byte pairs as GPT-2 has them: every byte is written as a letter, and pairs are merged in the order given."""
    kit = packages()
    numbers = vocabulary.numbers
    pairs = []
    for merge in merges:
        left, _, right = merge[1:].partition(" ")
        left = merge[:1] + left
        if left in numbers and right in numbers and left + right in numbers:
            pairs.append((left, right))
    inner = kit.Tokenizer(kit.models.BPE(numbers, pairs, ignore_merges=way.ignore_merges))
    cuts = [kit.pre_tokenizers.Split(kit.Regex(pattern), "isolated") for pattern in way.patterns]
    as_letters = kit.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    inner.pre_tokenizer = kit.pre_tokenizers.Sequence([*cuts, as_letters])
    inner.decoder = kit.decoders.ByteLevel()
    return inner


def merged_pieces(vocabulary: Vocabulary, prefix: bool, charsmap: bytes = b"") -> Tokenizer:
    """Sentencepiece's byte pairs (Llama, Mistral, Gemma): any two neighbours whose union is a piece, the best score first.
    What is no piece is written as bytes."""
    kit = packages()
    pieces, numbers, scores = vocabulary.pieces, vocabulary.numbers, vocabulary.scores
    found = []
    for number in vocabulary.of_kind(NORMAL, USER_DEFINED, UNUSED):
        piece = pieces[number]
        for cut in range(1, len(piece)):
            left, right = numbers.get(piece[:cut]), numbers.get(piece[cut:])
            if left is not None and right is not None:
                found.append((-scores[number], number, left, right))
    found.sort()
    pairs = [(pieces[left], pieces[right]) for _, _, left, right in found]
    has_bytes = len(vocabulary.of_kind(BYTE)) == 256
    inner = kit.Tokenizer(
        kit.models.BPE(numbers, pairs, unk_token=vocabulary.unknown, fuse_unk=True, byte_fallback=has_bytes)
    )
    steps = [kit.normalizers.Precompiled(charsmap)] if charsmap else []
    steps += [kit.normalizers.Prepend(SPACE)] if prefix else []
    inner.normalizer = kit.normalizers.Sequence([*steps, kit.normalizers.Replace(" ", SPACE)])
    inner.decoder = _spaces_again(kit, prefix)
    return inner


def unigrams(vocabulary: Vocabulary, prefix: bool, squeeze: bool, charsmap: bytes = b"") -> Tokenizer:
    """Sentencepiece's other kind (T5): the likeliest way to cut a text into pieces."""
    kit = packages()
    scores = vocabulary.scores.astype(float)
    table = list(zip(vocabulary.pieces, scores.tolist(), strict=True))
    unknown = vocabulary.of_kind(UNKNOWN)
    has_bytes = len(vocabulary.of_kind(BYTE)) == 256
    inner = kit.Tokenizer(kit.models.Unigram(table, unknown[0] if unknown else None, has_bytes))
    steps = [kit.normalizers.Precompiled(charsmap)] if charsmap else []
    if squeeze:
        steps += [kit.normalizers.Strip(), kit.normalizers.Replace(kit.Regex(" {2,}"), " ")]
    inner.normalizer = kit.normalizers.Sequence(steps)
    inner.pre_tokenizer = kit.pre_tokenizers.Metaspace(prepend_scheme="always" if prefix else "never", split=False)
    inner.decoder = _spaces_again(kit, prefix)
    return inner


def _spaces_again(kit: Any, prefix: bool) -> Any:
    steps = [kit.decoders.Replace(SPACE, " "), kit.decoders.ByteFallback(), kit.decoders.Fuse()]
    return kit.decoders.Sequence([*steps, kit.decoders.Strip(" ", 1, 0)] if prefix else steps)


def word_pieces(
    numbers: dict[str, int], *, lowercase: bool, unknown: str = "[UNK]", strip_accents: bool | None = None,
    chinese: bool = True,
) -> Tokenizer:  # fmt: skip
    """BERT's: words cut at spaces and signs, then from the left into the longest pieces there are."""
    kit = packages()
    inner = kit.Tokenizer(kit.models.WordPiece(numbers, unk_token=unknown, max_input_chars_per_word=100))
    inner.normalizer = kit.normalizers.BertNormalizer(True, chinese, strip_accents, lowercase)
    inner.pre_tokenizer = kit.pre_tokenizers.BertPreTokenizer()
    inner.decoder = kit.decoders.WordPiece("##", cleanup=True)
    return inner


def add_tokens(inner: Tokenizer, vocabulary: Vocabulary) -> None:
    """Makes tokens that stand for themselves known by their spelling: control tokens, and those of a model's makers."""
    kit = packages()
    for kinds, special in (((UNKNOWN, CONTROL), True), ((USER_DEFINED,), False)):
        pieces = [vocabulary.pieces[number] for number in vocabulary.of_kind(*kinds)]
        tokens = [kit.AddedToken(piece, special=special, normalized=False) for piece in pieces]
        (inner.add_special_tokens if special else inner.add_tokens)(tokens)


def surround(inner: Tokenizer, before: Iterable[int | None], after: Iterable[int | None]) -> None:
    """The tokens that a text begins and ends with."""
    kit = packages()
    first, last = [[n for n in numbers if n is not None] for numbers in (before, after)]
    if not first and not last:
        return
    names = {number: inner.id_to_token(number) for number in (*first, *last)}
    # The names of tokens are not put into the pattern: a colon in them would mean something else there.
    known = {number: f"t{number}" for number in names}
    single = [*(known[n] for n in first), "$A", *(known[n] for n in last)]
    pair = [*single, *(f"{known[n]}:1" for n in first), "$B:1", *(f"{known[n]}:1" for n in last)]
    tokens = [{"id": known[number], "ids": [number], "tokens": [name]} for number, name in names.items()]
    inner.post_processor = kit.processors.TemplateProcessing(single=single, pair=pair, special_tokens=tokens)
