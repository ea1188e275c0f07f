"""The names of weights of BERT and ERNIE 3."""

from __future__ import annotations

from ...config import Config
from ...naming import Names, Rule, biased, normed
from ..encoders import BERT_ATTENTION, encoder_names

_HEAD = ("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.bias")


def names(config: Config) -> Names:
    tasks = Rule("task_embedding.weight", f"{config.family}.embeddings.task_type_embeddings.weight")
    return encoder_names(config.family, _HEAD, BERT_ATTENTION, tasks)


def paddle_names(config: Config) -> Names:
    """PaddleNLP's names: its encoder is `nn.TransformerEncoder`."""
    stem, layer = f"{config.family}.embeddings", f"{config.family}.encoder.layers.{{}}"
    attention = (("query", "q_proj"), ("key", "k_proj"), ("value", "v_proj"), ("output", "out_proj"))
    rules = (
        Rule("embedding.weight", f"{stem}.word_embeddings.weight"),
        Rule("position_embedding.weight", f"{stem}.position_embeddings.weight"),
        Rule("type_embedding.weight", f"{stem}.token_type_embeddings.weight"),
        Rule("task_embedding.weight", f"{stem}.task_type_embeddings.weight"),
        *normed("embedding_norm", f"{stem}.layer_norm"),
        *(rule for a, b in attention for rule in biased(f"layers.{{}}.attention.{a}", f"{layer}.self_attn.{b}")),
        *normed("layers.{}.attention_norm", f"{layer}.norm1"),
        *biased("layers.{}.mlp.up", f"{layer}.linear1"),
        *biased("layers.{}.mlp.down", f"{layer}.linear2"),
        *normed("layers.{}.mlp_norm", f"{layer}.norm2"),
        *biased("pooler", f"{config.family}.pooler.dense"),
        *biased("head_dense", "cls.predictions.transform"),
        *normed("head_norm", "cls.predictions.layer_norm"),
        Rule("head_bias", "cls.predictions.decoder_bias"),
    )
    left = r"^cls\.predictions\.decoder\.|^cls\.seq_relationship|\.decoder_weight$"
    return Names(rules, prefix=f"{config.family}.", left=left)
