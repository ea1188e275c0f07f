"""What belongs to the framework as a whole: saving and loading (`io.py`), memory budgets (`memory_budget.py`)."""

from __future__ import annotations

from . import io
from .io import async_save, load, save
from .memory_budget import memory_budget

__all__ = ["async_save", "io", "load", "memory_budget", "save"]
