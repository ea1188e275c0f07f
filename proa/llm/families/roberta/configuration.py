"""RoBERTa's config.json: the table of positions begins behind the pad token."""

from __future__ import annotations

from ...config import Config
from ..encoders import read_encoder, write_encoder
from ..shared import Json


def read(json: Json) -> Config:
    json = {**json, "pad_token_id": 1 if json.get("pad_token_id") is None else json["pad_token_id"]}
    return read_encoder(json, json["pad_token_id"] + 1)


def write(config: Config) -> Json:
    return write_encoder(config, "XLMRoberta" if config.family == "xlm-roberta" else "Roberta")
