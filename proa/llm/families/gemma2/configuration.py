"""Gemma 2's config.json."""

from __future__ import annotations

from ...config import Config
from ..shared import (
    SIZES,
    Json,
    fields_of,
    head_dim_of,
    rope_of,
    rope_to,
    sizes_to,
    tokens_of,
    tokens_to,
    windows_of,
    windows_to,
)

GEMMA_SIZES = {**SIZES, "activation": "hidden_activation"}


def read_gemma(json: Json) -> Json:
    """What Gemma 2 and 3 have in common."""
    found = {"tied": True, "head_dim": 256, "activation": "gelu_pytorch_tanh", **fields_of(json, GEMMA_SIZES)}
    bias = bool(json.get("attention_bias"))
    scalar = json.get("query_pre_attn_scalar") or found["head_dim"]
    return {
        **found, **tokens_of(json), "norm_offset": 1.0, "placement": "around", "attention_bias": bias, "output_bias": bias,
        "embedding_scale": found["hidden_size"] ** 0.5, "attention_scale": scalar**-0.5,
        "attention_cap": json.get("attn_logit_softcapping") or 0.0, "logit_cap": json.get("final_logit_softcapping") or 0.0,
    }  # fmt: skip


def write_gemma(config: Config) -> Json:
    scalar = config.attention_scale**-2
    return {
        **sizes_to(config, GEMMA_SIZES), **tokens_to(config), **windows_to(config), "attention_bias": config.attention_bias,
        "query_pre_attn_scalar": round(scalar) if abs(scalar - round(scalar)) < 1e-6 else scalar,
        "attn_logit_softcapping": config.attention_cap or None, "final_logit_softcapping": config.logit_cap or None,
    }  # fmt: skip


def read(json: Json) -> Config:
    found = read_gemma(json)
    windows = windows_of(json, found["layers"], [number % 2 == 0 for number in range(found["layers"])])
    return Config("gemma2", **found, rope=rope_of(json, head_dim_of(found)), windows=windows)


def write(config: Config) -> Json:
    assert config.rope is not None
    return {
        "model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"], **write_gemma(config),
        "rope_parameters": rope_to(config.rope),
    }  # fmt: skip
