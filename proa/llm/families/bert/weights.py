"""The names of weights of BERT and ERNIE 3."""

from __future__ import annotations

from ...config import Config
from ...naming import Names, Rule
from ..encoders import BERT_ATTENTION, encoder_names

_HEAD = ("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.bias")


def names(config: Config) -> Names:
    tasks = Rule("task_embedding.weight", f"{config.family}.embeddings.task_type_embeddings.weight")
    return encoder_names(config.family, _HEAD, BERT_ATTENTION, tasks)
