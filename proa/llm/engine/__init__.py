"""`proa.llm.engine`: many answers at once from one model.

    engine = Engine(model, tokenizer, Options(rows=8))
    for piece in engine.submit(Request(tokenizer.encode("Once upon a time"), Sampling(max_tokens=64))):
        print(piece.text, end="")
    engine.close()

A thread of the engine runs steps (`engine.py`): `scheduler.py` says who computes next, `pages.py` who owns which page of the
cache, `batch.py` makes the arrays of a step, `steps.py` has its programs, `cache.py` the memory and the way to attend
through it. `request.py` and `stream.py` are what users hold. May import models, files and tokens; knows nothing of a server.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .engine import Busy, Engine
    from .options import Options
    from .request import Grammar, Piece, Request, Sampling
    from .stream import Stream

_HOMES = {
    "Busy": "engine", "Engine": "engine", "Grammar": "request", "Options": "options", "Piece": "request",
    "Request": "request", "Sampling": "request", "Stream": "stream",
}  # fmt: skip

__all__ = ["Busy", "Engine", "Grammar", "Options", "Piece", "Request", "Sampling", "Stream"]


if not TYPE_CHECKING:  # so that a misspelt name is seen

    def __getattr__(name: str) -> Any:
        if name in _HOMES:
            return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
