"""How text is cut into words before byte pairs are merged within them.

GGUF files name the way by llama.cpp's words (`tokenizer.ggml.pre`). A way is a list of patterns: what matches the first one
stands alone, what lies between is cut by the next one, and so on. Most go back to two: GPT-2's, and the one of GPT-4 that
came with Llama 3. The patterns are those of the models' own tokenizers.
"""

from __future__ import annotations

from dataclasses import dataclass

_ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_FULL_STOPS = r" ?[^(\s|.,!?…。，、।۔،)]+"
_HAN_AND_HANGUL = r"[\x{4e00}-\x{9fa5}\x{800}-\x{4e00}\x{ac00}-\x{d7ff}]+"
_HAN_AND_KANA = r"[\x{4e00}-\x{9fa5}\x{3040}-\x{309f}\x{30a0}-\x{30ff}]+"
_SIGNS = r"[!-/:-~\x{ff01}-\x{ff0f}\x{ff1a}-\x{ff5e}\x{2018}-\x{201f}\x{3000}-\x{3002}]"
_CAPITALS, _SMALL = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"


def _gpt4(digits: str, letters: str = r"\p{L}") -> str:
    """Words with one sign before them, numbers of so many digits, signs with line ends behind them, spaces."""
    words = rf"[^\r\n\p{{L}}\p{{N}}]?[{letters}]+"
    return rf"{_ENDINGS}|{words}|\p{{N}}{digits}| ?[^\s{letters}\p{{N}}]+[\r\n]*|{_SPACES}"


def _by_case(digits: str, endings: str) -> str:
    """Words that are cut where capitals begin again: Parser, Error."""
    sign = r"[^\r\n\p{L}\p{N}]?"
    words = rf"{sign}{_CAPITALS}*{_SMALL}+{endings}|{sign}{_CAPITALS}+{_SMALL}*{endings}"
    return rf"{words}|\p{{N}}{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"


@dataclass(frozen=True)
class Way:
    patterns: tuple[str, ...]
    ignore_merges: bool = False  # a word that is a token is that token, however it would be merged
    bos: bool = False  # whether a text begins with the token for it, if the file does not say


_LLAMA3 = Way((_gpt4("{1,3}"),), ignore_merges=True, bos=True)
_GPT4 = Way((_gpt4("{1,3}"),))
_QWEN2 = Way((_gpt4(""),))
_DIGITS = Way((r"\p{N}", _GPT2))
_DEEPSEEK3 = Way(
    (
        r"\p{N}{1,3}",
        _HAN_AND_KANA,
        r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|"
        + _SPACES,
    )
)

WAYS: dict[str, Way] = {
    "default": Way((r"[\p{P}\$\+<=>\^~\|]+", _GPT2, r"\p{N}+", "[0-9][0-9][0-9]")),
    "deepseek-llm": Way(
        (r"[\r\n]", r"\s?[\p{Lu}\p{Ll}\p{Lt}]+", rf"\s?{_SIGNS}+", r"\s+$", _HAN_AND_HANGUL, r"\p{N}+")
    ),
    "deepseek-coder": Way((r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _HAN_AND_HANGUL, r"\p{N}")),
    "falcon": Way((r"[\p{P}\$\+<=>\^~\|`]+", _GPT2, "[0-9][0-9][0-9]")),
    "gpt-4o": Way((_by_case("{1,3}", f"{_ENDINGS}?"),)),
    "qwen35": Way((_gpt4("", r"\p{L}\p{M}"),)),
    "tekken": Way((_by_case("", ""),), ignore_merges=True, bos=True),
    "viking": Way((_FULL_STOPS, r"\p{N}")),
    **dict.fromkeys(("bloom", "gpt3-finnish", "poro-chat"), Way((_FULL_STOPS,))),
    **dict.fromkeys(("codeshell", "command-r", "exaone", "minerva-7b", "refact", "smollm", "starcoder"), _DIGITS),
    **dict.fromkeys(("deepseek-r1-qwen", "hunyuan", "megrez", "qwen2", "stablelm2"), _QWEN2),
    **dict.fromkeys(("deepseek-v3", "hunyuan-dense"), _DEEPSEEK3),
    **dict.fromkeys(("chatglm-bpe", "dbrx", "glm4", "smaug-bpe"), _GPT4),
    **dict.fromkeys(("falcon3", "llama-bpe", "llama-v3", "llama3"), _LLAMA3),
    **dict.fromkeys(
        ("gigachat", "gpt-2", "jina-es", "jina-de", "jina-v2-code", "jina-v2-de", "jina-v2-es", "mpt", "olmo", "phi-2",
         "roberta-bpe", "trillion"), Way((_GPT2,)),
    ),
}  # fmt: skip
