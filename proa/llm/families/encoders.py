"""What the configurations and names of the encoders have in common: they all are BERT's children."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..config import Config
from ..naming import Names, Rule, biased, normed
from .shared import SIZES, Json, fields_of, sizes_to, tokens_of, tokens_to

_SIZES = {ours: theirs for ours, theirs in SIZES.items() if ours not in ("kv_heads", "head_dim", "tied")}
_SIZES["norm_epsilon"] = "layer_norm_eps"


def read_encoder(json: Json, offset: int = 0, **more: Any) -> Config:
    """`offset`: rows of the table of positions that no word uses."""
    found = {"norm_epsilon": 1e-12, "activation": "gelu", "max_positions": 512 + offset, **fields_of(json, _SIZES)}
    found["max_positions"] -= offset
    return Config(
        json["model_type"], **found, **tokens_of(json), norm="layer", placement="after", gated=False, positions="learned",
        position_offset=offset, embedding_norm=True, attention_bias=True, output_bias=True, mlp_bias=True, tied=True,
        token_types=json.get("type_vocab_size") or 0, **more,
    )  # fmt: skip


def write_encoder(config: Config, stem: str) -> Json:
    kind = "ForMaskedLM" if config.head == "masked" else "Model"
    written: Json = {
        "model_type": config.family, "architectures": [f"{stem}{kind}"], **sizes_to(config, _SIZES), **tokens_to(config),
    }  # fmt: skip
    written["max_position_embeddings"] += config.position_offset
    return written | ({"type_vocab_size": config.token_types} if config.token_types else {})


def fitted(config: Config, tensors: Mapping[str, Any]) -> Config:
    """Files hold the encoder alone, with a pooler or without, or with a head for masked words."""
    masked = any(name.startswith(("cls.predictions.", "lm_head.")) for name in tensors)
    return config.changed(head="masked" if masked else "", pooler=any("pooler.dense" in name for name in tensors))


def encoder_names(prefix: str, head: tuple[str, str, str], attention: dict[str, str], *more: Rule) -> Names:
    """`head` is what the head's product, norm and bias are called; `attention` the parts of a layer's attention."""
    stem, layer = f"{prefix}.embeddings", f"{prefix}.encoder.layer.{{}}"
    dense, norm, bias = head
    rules = (
        Rule("embedding.weight", f"{stem}.word_embeddings.weight"),
        Rule("position_embedding.weight", f"{stem}.position_embeddings.weight"),
        Rule("type_embedding.weight", f"{stem}.token_type_embeddings.weight"),
        *normed("embedding_norm", f"{stem}.LayerNorm"),
        *(
            rule
            for part in ("query", "key", "value", "output")
            for rule in biased(f"layers.{{}}.attention.{part}", f"{layer}.attention.{attention[part]}")
        ),
        *normed("layers.{}.attention_norm", f"{layer}.attention.{attention['norm']}"),
        *biased("layers.{}.mlp.up", f"{layer}.intermediate.dense"),
        *biased("layers.{}.mlp.down", f"{layer}.output.dense"),
        *normed("layers.{}.mlp_norm", f"{layer}.output.LayerNorm"),
        *biased("pooler", f"{prefix}.pooler.dense"),
        *biased("head_dense", dense),
        *normed("head_norm", norm),
        Rule("head_bias", bias),
        *more,
    )
    left = r"position_ids$|token_type_ids$|^cls\.seq_relationship|\.decoder\.(weight|bias)$"
    return Names(rules, prefix=f"{prefix}.", left=left)


BERT_ATTENTION = {
    "query": "self.query", "key": "self.key", "value": "self.value", "output": "output.dense", "norm": "output.LayerNorm",
}  # fmt: skip
ROBERTA_HEAD = ("lm_head.dense", "lm_head.layer_norm", "lm_head.bias")
