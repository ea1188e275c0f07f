"""The rules of padding as the recorder asks for them, for paths that differ in sizes alone (see `ir/families.py`)."""

from __future__ import annotations

from .padded_program import padded_program as write
from .padding import plan_padding as plan

__all__ = ["plan", "write"]
