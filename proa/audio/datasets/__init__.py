"""`paddle.audio.datasets`: standard datasets of sounds with a class each."""

from __future__ import annotations

from .esc50 import ESC50
from .tess import TESS

__all__ = ["ESC50", "TESS"]
