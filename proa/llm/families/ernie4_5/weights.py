"""ERNIE 4.5's names of weights."""

from __future__ import annotations

from ...config import Config
from ...naming import Names, Rule
from ..shared import llama_like, mixture

_CORRECTION = Rule("layers.{}.mlp.correction", "model.layers.{}.mlp.moe_statics.e_score_correction_bias", lead=True)


def names(config: Config) -> Names:
    return llama_like(config, *(mixture(correction=_CORRECTION) if config.experts else ()), otherwise=("", "ernie."))
