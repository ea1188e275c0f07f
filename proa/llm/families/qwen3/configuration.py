"""Qwen 3's config.json: norms of queries and keys instead of biases; experts."""

from __future__ import annotations

from ...config import Config, Experts
from ..shared import (
    SIZES,
    Json,
    fields_of,
    head_dim_of,
    rope_of,
    rope_to,
    sizes_to,
    sparse_layers,
    sparse_to,
    tokens_of,
    tokens_to,
    windows_of,
    windows_to,
)


def read(json: Json) -> Config:
    found = {"head_dim": 128, **fields_of(json, SIZES)}
    bias, first = bool(json.get("attention_bias")), json.get("max_window_layers") or 0
    slides = [number >= first for number in range(found["layers"])]
    windows = windows_of(json, found["layers"], slides) if json.get("use_sliding_window") else ()
    return Config(
        json["model_type"], **found, **tokens_of(json), attention_bias=bias, output_bias=bias, head_norms=True,
        windows=windows, rope=rope_of(json, head_dim_of(found)), experts=_experts(json, found["layers"]),
    )  # fmt: skip


def _experts(json: Json, layers: int) -> Experts | None:
    if json["model_type"] != "qwen3_moe":
        return None
    count = json.get("num_experts") or json["num_local_experts"]
    return Experts(
        count, json["num_experts_per_tok"], json["moe_intermediate_size"], sparse_layers(json, layers),
        normalised=bool(json.get("norm_topk_prob")),
    )  # fmt: skip


def write(config: Config) -> Json:
    assert config.rope is not None
    written = {
        "model_type": config.family, "architectures": ["Qwen3ForCausalLM"], **sizes_to(config, SIZES), **tokens_to(config),
        "attention_bias": config.attention_bias, "rope_parameters": rope_to(config.rope),
        "use_sliding_window": bool(config.windows), **windows_to(config),
    }  # fmt: skip
    if config.experts is None:
        return written
    return {
        **written, "architectures": ["Qwen3MoeForCausalLM"], "num_experts": config.experts.count, **sparse_to(config.experts)
    }  # fmt: skip
