"""The config.json of BERT and ERNIE 3."""

from __future__ import annotations

from ...config import Config
from ..encoders import read_encoder, write_encoder
from ..shared import Json


def read(json: Json) -> Config:
    tasks = json.get("task_type_vocab_size", 3) if json.get("use_task_id") else 0
    return read_encoder(json, task_types=tasks)


def write(config: Config) -> Json:
    if config.family == "bert":
        return write_encoder(config, "Bert")
    tasks = {"use_task_id": config.task_types > 0, "task_type_vocab_size": config.task_types or 3}
    return {**write_encoder(config, "Ernie"), **tasks}
