"""Seeing and steering how eager code compiles itself: `explain`, `eager_mode`."""

from .explain import Explanation, explain, reset_statistics
from .mode import eager_mode

__all__ = ["Explanation", "eager_mode", "explain", "reset_statistics"]
