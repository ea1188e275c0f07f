"""Stub: a place in a model where an observer or quantiser is put later."""

from __future__ import annotations

from typing import Any

from ..layer import Layer


class Stub(Layer):
    """Gives its input back until a quantisation configuration replaces it with its observer."""

    def __init__(self, observer: Any = None) -> None:
        super().__init__()
        self._observer = observer

    def forward(self, input: Any) -> Any:
        return input
