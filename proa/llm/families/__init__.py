"""The families of models: how each one's `config.json` is read and written, and how its weights are named.

A family is a folder with `configuration.py` (`read(json) -> Config`, `write(config) -> json`) and `weights.py`
(`names(config)`); code of its own only where its architecture differs from all others. `FAMILIES` says which folder serves
which `model_type`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...core.errors import value_error
from ..config import Config
from ..naming import Names

# `model_type` of config.json: the folder of its family.
FAMILIES = {
    "llama": "llama",
}


@dataclass(frozen=True)
class Family:
    """One family. `build` makes the model of a Config."""

    name: str
    read: Callable[[dict[str, Any]], Config]
    write: Callable[[Config], dict[str, Any]]
    names: Callable[[Config], Names]
    build: Callable[[Config], Any]


def family_of(model_type: Any) -> Family:
    if model_type not in FAMILIES:
        raise value_error("load", f"model_type is one of {sorted(FAMILIES)}", repr(model_type))
    folder = importlib.import_module(f"{__name__}.{FAMILIES[model_type]}")
    return folder.FAMILY
