"""GPT-2's config.json."""

from __future__ import annotations

from ....core.errors import value_error
from ...config import Config
from ..shared import Json, fields_of, sizes_to, tokens_of, tokens_to

_SIZES = {
    "vocab_size": "vocab_size", "hidden_size": "n_embd", "layers": "n_layer", "heads": "n_head",
    "max_positions": "n_positions", "intermediate_size": "n_inner", "activation": "activation_function",
    "norm_epsilon": "layer_norm_epsilon", "initializer_range": "initializer_range", "tied": "tie_word_embeddings",
}  # fmt: skip


def read(json: Json) -> Config:
    json = {**json, "n_inner": json.get("n_inner") or 4 * json["n_embd"]}
    for name in ("scale_attn_by_inverse_layer_idx", "add_cross_attention"):
        if json.get(name):
            raise value_error("load", f"a GPT-2 with {name} is not supported", f"{name}: {json[name]!r}")
    found = {"tied": True, "norm_epsilon": 1e-5, "activation": "gelu_new", **fields_of(json, _SIZES)}
    scaled = {} if json.get("scale_attn_weights", True) else {"attention_scale": 1.0}
    return Config(
        "gpt2", **found, **tokens_of(json), **scaled, norm="layer", gated=False, positions="learned", attention_bias=True,
        output_bias=True, mlp_bias=True,
    )  # fmt: skip


def write(config: Config) -> Json:
    return {
        "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], **sizes_to(config, _SIZES), **tokens_to(config),
        "scale_attn_weights": config.attention_scale != 1.0,
    }  # fmt: skip
