"""What the configurations of many families have in common: names of sizes, rotary parameters, token ids."""

from __future__ import annotations

import math
from typing import Any

from ...core.errors import value_error
from ..config import Config, Experts, Rope
from ..naming import Names, Rule, biased, product

Json = dict[str, Any]

# Ours, and what most of Hugging Face's files call it.
SIZES = {
    "vocab_size": "vocab_size",
    "hidden_size": "hidden_size",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "intermediate_size": "intermediate_size",
    "kv_heads": "num_key_value_heads",
    "head_dim": "head_dim",
    "max_positions": "max_position_embeddings",
    "activation": "hidden_act",
    "norm_epsilon": "rms_norm_eps",
    "initializer_range": "initializer_range",
    "tied": "tie_word_embeddings",
}
_NEEDED = ("vocab_size", "hidden_size", "layers", "heads", "intermediate_size")


def fields_of(json: Json, names: dict[str, str], **changed: str) -> Json:
    """The fields of a Config that stand in `config.json` under these names; null counts as absent."""
    names = {**names, **changed}
    for ours in _NEEDED:
        if ours in names and json.get(names[ours]) is None:
            raise value_error("load", f"config.json has no {names[ours]!r}", f"the keys {sorted(json)}")
    return {ours: json[theirs] for ours, theirs in names.items() if json.get(theirs) is not None}


def sizes_to(config: Config, names: dict[str, str]) -> Json:
    return {theirs: getattr(config, ours) for ours, theirs in names.items()}


def tokens_of(json: Json) -> Json:
    """bos, eos and pad: each a number, several, or nothing."""
    found: Json = {ours: _several(json.get(f"{ours}_token_id")) for ours in ("bos", "eos")}
    if type(json.get("pad_token_id")) is int:
        found["pad"] = json["pad_token_id"]
    return found


def _several(value: Any) -> tuple[int, ...]:
    if value is None:
        return ()
    return tuple(value) if isinstance(value, list) else (int(value),)


def tokens_to(config: Config) -> Json:
    def plain(ids: tuple[int, ...]) -> Any:
        return None if not ids else ids[0] if len(ids) == 1 else list(ids)

    return {"bos_token_id": plain(config.bos), "eos_token_id": plain(config.eos), "pad_token_id": config.pad}


def head_dim_of(found: Json) -> int:
    return found.get("head_dim") or found["hidden_size"] // found["heads"]


def sparse_layers(json: Json, layers: int) -> tuple[bool, ...]:
    """Which layers have experts, as Qwen's files say it."""
    step, dense = json.get("decoder_sparse_step") or 1, json.get("mlp_only_layers") or []
    return tuple(number not in dense and (number + 1) % step == 0 for number in range(layers))


def sparse_to(experts: Experts) -> Json:
    return {
        "decoder_sparse_step": 1, "mlp_only_layers": [n for n, is_sparse in enumerate(experts.sparse) if not is_sparse],
        "num_experts_per_tok": experts.per_token, "moe_intermediate_size": experts.intermediate_size,
        "norm_topk_prob": experts.normalised,
    }  # fmt: skip


def rope_of(
    json: Json, dims: int, base: float = 10000.0, interleaved: bool = False, parameters: Json | None = None
) -> Rope:
    """Rotary parameters, written as `rope_parameters` (newer files) or as `rope_theta` with `rope_scaling`."""
    given = parameters or json.get("rope_parameters") or json.get("rope_scaling") or {}
    if json.get("rope_scaling_type"):  # PaddleNLP's way
        given = {"rope_type": json["rope_scaling_type"], "factor": json.get("rope_scaling_factor")}
    kind = given.get("rope_type", given.get("type", "default"))
    base = float(given.get("rope_theta") or json.get("rope_theta") or base)
    share = given.get("partial_rotary_factor") or json.get("partial_rotary_factor") or 1.0
    longest = int(json.get("max_position_embeddings") or 2048)
    common: Json = {"base": base, "dims": int(dims * share), "interleaved": interleaved}
    if kind == "default":
        return Rope(**common)
    if kind not in ("linear", "dynamic", "yarn", "llama3"):
        raise value_error("load", "rope_type is default, linear, dynamic, yarn or llama3", repr(kind))
    original = given.get("original_max_position_embeddings")
    common |= {
        "scaling": kind,
        "factor": float(given.get("factor") or 1.0),
        "original_positions": int(original or longest),
    }
    if kind == "dynamic":
        common["original_positions"] = longest
    elif kind == "llama3":
        common |= {"low_frequency": given["low_freq_factor"], "high_frequency": given["high_freq_factor"]}
    elif kind == "yarn":
        common |= {"beta_fast": given.get("beta_fast") or 32.0, "beta_slow": given.get("beta_slow") or 1.0}
        common |= {"truncate": given.get("truncate", True), "magnitude": _yarn_magnitude(given, common["factor"])}
    return Rope(**common)


def _yarn_magnitude(given: Json, factor: float) -> float:
    if given.get("attention_factor") is not None:
        return float(given["attention_factor"])
    if given.get("mscale") and given.get("mscale_all_dim"):
        return yarn_scale(factor, given["mscale"]) / yarn_scale(factor, given["mscale_all_dim"])
    return yarn_scale(factor)


def yarn_scale(factor: float, share: float = 1.0) -> float:
    return 1.0 if factor <= 1 else 0.1 * share * math.log(factor) + 1.0


def rope_to(rope: Rope) -> Json:
    """`rope_parameters`; the magnitude of yarn is written as the factor that it is."""
    found: Json = {"rope_type": rope.scaling, "rope_theta": rope.base}
    if rope.scaling != "default":
        found |= {"factor": rope.factor}
    if rope.scaling in ("yarn", "llama3"):
        found["original_max_position_embeddings"] = rope.original_positions
    if rope.scaling == "llama3":
        found |= {"low_freq_factor": rope.low_frequency, "high_freq_factor": rope.high_frequency}
    if rope.scaling == "yarn":
        found |= {"beta_fast": rope.beta_fast, "beta_slow": rope.beta_slow, "truncate": rope.truncate}
        found["attention_factor"] = rope.magnitude
    return found


ATTENTION = tuple(
    rule
    for ours, theirs in (("query", "q_proj"), ("key", "k_proj"), ("value", "v_proj"), ("output", "o_proj"))
    for rule in (
        product(f"layers.{{}}.attention.{ours}", f"model.layers.{{}}.self_attn.{theirs}"),
        Rule(f"layers.{{}}.attention.{ours}.bias", f"model.layers.{{}}.self_attn.{theirs}.bias"),
    )
)
HEAD_NORMS = tuple(
    Rule(f"layers.{{}}.attention.{ours}.weight", f"model.layers.{{}}.self_attn.{theirs}.weight")
    for ours, theirs in (("query_norm", "q_norm"), ("key_norm", "k_norm"))
)
MLP = tuple(
    rule
    for part in ("gate", "up", "down")
    for rule in (
        product(f"layers.{{}}.mlp.{part}", f"model.layers.{{}}.mlp.{part}_proj"),
        Rule(f"layers.{{}}.mlp.{part}.bias", f"model.layers.{{}}.mlp.{part}_proj.bias"),
    )
)
ENDS = (
    Rule("embedding.weight", "model.embed_tokens.weight"),
    Rule("norm.weight", "model.norm.weight"),
    product("head", "lm_head"),
    Rule("head.bias", "lm_head.bias"),
)
NORMS = (
    Rule("layers.{}.attention_norm.weight", "model.layers.{}.input_layernorm.weight"),
    Rule("layers.{}.mlp_norm.weight", "model.layers.{}.post_attention_layernorm.weight"),
)


AROUND = (
    Rule("layers.{}.attention_norm.weight", "model.layers.{}.input_layernorm.weight"),
    Rule("layers.{}.attention_after_norm.weight", "model.layers.{}.post_attention_layernorm.weight"),
    Rule("layers.{}.mlp_norm.weight", "model.layers.{}.pre_feedforward_layernorm.weight"),
    Rule("layers.{}.mlp_after_norm.weight", "model.layers.{}.post_feedforward_layernorm.weight"),
)


def mixture(shared: str = "shared_experts", correction: Rule | None = None) -> tuple[Rule, ...]:
    """The experts of a layer: stacked here, one by one in files."""
    rules = (
        Rule("layers.{}.mlp.router", "model.layers.{}.mlp.gate.weight", transposed=True),
        *(
            Rule(f"layers.{{}}.mlp.{part}", f"model.layers.{{}}.mlp.experts.{{e}}.{part}_proj.weight", transposed=True)
            for part in ("gate", "up", "down")
        ),
        *(
            rule
            for part in ("gate", "up", "down")
            for rule in biased(f"layers.{{}}.mlp.shared.{part}", f"model.layers.{{}}.mlp.{shared}.{part}_proj")
        ),
        product("layers.{}.mlp.shared_gate", "model.layers.{}.mlp.shared_expert_gate"),
    )
    return (*rules, *((correction,) if correction else ()))


def windows_of(json: Json, layers: int, default: list[bool] | None = None) -> tuple[int | None, ...]:
    """The window of each layer, from `layer_types` and `sliding_window`; `default`: which slide without the former."""
    window, kinds = json.get("sliding_window"), json.get("layer_types")
    if not window:
        return ()
    slides = default if kinds is None else [kind == "sliding_attention" for kind in kinds]
    if slides is None or not any(slides):
        return ()
    return tuple(int(window) if sliding else None for sliding in slides[:layers])


def windows_to(config: Config) -> Json:
    kinds = ["full_attention" if config.window(n) is None else "sliding_attention" for n in range(config.layers)]
    found = [window for window in config.windows if window is not None]
    return {"layer_types": kinds, "sliding_window": found[0] if found else None}


def llama_like(config: Config, *more: Rule, otherwise: tuple[str, ...] = ("",), left: str = "") -> Names:
    """The names of Llama, which most families share, and what a family has beside them or instead."""
    pattern = r"rotary_emb\.inv_freq$" + (r"|^lm_head\.weight$" if config.tied else "") + (f"|{left}" if left else "")
    return Names((*ENDS, *NORMS, *ATTENTION, *MLP, *more), otherwise=otherwise, left=pattern)
