"""What a tape node keeps, when hooks decide how: `saved_tensors_hooks`.

A pack hook gets every tensor that a node wants to keep and gives whatever should be kept instead (a
copy on the host, a file name, a compressed form); the unpack hook turns that into a tensor again
when the gradient is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...core.errors import type_error
from ...ir.recorder import LOCAL, recording_gradients
from ..tensor import Tensor
from .tape import SAVED_HOOKS, edge_of, with_history

Pack = Callable[[Tensor], Any]
Unpack = Callable[[Any], Tensor]


def current_hooks() -> tuple[Pack, Unpack] | None:
    """The innermost pair of hooks of this thread."""
    if not SAVED_HOOKS:
        return None
    hooks = getattr(LOCAL, "saved_hooks", None)
    return hooks[-1] if hooks else None


def pack_node(node: Any) -> None:
    """Lets the thread's hooks replace what a node keeps."""
    hooks = current_hooks()
    if hooks is not None and node.saved:
        node.saved = PackedValues(node.saved, *hooks)
        node.version = -1


class PackedValues:
    """Saved values that went through a pack hook; iterating unpacks them."""

    __slots__ = ("edges", "unpack", "values")

    def __init__(self, values: tuple[Any, ...], pack: Pack, unpack: Unpack) -> None:
        # What a tensor was in the graph is remembered apart: the hooks only see to its value.
        self.edges = tuple(edge_of(v) if isinstance(v, Tensor) else v for v in values)
        self.values = tuple(_without_tape(pack, v) if isinstance(v, Tensor) else _Plain for v in values)
        self.unpack = unpack

    def __iter__(self) -> Iterator[Any]:
        for value, edge in zip(self.values, self.edges, strict=True):
            yield edge if value is _Plain else self._unpacked(value, edge)

    def _unpacked(self, value: Any, edge: Any) -> Tensor:
        tensor = _without_tape(self.unpack, value)
        if not isinstance(tensor, Tensor):
            raise type_error("saved_tensors_hooks", "the unpack hook must give a Tensor", type(tensor).__name__)
        return with_history(tensor, edge)


class _Plain:
    """Stands where nothing was packed, because the value is no tensor; `edges` holds the value."""


def _without_tape(function: Callable[[Any], Any], argument: Any) -> Any:
    """Calls a hook. What it computes must not go on the tape: it would be packed in turn."""
    with recording_gradients(False):
        return function(argument)
