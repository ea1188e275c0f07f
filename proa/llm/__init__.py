"""`proa.llm`: language models, the same code trained, tuned, quantised and served.

    model = proa.llm.load("folder with config.json and safetensors")
    logits = model(ids)                       # a layer like any other
    more = model.generate(ids, max_tokens=32)

`config.py` says what a model looks like, `layers/` has the parts that all families share, `families/` how each family's
files are read; `model.py` is the decoder, `encoder.py` and `translator.py` the other two kinds of models, `loading.py` the
way from files and back (`naming.py` and `gguf.py` know what weights are called there).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .config import Config, Experts, Latent, Rope
    from .encoder import Encoder
    from .loading import load, save
    from .model import CausalLM
    from .translator import Translator

_HOMES = {
    "CausalLM": "model", "Config": "config", "Encoder": "encoder", "Experts": "config", "Latent": "config",
    "Rope": "config", "Translator": "translator", "load": "loading", "save": "loading",
}  # fmt: skip

__all__ = ["CausalLM", "Config", "Encoder", "Experts", "Latent", "Rope", "Translator", "load", "save"]


if not TYPE_CHECKING:  # so that a misspelt name is seen

    def __getattr__(name: str) -> Any:
        if name in _HOMES:
            return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
