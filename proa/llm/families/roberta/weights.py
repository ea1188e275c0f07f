"""RoBERTa's names of weights."""

from __future__ import annotations

from ...config import Config
from ...naming import Names
from ..encoders import BERT_ATTENTION, ROBERTA_HEAD, encoder_names


def names(config: Config) -> Names:
    return encoder_names("roberta", ROBERTA_HEAD, BERT_ATTENTION)
