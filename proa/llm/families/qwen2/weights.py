"""Qwen 2's names of weights."""

from __future__ import annotations

from ...config import Config
from ...naming import Names
from ..shared import llama_like, mixture


def names(config: Config) -> Names:
    return llama_like(config, *(mixture("shared_expert") if config.experts else ()), otherwise=("", "qwen2."))
