"""Mistral's names of weights."""

from __future__ import annotations

from ...config import Config
from ...naming import Names
from ..shared import llama_like


def names(config: Config) -> Names:
    return llama_like(config)
