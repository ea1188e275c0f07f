"""Llama's config.json."""

from __future__ import annotations

from ...config import Config
from ..shared import SIZES, Json, fields_of, head_dim_of, rope_of, rope_to, sizes_to, tokens_of, tokens_to


def read(json: Json) -> Config:
    found = fields_of(json, SIZES)
    bias = bool(json.get("attention_bias"))
    return Config(
        "llama", **found, **tokens_of(json), attention_bias=bias, output_bias=bias, mlp_bias=bool(json.get("mlp_bias")),
        rope=rope_of(json, head_dim_of(found)),
    )  # fmt: skip


def write(config: Config) -> Json:
    assert config.rope is not None
    return {
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], **sizes_to(config, SIZES), **tokens_to(config),
        "attention_bias": config.attention_bias, "mlp_bias": config.mlp_bias, "rope_parameters": rope_to(config.rope),
    }  # fmt: skip
