"""Between distributed tensors and the parts that single devices have.

In one process parts are cut and put together by ordinary operations, so that gradients flow. In a job of several processes
a part is what the process's own device holds: nothing is sent, and the gradient goes the same way back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.aval import make_aval
from ...core.errors import value_error
from ...eager.backward.tape import PassNode, edge_of
from ...eager.tensor import Tensor, wrap
from ...ir import meshes
from ...ir.recorder import note_sharded, value_of
from ...ir.xla import started_jax
from ...ops.layout import Layout
from ...ops.shape.joining import concat
from ...ops.shape.manipulation import unsqueeze
from . import parts
from .layouts import attributes_of, extent_at, partial_axes
from .mesh import ProcessMesh, own_devices
from .placement import Partial, Placement, Shard


def _is_one_process(mesh: ProcessMesh) -> bool:
    return len(own_devices(mesh)) == mesh.size


def assembled(pieces: list[Tensor], mesh: ProcessMesh, placements: Sequence[Placement]) -> Tensor:
    """The whole of what devices have; on partial axes the parts side by side, in dimensions of their own in front."""
    own = own_devices(mesh)
    if len(pieces) not in (1, len(own)):
        raise value_error(
            "dtensor_from_local", f"this process has {len(own)} of the mesh's devices", f"{len(pieces)} parts",
            "give one part for all of them, or one for each",
        )  # fmt: skip
    pieces = pieces * len(own) if len(pieces) == 1 else pieces
    if not _is_one_process(mesh):
        return _from_own_devices(pieces, own, mesh, placements)
    grid = np.empty(mesh.size, object)
    grid[:] = pieces
    grid = grid.reshape(mesh.shape)
    # Partial dimensions come first and in the order of the axes: so they are made last, from the last axis to the first.
    order = [axis for axis, one in enumerate(placements) if not isinstance(one, Partial)][::-1]
    order += [axis for axis, _ in reversed(partial_axes(placements))]
    for axis in order:
        grid = _joined(grid, axis, placements[axis])
    return grid.reshape(-1)[0]


def _joined(grid: np.ndarray, axis: int, placement: Placement) -> np.ndarray:
    """The grid with one axis of the mesh put together; it has length 1 from then on."""
    lines = np.moveaxis(grid, axis, -1)
    made = np.empty((*lines.shape[:-1], 1), object)
    for place in np.ndindex(lines.shape[:-1]):
        line = list(lines[place])
        if isinstance(placement, Shard):
            made[(*place, 0)] = concat(line, placement.dim) if len(line) > 1 else line[0]
        elif isinstance(placement, Partial):
            made[(*place, 0)] = concat([unsqueeze(one, 0) for one in line], 0)
        else:
            made[(*place, 0)] = line[0]
    return np.moveaxis(made, -1, axis)


def locals_of(tensor: Tensor, layout: Layout, first: bool = False) -> list[Tensor]:
    """The parts of a distributed tensor that this process's devices have (`first`: that of the first one alone)."""
    mesh, placements = layout.mesh, layout.placements
    own = own_devices(mesh)[: 1 if first else None]
    if not own:
        return [wrap(np.zeros((0,), tensor._aval.dtype))]  # as in Paddle: this process takes no part
    source, where = tensor, [axis for axis, _ in partial_axes(placements)]
    if layout.parts is not None:
        source, placements = layout.parts, parts.placements_of_parts(placements)
    found = []
    for number in own:
        place = tuple(int(i) for i in np.argwhere(mesh.mesh == number)[0])
        extent = extent_at(source._aval.shape, mesh, placements, place)
        if _is_one_process(mesh):
            part = source[tuple(slice(*ends) for ends in extent)]
        else:
            part = _on_own_device(source, extent)
        found.append(part.reshape(part.shape[len(where) :]) if where else part)
    return found


# ---- several processes ---------------------------------------------------------------------------------------------


class _FromPartsNode(PassNode):
    """The history of a tensor that was put together from parts of several processes: each gets its own part back."""

    __slots__ = ("attributes",)

    label = "dtensor_from_local_grad"

    def backward(self, grad: Any, create_graph: bool) -> Sequence[Any]:
        value = meshes.put(value_of(grad), meshes.sharding_of(*self.attributes))
        return (_own_part(value, self.avals[0].shape),)


class _OwnPartNode(PassNode):
    """The history of a process's own part: its gradient is that of the part, and the other processes have theirs."""

    __slots__ = ("sharding",)

    label = "dtensor_to_local_grad"

    def backward(self, grad: Any, create_graph: bool) -> Sequence[Any]:
        return (wrap(_global_array([value_of(grad)], self.avals[0].shape, self.sharding), self.avals[0]),)


def _own_part(value: Any, shape: tuple[int, ...]) -> Tensor:
    return wrap(np.asarray(value.addressable_shards[0].data).reshape(shape))


def _global_array(pieces: list[Any], shape: tuple[int, ...], sharding: Any) -> Any:
    jax = started_jax()
    note_sharded()
    devices = sorted(sharding.addressable_devices, key=lambda device: device.id)
    arrays = [jax.device_put(piece, device) for piece, device in zip(pieces, devices, strict=True)]
    return jax.make_array_from_single_device_arrays(shape, sharding, arrays)


def _from_own_devices(
    pieces: list[Tensor], own: list[int], mesh: ProcessMesh, placements: Sequence[Placement]
) -> Tensor:
    front = [mesh.shape[axis] for axis, _ in partial_axes(placements)]
    shape = [*front, *pieces[0]._aval.shape]
    for size, one in zip(mesh.shape, placements, strict=True):
        if isinstance(one, Shard):
            shape[one.dim + len(front)] *= size
    attributes = attributes_of(shape, mesh, parts.placements_of_parts(placements))
    ordered = [piece for _, piece in sorted(zip(own, pieces, strict=True), key=lambda pair: pair[0])]
    values = [np.asarray(value_of(piece)).reshape([1] * len(front) + list(piece.shape)) for piece in ordered]
    value = _global_array(values, tuple(shape), meshes.sharding_of(*attributes))
    result = wrap(value, make_aval(tuple(shape), pieces[0]._aval.dtype, pieces[0]._aval.place))
    edge = edge_of(ordered[0])
    if edge is not None:
        node = _FromPartsNode(edge, ordered[0]._aval)
        node.out_aval, node.attributes = result._aval, attributes
        result._node, result.stop_gradient = node, False
    return result


def _on_own_device(source: Tensor, extent: list[tuple[int, int]]) -> Tensor:
    value = value_of(source)
    piece = value.addressable_shards[0]
    shape = tuple(last - first for first, last in extent)
    if piece.data.shape != shape:  # cut unevenly: whole on each device
        host = np.asarray(meshes.readable(value))
        return wrap(np.ascontiguousarray(host[tuple(slice(*ends) for ends in extent)]))
    result = _own_part(value, shape)
    edge = edge_of(source)
    if edge is not None:
        node = _OwnPartNode(edge, source._aval)
        node.out_aval, node.sharding = result._aval, value.sharding
        result._node, result.stop_gradient = node, False
    return result
