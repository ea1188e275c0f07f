"""What belongs to the framework as a whole: saving and loading (`io.py`)."""

from __future__ import annotations

from .io import load, save

__all__ = ["load", "save"]
