"""Reading Paddle's models: Model -> Graph.

    registry.py     `@reads("conv2d")`: which function translates which operation
    operators/      the translators, one place for each operation, grouped by area
    known.py        values that are known while reading: constants and sizes
    translation.py  goes through a model and calls the translators
    loading.py      `LoadedModel`: a model that runs; `read_graph`

A translator calls our public functions as a user would; nothing here computes anything itself.
"""

from __future__ import annotations

from . import operators
from .loading import LoadedModel, read_graph
from .registry import READERS, reads

__all__ = ["READERS", "LoadedModel", "operators", "read_graph", "reads"]
