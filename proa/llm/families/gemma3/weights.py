"""Gemma 3's names of weights."""

from __future__ import annotations

from ...config import Config
from ...naming import Names
from ..shared import AROUND, HEAD_NORMS, llama_like


def names(config: Config) -> Names:
    return llama_like(config, *AROUND, *HEAD_NORMS)
