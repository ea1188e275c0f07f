"""How an engine is set up. Everything that takes memory is decided here, once."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.errors import value_error


@dataclass(frozen=True)
class Options:
    """Sizes of the cache and of a step, and what is switched on.

    `pages` 0 is as many as `rows` sequences of `context` tokens need. A step computes one token for each of up to `rows`
    sequences, and up to `chunk` tokens of prompts that are still being read. With `ahead` the next step is started
    before the tokens of the last one are read, so that the device never waits for the host; the last step of an answer
    that ends by itself is then for nothing. Left out, it is so wherever the model is not on the CPU. Programs are
    compiled for few shapes: rows in powers of two, tables of pages in powers of `widening`.
    """

    rows: int = 8
    context: int = 0  # the longest sequence; 0: what the model was made for, at most 8192
    page_size: int = 16
    pages: int = 0
    chunk: int = 256
    widening: int = 4
    prefixes: bool = True
    waiting: int = 1024  # requests that may wait; more are refused
    cache_dtype: str | None = None  # None: that of the model, float16 beside weights in blocks; "int8"
    speculate: int = 0  # tokens guessed ahead in a step
    speculation: str = "ngram"  # or "draft", with a draft model
    adapters: int = 0  # LoRA adapters that there is room for
    adapter_rank: int = 16
    exact: bool = False
    ahead: bool | None = None
    arithmetic: str | None = None  # "llama.cpp": its numbers bit by bit, for files of few kinds; None: the quickest

    def __post_init__(self) -> None:
        for name in ("rows", "page_size", "chunk", "waiting"):
            _positive(name, getattr(self, name))
        for name in ("context", "pages", "speculate", "adapters"):
            _positive(name, getattr(self, name), 0)
        _positive("widening", self.widening, 2)
        if self.chunk & (self.chunk - 1):
            raise value_error("Options", "chunk is a power of two", f"{self.chunk}")
        if self.cache_dtype not in (None, "int8", "float32", "bfloat16", "float16"):
            raise value_error(
                "Options", "cache_dtype is None, float32, bfloat16, float16 or int8", repr(self.cache_dtype)
            )
        if self.arithmetic not in (None, "llama.cpp"):
            raise value_error("Options", "arithmetic is None or llama.cpp", repr(self.arithmetic))
        if self.arithmetic and (self.exact or self.adapters):
            raise value_error("Options", "llama.cpp's arithmetic knows no adapters and no exact programs", f"{self}")
        if self.speculation not in ("ngram", "draft"):
            raise value_error("Options", "speculation is ngram or draft", repr(self.speculation))


def _positive(name: str, value: object, least: int = 1) -> None:
    if type(value) is not int or value < least:
        raise value_error("Options", f"{name} is a whole number of at least {least}", repr(value))
