"""What a captured graph took for granted: layers, tensors, Python values.

When it no longer holds, the code is captured again.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from operator import is_
from typing import Any

from .conversion.reads import Reads
from .value_guard import ValueGuard, settings_of

_TABLES = ("_parameters", "_buffers", "_sub_layers", "_forward_pre_hooks", "_forward_post_hooks")
_FORWARD = repeat("forward")


class Guard:
    """Training flags, members and hooks of the layers used, which parameters are trained, and values that were read."""

    def __init__(
        self,
        layers: Iterable[Any],
        captured: Iterable[Any],
        states: Iterable[Any] = (),
        attributes: Iterable[Any] = (),
        reads: Reads | None = None,
    ) -> None:
        every = {id(part): part for layer in layers for part in layer.sublayers(include_self=True)}
        self.layers = list(every.values())
        self.training = [layer.training for layer in self.layers]
        self.members = [vars(layer) for layer in self.layers]
        self.forwards = [members.get("forward") for members in self.members]  # where one was put on the layer itself
        tables = [getattr(layer, name) for layer in self.layers for name in _TABLES]
        self.tables = [(table, list(table.values())) for table in tables if table]
        self.empty = [table for table in tables if not table]
        self.captured = list(captured)
        self.frozen = [tensor.stop_gradient for tensor in self.captured]
        # Attributes that the code sets, as (object, name, value that it found): tensors, and others.
        self.states = list(states)
        self.attributes = list(attributes)
        self.avals = [tensor._aval for tensor in self.captured]
        noted = [] if reads is None else list(reads.noted.values())
        own = {(id(owner), name) for owner, name, _ in (*self.states, *self.attributes)}
        noted = [read for read in noted if (id(read.owner), read.name) not in own]
        self.values = ValueGuard([*noted, *settings_of(self.layers)])

    def holds(self) -> bool:
        """Whether everything is as it was at the capture."""
        return self.values.holds() and self._same_layers() and self._same_tensors()

    def may_hold_again(self) -> bool:
        """Whether the layers still have the members that the graph uses: else it is not worth keeping."""
        return not self._changed_members()

    def difference(self) -> str:
        """What is not as it was at the capture, in words."""
        found = self.values.difference()
        if found is not None:
            return found
        for layer, training in zip(self.layers, self.training, strict=True):
            if layer.training != training:
                return f"{layer.full_name()}.training was {training}, now it is {layer.training}"
        if not self._same_forwards():
            return "a layer has another forward"
        if self._changed_members():
            return "a layer has other members or hooks"
        return "a tensor has another shape or type, or is trained now or no longer"

    def _changed_members(self) -> bool:
        if any(self.empty):
            return True
        for table, values in self.tables:  # noqa: SIM110 (a generator costs more than it says)
            if len(table) != len(values) or not all(map(is_, table.values(), values)):
                return True
        return False

    def _same_layers(self) -> bool:
        if [members["training"] for members in self.members] != self.training:
            return False
        return self._same_forwards() and not self._changed_members()

    def _same_forwards(self) -> bool:
        return all(map(is_, map(dict.get, self.members, _FORWARD), self.forwards))

    def _same_tensors(self) -> bool:
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
