"""The families of models: how each one's `config.json` is read and written, and how its weights are named.

A family is a folder with `configuration.py` (`read(json) -> Config`, `write(config) -> json`) and `weights.py`
(`names(config)`); code of its own only where its architecture differs from all others. `FAMILIES` says which folder serves
which `model_type`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...core.errors import value_error
from ..config import Config
from ..naming import Names

# `model_type` of config.json: the folder of its family.
FAMILIES = {
    "bert": "bert",
    "deepseek_v2": "deepseek",
    "deepseek_v3": "deepseek",
    "ernie": "bert",
    "ernie4_5": "ernie4_5",
    "ernie4_5_moe": "ernie4_5",
    "gemma2": "gemma2",
    "gemma3_text": "gemma3",
    "gpt2": "gpt2",
    "llama": "llama",
    "mistral": "mistral",
    "mpnet": "mpnet",
    "qwen2": "qwen2",
    "qwen2_moe": "qwen2",
    "qwen3": "qwen3",
    "qwen3_moe": "qwen3",
    "roberta": "roberta",
    "t5": "t5",
    "xlm-roberta": "roberta",
}


@dataclass(frozen=True)
class Family:
    """One family. `build` makes the model of a Config; `paddle_names` are those of Paddle's files, where they differ."""

    name: str
    read: Callable[[dict[str, Any]], Config]
    write: Callable[[Config], dict[str, Any]]
    names: Callable[[Config], Names]
    build: Callable[[Config], Any]
    fitted: Callable[[Config, Mapping[str, Any]], Config] = lambda config, tensors: config  # parts that files may lack
    paddle_names: Callable[[Config], Names] | None = None


def family_of(model_type: Any) -> Family:
    if model_type not in FAMILIES:
        raise value_error("load", f"model_type is one of {sorted(FAMILIES)}", repr(model_type))
    folder = importlib.import_module(f"{__name__}.{FAMILIES[model_type]}")
    return folder.FAMILY
