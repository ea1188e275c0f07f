"""The config.json of Qwen 2 and 2.5: biases at query, key and value; windows from some layer on; experts."""

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
    found = fields_of(json, SIZES)
    first = json.get("max_window_layers") or 0
    slides = [number >= first for number in range(found["layers"])]
    windows = windows_of(json, found["layers"], slides) if json.get("use_sliding_window") else ()
    return Config(
        json["model_type"], **found, **tokens_of(json), attention_bias=bool(json.get("qkv_bias", True)), windows=windows,
        rope=rope_of(json, head_dim_of(found)), experts=_experts(json, found["layers"]),
    )  # fmt: skip


def _experts(json: Json, layers: int) -> Experts | None:
    if json["model_type"] != "qwen2_moe":
        return None
    return Experts(
        json["num_experts"], json["num_experts_per_tok"], json["moe_intermediate_size"], sparse_layers(json, layers),
        normalised=bool(json.get("norm_topk_prob")), shared_intermediate_size=json["shared_expert_intermediate_size"],
        shared_gate=True,
    )  # fmt: skip


def write(config: Config) -> Json:
    assert config.rope is not None
    written: Json = {
        "model_type": config.family, "architectures": ["Qwen2ForCausalLM"], **sizes_to(config, SIZES), **tokens_to(config),
        "rope_parameters": rope_to(config.rope), "use_sliding_window": bool(config.windows), **windows_to(config),
    }  # fmt: skip
    if config.experts is None:
        return written
    del written["head_dim"]  # this configuration has no such field
    return {
        **written, "architectures": ["Qwen2MoeForCausalLM"], "qkv_bias": config.attention_bias, **sparse_to(config.experts),
        "num_experts": config.experts.count, "shared_expert_intermediate_size": config.experts.shared_intermediate_size,
    }  # fmt: skip
