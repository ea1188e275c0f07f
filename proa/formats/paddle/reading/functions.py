"""The public functions that translators call, by their public names: `paddle.concat`, `F.conv2d`.

They are looked up in the table that the declarations fill, so that this folder depends on no module above it.
"""

from __future__ import annotations

import importlib
from typing import Any

from ....eager.declare import PUBLIC


class Functions:
    """The functions whose dotted names begin with `prefix`."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        try:
            found = PUBLIC[f"{self._prefix}{name}"]
        except KeyError:
            raise AttributeError(f"there is no public function {self._prefix}{name}") from None
        setattr(self, name, found)
        return found


class LazyModule:
    """A package that is imported when a model first needs it."""

    def __init__(self, name: str) -> None:
        self._module = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._module), name)


paddle = Functions("")
F = Functions("nn.functional.")
linalg = Functions("linalg.")
fft = Functions("fft.")
geometric = Functions("geometric.")
vision_ops = LazyModule("proa.vision.ops")

__all__ = ["F", "Functions", "LazyModule", "fft", "geometric", "linalg", "paddle", "vision_ops"]
