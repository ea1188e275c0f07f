"""Mistral's config.json."""

from __future__ import annotations

from ...config import Config
from ..shared import SIZES, Json, fields_of, head_dim_of, rope_of, rope_to, sizes_to, tokens_of, tokens_to


def read(json: Json) -> Config:
    found = fields_of(json, SIZES)
    window = json.get("sliding_window")
    windows = (int(window),) * found["layers"] if window else ()
    return Config("mistral", **found, **tokens_of(json), rope=rope_of(json, head_dim_of(found)), windows=windows)


def write(config: Config) -> Json:
    assert config.rope is not None
    return {
        "model_type": "mistral", "architectures": ["MistralForCausalLM"], **sizes_to(config, SIZES), **tokens_to(config),
        "rope_parameters": rope_to(config.rope), "sliding_window": config.window(0),
    }  # fmt: skip
