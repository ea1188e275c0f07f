"""The public functions that translators call, by their public names: `paddle.concat`, `F.conv2d`.

They are looked up in the table that the declarations fill, so that this folder depends on no module above it.
"""

from __future__ import annotations

import importlib
from typing import Any

from ....ops.public_functions import PublicFunctions


class LazyModule:
    """A package that is imported when a model first needs it."""

    def __init__(self, name: str) -> None:
        self._module = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._module), name)


paddle = PublicFunctions()
F = PublicFunctions("nn.functional")
linalg = PublicFunctions("linalg")
fft = PublicFunctions("fft")
geometric = PublicFunctions("geometric")
vision_ops = LazyModule("proa.vision.ops")

__all__ = ["F", "LazyModule", "PublicFunctions", "fft", "geometric", "linalg", "paddle", "vision_ops"]
