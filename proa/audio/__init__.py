"""`paddle.audio`: spectral features, reading and writing of sound files, and datasets."""

from __future__ import annotations

from . import backends, datasets, features, functional
from .backends.backend import info, load, save

__all__ = ["backends", "datasets", "features", "functional", "info", "load", "save"]
