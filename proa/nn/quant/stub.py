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


class QuanterStub(Layer):
    """What a Stub becomes: its own observer, or that of the configuration."""

    def __init__(self, layer: Stub, q_config: Any) -> None:
        super().__init__()
        self.training = layer.training
        chosen = layer._observer if layer._observer is not None else q_config.activation
        self._observer = None if chosen is None else chosen._instance(layer)

    def forward(self, input: Any) -> Any:
        return input if self._observer is None else self._observer(input)
