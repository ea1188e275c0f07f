"""The config.json of DeepSeek V2 and V3."""

from __future__ import annotations

import math

from ....core.errors import value_error
from ...config import Config, Experts, Latent, Rope
from ..shared import SIZES, Json, fields_of, rope_of, rope_to, sizes_to, tokens_of, tokens_to, yarn_scale

# A head has parts of their own sizes here, so neither of these two is what it is elsewhere.
_SIZES = {ours: theirs for ours, theirs in SIZES.items() if ours not in ("kv_heads", "head_dim")}


def read(json: Json) -> Config:
    found = fields_of(json, _SIZES)
    names = ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
    latent = Latent(*(json[name] for name in names), query_rank=json.get("q_lora_rank") or 0)
    rope = rope_of(json, latent.rope_dims, interleaved=bool(json.get("rope_interleave", True)))
    bias = bool(json.get("attention_bias"))
    return Config(
        json["model_type"], **found, **tokens_of(json), latent=latent, rope=rope, attention_bias=bias, output_bias=bias,
        mlp_bias=bool(json.get("mlp_bias")), attention_scale=_scale(json, latent, rope),
        experts=_experts(json, found["layers"]),
    )  # fmt: skip


def _scale(json: Json, latent: Latent, rope: Rope) -> float:
    """Contexts that YaRN stretches get sharper scores."""
    given = json.get("rope_parameters") or json.get("rope_scaling") or {}
    share = given.get("mscale_all_dim")
    sharper = yarn_scale(rope.factor, share) ** 2 if share and rope.scaling != "default" else 1.0
    return (latent.plain_dims + latent.rope_dims) ** -0.5 * sharper


def _experts(json: Json, layers: int) -> Experts | None:
    if not json.get("n_routed_experts"):
        return None
    newer = json["model_type"] == "deepseek_v3"
    method = json.get("topk_method") or ("noaux_tc" if newer else "greedy")
    if method not in ("greedy", "group_limited_greedy", "noaux_tc"):
        raise value_error("load", "topk_method is greedy, group_limited_greedy or noaux_tc", repr(method))
    grouped = method != "greedy"
    inner, first = json["moe_intermediate_size"], json.get("first_k_dense_replace") or 0
    return Experts(
        json["n_routed_experts"], json["num_experts_per_tok"], inner, tuple(number >= first for number in range(layers)),
        scoring="sigmoid" if newer else "softmax", normalised=newer and bool(json.get("norm_topk_prob", True)),
        scale=float(json.get("routed_scaling_factor") or 1.0), correction=newer,
        groups=(json.get("n_group") or 1) if grouped else 1, groups_kept=(json.get("topk_group") or 1) if grouped else 1,
        group_scoring="best two" if newer else "maximum",
        shared_intermediate_size=inner * (json.get("n_shared_experts") or 0),
    )  # fmt: skip


def write(config: Config) -> Json:
    assert config.rope is not None
    assert config.latent is not None
    latent, rope = config.latent, rope_to(config.rope)
    sharper = config.attention_scale * (latent.plain_dims + latent.rope_dims) ** 0.5
    if config.rope.scaling == "yarn" and sharper > 1 + 1e-9:
        rope["mscale_all_dim"] = (math.sqrt(sharper) - 1) / (0.1 * math.log(config.rope.factor))
    newer = config.family == "deepseek_v3"
    return {
        "model_type": config.family, "architectures": [f"Deepseek{'V3' if newer else 'V2'}ForCausalLM"],
        **sizes_to(config, _SIZES), **tokens_to(config), "num_key_value_heads": config.heads, "rope_parameters": rope,
        "kv_lora_rank": latent.kv_rank, "q_lora_rank": latent.query_rank or None, "qk_nope_head_dim": latent.plain_dims,
        "qk_rope_head_dim": latent.rope_dims, "v_head_dim": latent.value_dims, "attention_bias": config.attention_bias,
        **({"rope_interleave": config.rope.interleaved} if newer else {"mlp_bias": config.mlp_bias}),
        **(_experts_to(config.experts, newer) if config.experts else {}),
    }  # fmt: skip


def _experts_to(experts: Experts, newer: bool) -> Json:
    method = {} if newer else {"topk_method": "group_limited_greedy" if experts.groups > 1 else "greedy"}
    return {
        "n_routed_experts": experts.count, "num_experts_per_tok": experts.per_token, "norm_topk_prob": experts.normalised,
        "moe_intermediate_size": experts.intermediate_size, "routed_scaling_factor": experts.scale, **method,
        "n_group": experts.groups, "topk_group": experts.groups_kept, "first_k_dense_replace": experts.sparse.index(True),
        "n_shared_experts": experts.shared_intermediate_size // experts.intermediate_size,
    }  # fmt: skip
