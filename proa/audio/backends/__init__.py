"""`paddle.audio.backends`: what reads and writes sound files.

"wave_backend" (Python's own `wave`) is always there; "soundfile" when the package of that name is installed.
"""

from __future__ import annotations

from . import backend, wave_backend
from .backend import AudioInfo, get_current_backend, list_available_backends, set_backend

__all__ = ["AudioInfo", "backend", "get_current_backend", "list_available_backends", "set_backend", "wave_backend"]
