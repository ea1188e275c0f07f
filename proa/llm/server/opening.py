"""A path becomes a model that answers: weights, tokenizer, engine."""

from __future__ import annotations

import os
from typing import Any, Literal

from ...core.waiting import waiting
from ..encoder import Encoder
from .embedding import Embedder
from .served import Served

WarmUp = Literal["all", "short", "none"]


def open_model(
    path: str, name: str | None = None, dtype: str | None = None, warm_up: WarmUp = "all", **options: Any
) -> Served:  # fmt: skip
    """Opens a folder of Hugging Face's files or a `.gguf` file; `options` are those of the engine.

    `warm_up` says what is compiled at once: all that answers may need, or what they need while they are short. The rest is
    compiled when it is first needed, and that answer waits.
    """
    from ..engine import Engine, Options
    from ..loading import load
    from ..tokens import Tokenizer

    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no {path}; give a folder with config.json and safetensors, or a .gguf file")
    tokenizer = Tokenizer.from_gguf(path) if os.path.isfile(path) else Tokenizer.from_folder(path)
    model = load(path, dtype)
    model.eval()
    name = name or _name_of(path)
    if isinstance(model, Encoder):
        return Served(name, None, tokenizer, model.config.max_positions, Embedder(model))
    engine = Engine(model, tokenizer, Options(**options))
    shapes = [shape for shape in engine.rounds.shapes() if warm_up == "all" or shape.width == engine.widths[0]]
    if warm_up != "none":
        with waiting(f"compiling {len(shapes)} programs for {name}", "some seconds each, less the second time"):
            engine.warm_up(shapes)
    return Served(name, engine, tokenizer, engine.context, Embedder(model))


def _name_of(path: str) -> str:
    return os.path.basename(os.path.abspath(path)).removesuffix(".gguf")


def named(given: str) -> tuple[str | None, str]:
    """The name and the path of `NAME=PATH`, or no name: what is there is a path."""
    name, sign, path = given.partition("=")
    if sign and name and os.sep not in name and not os.path.exists(given):
        return name, path
    return None, given
