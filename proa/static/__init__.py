"""`paddle.static`: what describes programs before they run."""

from __future__ import annotations

from .input_spec import InputSpec

__all__ = ["InputSpec"]
