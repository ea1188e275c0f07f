"""Tensors between devices: the same numbers elsewhere, with a gradient that finds its way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.place import Place
from .tape import PassNode, edge_of
from .tensor import Tensor


class MoveNode(PassNode):
    """The history of a tensor that came from another device: its gradient goes back there."""

    __slots__ = ()

    label = "to_grad"

    def backward(self, grad: Any, create_graph: bool) -> Sequence[Any]:
        return (moved(grad, self.avals[0].place),)

    def name(self) -> str:
        return "ToGradNode"


def moved(x: Tensor, place: Place) -> Tensor:
    """The same numbers on another device, with a gradient that finds its way back."""
    if place is x._aval.place:
        return x
    result = x._to_place(place)
    edge = edge_of(x)
    if edge is not None:
        result._node, result.stop_gradient = MoveNode(edge, x._aval), False
        result._node.out_aval = result._aval
    return result
