"""A path becomes a model that answers: weights, tokenizer, engine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from ...core.place import default_place
from ...core.waiting import waiting
from ..encoder import Encoder
from ..engine import Engine, Options
from ..engine.ggml import suits
from ..model import CausalLM
from .embedding import Embedder
from .served import Served

WarmUp = Literal["all", "short", "none"]


def open_model(
    path: str, name: str | None = None, dtype: str | None = None, warm_up: WarmUp = "all",
    adapters: Mapping[str, str] | None = None, **options: Any,
) -> Served:  # fmt: skip
    """Opens a folder of Hugging Face's files or a `.gguf` file; `options` are those of the engine.

    `warm_up` says what is compiled at once: all that answers may need, or what they need while they are short. The rest is
    compiled when it is first needed, and that answer waits. `adapters` are folders of LoRA adapters by the names that
    requests give instead of the model's.
    """
    from ..loading import load
    from ..tokens import Tokenizer

    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no {path}; give a folder with config.json and safetensors, or a .gguf file")
    tokenizer = Tokenizer.from_gguf(path) if os.path.isfile(path) else Tokenizer.from_folder(path)
    # On a processor the blocks of a file are multiplied as they are: in a quarter of the memory, several times as quickly,
    # and a request gets the numbers that it would get alone.
    keep = os.path.isfile(path) and dtype is None and not options.get("exact") and default_place().kind == "cpu"
    model = load(path, dtype, keep_quantised=keep)
    model.eval()
    name = name or _name_of(path)
    if name in (adapters or ()):
        raise ValueError(
            f"an adapter and its model are both called {name}; give one another name: --adapter NAME=FOLDER"
        )
    if isinstance(model, CausalLM):
        engine = _engine(model, tokenizer, adapters or {}, options)
        _warm_up(engine, warm_up, name)
        return Served(name, engine, tokenizer, engine.context, Embedder(model), tuple(adapters or ()))
    if not isinstance(model, Encoder) or adapters:
        raise ValueError(f"{path} holds a {type(model).__name__}, which does not go on behind a text")
    return Served(name, None, tokenizer, model.config.max_positions, Embedder(model))


def _engine(model: Any, tokenizer: Any, adapters: Mapping[str, str], options: dict[str, Any]) -> Any:
    factors = {name: _factors(model, folder) for name, folder in adapters.items()}
    ranks = [down.shape[1] for places in factors.values() for down, _ in places.values()]
    room = {"adapters": len(factors), "adapter_rank": max(ranks)} if factors else {}
    if not factors and not options.get("exact") and options.get("cache_dtype") in (None, "float16") and suits(model):
        options = {"arithmetic": "llama.cpp", **options}  # writes as quickly, and what users of the file know
    engine = Engine(model, tokenizer, Options(**options, **room))
    for name, places in factors.items():
        engine.add_adapter(name, places)
    return engine


def _factors(model: Any, folder: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The two factors for each projection of an adapter, its scale multiplied in."""
    from ..training.lora import Adapter

    adapter = Adapter.load(model, folder)
    try:
        return {
            place.ours: (place.factors.down.numpy() * place.factors.scale, place.factors.up.numpy())
            for place in adapter.places
        }
    finally:
        adapter.detach()


def _warm_up(engine: Any, how: WarmUp, name: str) -> None:
    if how == "none":
        return
    shapes = [shape for shape in engine.rounds.shapes() if how == "all" or shape.width == engine.widths[0]]
    with waiting(f"compiling {len(shapes)} programs for {name}", "some seconds each, less the second time"):
        engine.warm_up(shapes)


def _name_of(path: str) -> str:
    return os.path.basename(os.path.abspath(path)).removesuffix(".gguf")


def named(given: str) -> tuple[str | None, str]:
    """The name and the path of `NAME=PATH`, or no name: what is there is a path."""
    name, sign, path = given.partition("=")
    if sign and name and os.sep not in name and not os.path.exists(given):
        return name, path
    return None, given
