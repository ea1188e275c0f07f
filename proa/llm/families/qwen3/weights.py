"""Qwen 3's names of weights."""

from __future__ import annotations

from ...config import Config
from ...naming import Names
from ..shared import HEAD_NORMS, llama_like, mixture


def names(config: Config) -> Names:
    return llama_like(config, *HEAD_NORMS, *(mixture() if config.experts else ()), otherwise=("", "qwen3."))
