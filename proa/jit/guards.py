"""What a captured graph took for granted about layers; when it no longer holds, the code is captured again."""

from __future__ import annotations

from collections.abc import Iterable
from operator import is_
from typing import Any

_TABLES = ("_parameters", "_buffers", "_sub_layers")


class Guard:
    """Training flags, parameters, buffers and sub-layers of the layers used, and which parameters are trained."""

    def __init__(
        self, layers: Iterable[Any], captured: Iterable[Any], states: Iterable[Any] = (), attributes: Iterable[Any] = ()
    ) -> None:
        every = {id(part): part for layer in layers for part in layer.sublayers(include_self=True)}
        self.layers = list(every.values())
        self.training = [layer.training for layer in self.layers]
        tables = [getattr(layer, name) for layer in self.layers for name in _TABLES]
        self.tables = [(table, list(table.values())) for table in tables if table]
        self.captured = list(captured)
        self.frozen = [tensor.stop_gradient for tensor in self.captured]
        # Attributes that the code sets, as (object, name, value that it found): tensors, and others.
        self.states = list(states)
        self.attributes = list(attributes)
        self.avals = [tensor._aval for tensor in self.captured]

    def holds(self) -> bool:
        """Whether everything is as it was at the capture."""
        if [layer.training for layer in self.layers] != self.training:
            return False
        for table, values in self.tables:
            if len(table) != len(values) or not all(map(is_, table.values(), values)):
                return False
        for owner, name, value in self.attributes:
            if getattr(owner, name, None) is not value:
                return False
        for owner, name, value in self.states:
            now: Any = getattr(owner, name, None)
            if getattr(now, "_aval", None) is not value._aval or now.stop_gradient != value.stop_gradient:
                return False
        captured = self.captured
        return [t.stop_gradient for t in captured] == self.frozen and all(
            map(is_, [t._aval for t in captured], self.avals)
        )
