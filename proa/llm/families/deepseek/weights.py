"""DeepSeek's names of weights. Layers behind the last one predict further tokens in training, and are left."""

from __future__ import annotations

from ...config import Config
from ...naming import Names, Rule, biased
from ..shared import llama_like, mixture

_ATTENTION = "model.layers.{}.self_attn"
_LATENT = (
    *biased("layers.{}.attention.query_down", f"{_ATTENTION}.q_a_proj"),
    *biased("layers.{}.attention.down", f"{_ATTENTION}.kv_a_proj_with_mqa"),
    *biased("layers.{}.attention.up", f"{_ATTENTION}.kv_b_proj"),
    Rule("layers.{}.attention.query_norm.weight", f"{_ATTENTION}.q_a_layernorm.weight"),
    Rule("layers.{}.attention.down_norm.weight", f"{_ATTENTION}.kv_a_layernorm.weight"),
)
_CORRECTION = Rule("layers.{}.mlp.correction", "model.layers.{}.mlp.gate.e_score_correction_bias")


def names(config: Config) -> Names:
    ranked = config.latent is not None and config.latent.query_rank > 0
    query = biased("layers.{}.attention.query", f"{_ATTENTION}.{'q_b_proj' if ranked else 'q_proj'}")
    further = rf"^model\.layers\.{config.layers}\."
    return llama_like(config, *_LATENT, *query, *mixture(correction=_CORRECTION), left=further)
