"""The translators of ATen operators, grouped by area. Importing this registers them all."""

from __future__ import annotations

from . import creation, elementwise, indexing, neural, recurrent, reduction, shape

__all__ = ["creation", "elementwise", "indexing", "neural", "recurrent", "reduction", "shape"]
