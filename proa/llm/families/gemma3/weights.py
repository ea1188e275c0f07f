"""Gemma 3's names of weights."""

from __future__ import annotations

from ...config import Config
from ...naming import Names
from ..shared import AROUND, HEAD_NORMS, llama_like


def names(config: Config) -> Names:
    pictures = r"vision_tower\.|multi_modal_projector\.|embed_vision\.|lm_head\.weight$"
    prefixes = ("", "language_model.model.", "model.language_model.")
    return llama_like(config, *AROUND, *HEAD_NORMS, otherwise=prefixes, left=pictures)
