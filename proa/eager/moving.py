"""Tensors between devices and meshes of them: the same numbers elsewhere, with a gradient that finds its way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.place import Place
from ..ir import meshes
from ..ir.recorder import value_of
from .backward.tape import PassNode, edge_of
from .tensor import Tensor, wrap


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


class RelayNode(PassNode):
    """The history of a tensor that was laid out on other devices: its gradient goes back to where the tensor came from."""

    __slots__ = ("source",)

    label = "reshard_grad"

    def __init__(self, target: Any, aval: Any, source: Any) -> None:
        super().__init__(target, aval)
        self.source = source  # how the tensor lay there: a sharding, or None for the host

    def backward(self, grad: Any, create_graph: bool) -> Sequence[Any]:
        if self.source is None:  # plain tensors go along with any others
            return (grad,)
        return (relayed(grad, self.source),)

    def name(self) -> str:
        return "ReshardGradNode"


def relayed(x: Tensor, sharding: Any) -> Tensor:
    """The same numbers, laid out as XLA's `sharding` says on devices of any mesh; the gradient finds its way back.

    What the tensor waits for is started; nothing waits until it is done.
    """
    value = value_of(x)
    devices, _ = meshes.described(value)
    source = None if devices is None else value.sharding
    if source is None and len(sharding.device_set) == 1:  # among the devices of a CPU nothing but a layout says where
        source = meshes.ordinary()
    result = wrap(meshes.put(value, sharding), x._aval)
    edge = edge_of(x)
    if edge is not None:
        result._node, result.stop_gradient = RelayNode(edge, x._aval, source), False
    return result


def put_whole(x: Tensor, devices: tuple[int, ...]) -> Tensor:
    """The same numbers, whole on each of some devices."""
    return relayed(x, meshes.whole_on(devices))
