"""T5's config.json, version 1.0 and 1.1."""

from __future__ import annotations

from ...config import Config
from ..shared import Json, fields_of, sizes_to, tokens_of, tokens_to

_SIZES = {
    "vocab_size": "vocab_size", "hidden_size": "d_model", "layers": "num_layers", "heads": "num_heads", "head_dim": "d_kv",
    "intermediate_size": "d_ff", "norm_epsilon": "layer_norm_epsilon", "decoder_layers": "num_decoder_layers",
    "relative_buckets": "relative_attention_num_buckets", "relative_distance": "relative_attention_max_distance",
    "decoder_start": "decoder_start_token_id",
}  # fmt: skip


def read(json: Json) -> Config:
    found = {"relative_buckets": 32, "decoder_layers": json["num_layers"], **fields_of(json, _SIZES)}
    kind = json.get("feed_forward_proj", "relu")
    gated = kind.startswith("gated-")
    activation = json.get("dense_act_fn") or kind.removeprefix("gated-")
    tied = json.get("tie_word_embeddings", True)
    scaled = json.get("scale_decoder_outputs", tied)
    return Config(
        "t5", **found, **tokens_of(json), attention_scale=1.0, positions="relative", gated=gated, tied=tied,
        activation="gelu_new" if kind == "gated-gelu" else activation,
        output_scale=json["d_model"] ** -0.5 if scaled else 1.0,
    )  # fmt: skip


def write(config: Config) -> Json:
    kind = "gelu" if config.activation == "gelu_new" and config.gated else config.activation
    return {
        "model_type": "t5", "architectures": ["T5ForConditionalGeneration"], **sizes_to(config, _SIZES), **tokens_to(config),
        "feed_forward_proj": f"gated-{kind}" if config.gated else kind, "tie_word_embeddings": config.tied,
        "scale_decoder_outputs": config.output_scale != 1.0, "is_encoder_decoder": True,
    }  # fmt: skip
