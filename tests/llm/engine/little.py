"""A language model with random weights and a tokenizer of bytes: small enough to be asked thousands of things."""

import codecs
import functools
from typing import Any

import numpy as np

import proa as paddle
from proa.llm import CausalLM, Config

END = 256
VOCABULARY = 260


@functools.cache
def little_model(seed: int = 0, layers: int = 2, **changes: Any) -> CausalLM:
    paddle.seed(seed)
    sizes: dict[str, Any] = {
        "family": "llama", "vocab_size": VOCABULARY, "hidden_size": 32, "layers": layers, "heads": 4, "kv_heads": 2,
        "intermediate_size": 64, "max_positions": 128, "initializer_range": 0.4, "tied": True, "eos": (END,),
    }  # fmt: skip
    model = CausalLM(Config(**{**sizes, **changes}))
    model.eval()
    return model


def greedy(model: CausalLM, prompt: list[int], count: int) -> list[int]:
    """The likeliest continuation by the training code: everything computed anew for each token.

    Zeros fill the text up to one length, so that all calls are one program; they stand behind what is looked at.
    """
    ids = np.zeros((1, model.config.max_positions), np.int64)
    ids[0, : len(prompt)] = prompt
    for place in range(len(prompt), len(prompt) + count):
        with paddle.no_grad():
            ids[0, place] = np.argmax(model(paddle.to_tensor(ids)).numpy()[0, place - 1])
    return ids[0, len(prompt) : len(prompt) + count].tolist()


def prompts(count: int, seed: int = 0, longest: int = 60) -> list[list[int]]:
    draw = np.random.default_rng(seed)
    return [draw.integers(0, 256, draw.integers(1, longest)).tolist() for _ in range(count)]


class _Decoder:
    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def step(self, token: int) -> str:
        return self._decoder.decode(bytes([token])) if token < 256 else ""

    def flush(self) -> str:
        return self._decoder.decode(b"", True)


class ByteTokenizer:
    """Token n is byte n; 256 ends a text."""

    eos = (END,)
    vocab_size = VOCABULARY

    def encode(self, text: str, special: bool = True) -> list[int]:
        return list(text.encode())

    def decode(self, ids: list[int], skip_special: bool = True) -> str:
        return bytes(token for token in ids if token < 256).decode("utf-8", "replace")

    def stream(self) -> _Decoder:
        return _Decoder()

    @functools.cached_property
    def _json(self) -> str:
        import tokenizers
        from tokenizers import decoders, models, pre_tokenizers

        # The byte-level alphabet spells byte n by a character of its own; the model wants it to be token n.
        printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
        others = iter(range(256, 512))
        spelled = {byte: chr(byte) if byte in printable else chr(next(others)) for byte in range(256)}
        vocabulary = {spelled[byte]: byte for byte in range(256)}
        inner = tokenizers.Tokenizer(models.BPE(vocabulary, []))
        inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        inner.decoder = decoders.ByteLevel()
        inner.add_special_tokens(["<end>", "<a>", "<b>", "<c>"])
        return inner.to_str()

    def to_json(self) -> str:
        return self._json
