"""GPT-2's names of weights: query, key and value in one, products as they lie here."""

from __future__ import annotations

from ...config import Config
from ...naming import Names, Rule, normed, product

_THREE = ("query", "key", "value")
_RULES = (
    Rule("embedding.weight", "transformer.wte.weight"),
    Rule("position_embedding.weight", "transformer.wpe.weight"),
    *normed("norm", "transformer.ln_f"),
    *normed("layers.{}.attention_norm", "transformer.h.{}.ln_1"),
    *normed("layers.{}.mlp_norm", "transformer.h.{}.ln_2"),
    Rule(tuple(f"layers.{{}}.attention.{part}.weight" for part in _THREE), "transformer.h.{}.attn.c_attn.weight"),
    Rule(tuple(f"layers.{{}}.attention.{part}.bias" for part in _THREE), "transformer.h.{}.attn.c_attn.bias"),
    *normed("layers.{}.attention.output", "transformer.h.{}.attn.c_proj"),
    *normed("layers.{}.mlp.up", "transformer.h.{}.mlp.c_fc"),
    *normed("layers.{}.mlp.down", "transformer.h.{}.mlp.c_proj"),
    product("head", "lm_head"),
)


def names(config: Config) -> Names:
    left = r"\.attn\.(masked_)?bias$" + (r"|^lm_head\.weight$" if config.tied else "")
    return Names(_RULES, prefix="transformer.", left=left)
