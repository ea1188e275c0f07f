"""ERNIE 4.5's config.json: neighbours are turned, one switch for all biases, experts with a correction of the choice."""

from __future__ import annotations

from ...config import Config, Experts
from ..shared import SIZES, Json, fields_of, head_dim_of, rope_of, rope_to, sizes_to, tokens_of, tokens_to


def read(json: Json) -> Config:
    found = {"tied": True, "norm_epsilon": 1e-5, **fields_of(json, SIZES)}
    bias = bool(json.get("use_bias"))
    return Config(
        json["model_type"], **found, **tokens_of(json), attention_bias=bias, output_bias=bias, mlp_bias=bias,
        rope=rope_of(json, head_dim_of(found), 500000.0, interleaved=True), experts=_experts(json, found["layers"]),
    )  # fmt: skip


def _experts(json: Json, layers: int) -> Experts | None:
    if json["model_type"] != "ernie4_5_moe":
        return None
    first, last = json.get("moe_layer_start_index", 1), json.get("moe_layer_end_index", -1)
    last = layers - 1 if last == -1 else last
    step = json.get("moe_layer_interval") or 1
    inner = json["moe_intermediate_size"]
    sparse = tuple((number + 1) % step == 0 and first <= number <= last for number in range(layers))
    return Experts(
        json["moe_num_experts"], json["moe_k"], inner, sparse, norm_minimum=json.get("moe_norm_min", 1e-12), correction=True,
        shared_intermediate_size=inner * (json.get("moe_num_shared_experts") or 0),
    )  # fmt: skip


def write(config: Config) -> Json:
    assert config.rope is not None
    written: Json = {
        "model_type": config.family, "architectures": ["Ernie4_5ForCausalLM"], **sizes_to(config, SIZES),
        **tokens_to(config), "use_bias": config.attention_bias, "rope_parameters": rope_to(config.rope),
    }  # fmt: skip
    experts = config.experts
    if experts is None:
        return written
    del written["head_dim"]  # this configuration has no such field
    first, last, step = _regular(experts.sparse)
    return {
        **written, "architectures": ["Ernie4_5_MoeForCausalLM"], "moe_num_experts": experts.count,
        "moe_k": experts.per_token,
        "moe_intermediate_size": experts.intermediate_size, "moe_norm_min": experts.norm_minimum,
        "moe_num_shared_experts": experts.shared_intermediate_size // experts.intermediate_size,
        "moe_layer_start_index": first, "moe_layer_end_index": last, "moe_layer_interval": step,
    }  # fmt: skip


def _regular(sparse: tuple[bool, ...]) -> tuple[int, int, int]:
    """First and last layer with experts, and the distance between two of them."""
    numbers = [number for number, is_sparse in enumerate(sparse) if is_sparse]
    step = numbers[1] - numbers[0] if len(numbers) > 1 else numbers[0] + 1
    return numbers[0], numbers[-1], step
