"""MPNet's config.json."""

from __future__ import annotations

from ...config import Config
from ..encoders import read_encoder, write_encoder
from ..shared import Json


def read(json: Json) -> Config:
    # The pad token is always 1 here, whatever the file says.
    return read_encoder({**json, "pad_token_id": 1}, 2, relative_buckets=json.get("relative_attention_num_buckets", 32))


def write(config: Config) -> Json:
    return {**write_encoder(config, "MPNet"), "relative_attention_num_buckets": config.relative_buckets}
