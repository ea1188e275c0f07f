"""Distributed tensors: one value, whose parts lie on the devices of a mesh.

Such a tensor is an ordinary Tensor that holds a sharded `jax.Array`; every operation takes it, and XLA's partitioner puts
the communication in. `tensor._layout` remembers what the user said about it, and what it gets later is laid out alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.errors import type_error, value_error
from ...core.tracebacks import boundary
from ...eager.annotations import DeviceLike, DTypeLike, TensorLike
from ...eager.attaching import attach
from ...eager.parameter import Parameter
from ...eager.tensor import Tensor, alias, tensor_from_data
from ...eager.views import replace_value
from ...ir.recorder import recording_gradients
from ...ops.layout import Layout, constrain
from . import parts
from .layouts import extent_at, found_layout, layout_of, partial_axes
from .local import assembled, locals_of
from .mesh import ProcessMesh, get_mesh, own_coordinate, require_devices
from .placement import Placement, Replicate, checked


def _with_layout(x: Tensor, layout: Layout) -> Tensor:
    """The tensor, laid out; a new one with its history."""
    result = layout.lay_out(x)
    if result is x:
        result = alias(x)
    result._layout = layout
    return result


@boundary
def shard_tensor(
    data: TensorLike,
    mesh: ProcessMesh | None = None,
    placements: Sequence[Placement] | None = None,
    dtype: DTypeLike | None = None,
    place: DeviceLike | None = None,
    stop_gradient: bool | None = None,
) -> Tensor:
    """Data as a tensor on a mesh.

    A parameter is laid out itself and stays the same object, so an optimiser that has it already goes on with it. Any other
    tensor stays as it is, and the result has its history.

    Args:
        data: a tensor, an array, numbers.
        mesh: the mesh; None: what `set_mesh` was given.
        placements: how it lies on each axis; None, or left out: whole on each device.
        dtype: the data type; None: that of the data.
        place: taken; the mesh says where.
        stop_gradient: whether no gradient is wanted; None: as the data say.

    Raises:
        ValueError: the mesh has devices that are not there, or a placement cuts a dimension that is not there.

    Examples:
        >>> dist = paddle.distributed
        >>> mesh = dist.ProcessMesh([0], ["dp"])
        >>> x = dist.shard_tensor([[1.0, 2.0], [3.0, 4.0]], mesh, [dist.Shard(0)])
        >>> x.placements, x.tolist()
        ([Shard(dim=0)], [[1.0, 2.0], [3.0, 4.0]])
    """
    mesh = get_mesh() if mesh is None else mesh
    require_devices("shard_tensor", mesh)
    assert mesh is not None
    tensor = data if isinstance(data, Tensor) and dtype is None else tensor_from_data(data, dtype, place)
    if placements is None:
        placements = [Replicate()] * mesh.ndim
    wanted = checked("shard_tensor", tensor._aval.shape, mesh, placements)
    if isinstance(tensor, Parameter) and not partial_axes(wanted):
        lay_out_parameter(tensor, mesh, wanted)
        result: Tensor = tensor
    else:
        result = _placed(tensor, mesh, wanted)
    if stop_gradient is not None:
        result.stop_gradient = stop_gradient
    return result


def lay_out_parameter(parameter: Tensor, mesh: ProcessMesh, placements: Sequence[Placement]) -> None:
    """Lays a parameter (or any leaf) out in place."""
    parameter._layout = layout_of(parameter._aval.shape, mesh, placements)
    parameter.is_distributed = True
    with recording_gradients(False):
        replace_value(parameter, alias(parameter))


def _placed(tensor: Tensor, mesh: ProcessMesh, placements: tuple[Placement, ...]) -> Tensor:
    if not partial_axes(placements):
        return _with_layout(tensor, layout_of(tensor._aval.shape, mesh, placements))
    return from_parts(parts.divided(tensor, mesh, placements), mesh, placements)


def from_parts(pieces: Tensor, mesh: ProcessMesh, placements: tuple[Placement, ...]) -> Tensor:
    """The partial tensor that some parts stand for."""
    pieces = parts.laid_out(pieces, mesh, placements)
    whole = parts.reduced(pieces, placements)
    layout = layout_of(whole._aval.shape, mesh, placements, pieces)
    result = constrain(whole, layout.attributes)
    result = alias(whole) if result is whole else result
    result._layout = layout
    return result


@boundary
def reshard(dist_tensor: Tensor, mesh: ProcessMesh, placements: Sequence[Placement]) -> Tensor:
    """The same value, laid out anew: on other axes, reduced or in parts, or on another mesh. Gradients flow back.

    Args:
        dist_tensor: a tensor.
        mesh: the mesh that it is to lie on.
        placements: how it is to lie on each axis.

    Examples:
        >>> dist = paddle.distributed
        >>> mesh = dist.ProcessMesh([0], ["dp"])
        >>> x = dist.shard_tensor([[1.0, 2.0]], mesh, [dist.Shard(0)])
        >>> dist.reshard(x, mesh, [dist.Replicate()]).placements
        [Replicate()]
    """
    require_devices("reshard", mesh)
    if not isinstance(dist_tensor, Tensor):
        raise type_error(
            "reshard", "a distributed tensor is laid out anew", type(dist_tensor).__name__, "use shard_tensor()"
        )
    wanted = checked("reshard", dist_tensor._aval.shape, mesh, placements)
    before = dist_tensor._layout
    if before is not None and before.parts is not None and before.mesh == mesh:
        stays_partial = partial_axes(before.placements) == partial_axes(wanted)
        if stays_partial:
            return from_parts(before.parts, mesh, wanted)
    return _placed(dist_tensor, mesh, wanted)


@boundary
def unshard_dtensor(dist_tensor: Tensor) -> Tensor:
    """The whole, as an ordinary tensor.

    Examples:
        >>> dist = paddle.distributed
        >>> x = dist.shard_tensor([1.0, 2.0], dist.ProcessMesh([0], ["dp"]), [dist.Shard(0)])
        >>> dist.unshard_dtensor(x).tolist()
        [1.0, 2.0]
    """
    layout = found_layout(dist_tensor)
    if layout is None:
        return dist_tensor
    result = _placed(dist_tensor, layout.mesh, (Replicate(),) * layout.mesh.ndim)
    result._layout = None
    return result


@boundary
def dtensor_from_fn(
    fn: Callable[..., Any], mesh: ProcessMesh, placements: Sequence[Placement], *args: Any, **kwargs: Any
) -> Tensor:
    """`fn(*args, **kwargs)`, on the mesh.

    Examples:
        >>> dist = paddle.distributed
        >>> dist.dtensor_from_fn(paddle.ones, dist.ProcessMesh([0], ["dp"]), [dist.Replicate()], [2]).tolist()
        [1.0, 1.0]
    """
    return shard_tensor(fn(*args, **kwargs), mesh, placements)


@boundary
def dtensor_from_local(
    local_tensor: Tensor | Sequence[Tensor], mesh: ProcessMesh, placements: Sequence[Placement]
) -> Tensor:
    """The distributed tensor whose parts the devices have: each process gives its own.

    A process with several devices gives the same part for each of them, or a list with a part for each, in the order of
    the mesh.

    Args:
        local_tensor: the part, or a list of parts.
        mesh: the mesh.
        placements: how the whole lies on each axis.

    Examples:
        >>> dist = paddle.distributed
        >>> mesh = dist.ProcessMesh([0], ["dp"])
        >>> dist.dtensor_from_local(paddle.ones([2, 3]), mesh, [dist.Shard(0)]).shape
        paddle.Size([2, 3])
    """
    require_devices("dtensor_from_local", mesh)
    pieces: list[Any] = list(local_tensor) if isinstance(local_tensor, (list, tuple)) else [local_tensor]
    if not all(isinstance(piece, Tensor) for piece in pieces):
        raise type_error("dtensor_from_local", "the parts are tensors", type(local_tensor).__name__)
    wanted = checked("dtensor_from_local", pieces[0]._aval.shape, mesh, placements)
    whole = assembled(pieces, mesh, wanted)
    if partial_axes(wanted):
        return from_parts(whole, mesh, wanted)
    return _with_layout(whole, layout_of(whole._aval.shape, mesh, wanted))


@boundary
def dtensor_to_local(
    dist_tensor: Tensor, mesh: ProcessMesh | None = None, placements: Sequence[Placement] | None = None
) -> Tensor:
    """The part that this process (its first device) has, as an ordinary tensor; gradients flow back.

    Raises:
        ValueError: the tensor lies on no mesh.

    Examples:
        >>> dist = paddle.distributed
        >>> x = dist.shard_tensor([1.0, 2.0], dist.ProcessMesh([0], ["dp"]), [dist.Shard(0)])
        >>> dist.dtensor_to_local(x).tolist()
        [1.0, 2.0]
    """
    return locals_of(dist_tensor, _required("dtensor_to_local", dist_tensor), first=True)[0]


def _required(where: str, tensor: Tensor) -> Layout:
    layout = found_layout(tensor)
    if layout is None:
        raise value_error(
            where, "the tensor is not distributed", f"x: {tensor._aval}", "lay it out with shard_tensor()"
        )
    return layout


# ---- what tensors say about themselves -----------------------------------------------------------------------------


def _is_dist(self: Tensor) -> bool:
    """Whether the tensor lies on a mesh of devices. What is computed from such tensors does, too.

    Examples:
        >>> paddle.ones([2]).is_dist()
        False
    """
    if self._layout is not None:
        return True
    if self._value is None:
        return self._segment.devices is not None
    return found_layout(self) is not None


def _process_mesh(self: Tensor) -> ProcessMesh | None:
    """The mesh that the tensor lies on, or None.

    Examples:
        >>> paddle.ones([2]).process_mesh is None
        True
    """
    layout = found_layout(self)
    return None if layout is None else layout.mesh


def _placements(self: Tensor) -> list[Placement] | None:
    """How the tensor lies on each axis of its mesh, or None.

    Examples:
        >>> paddle.ones([2]).placements is None
        True
    """
    layout = found_layout(self)
    return None if layout is None else list(layout.placements)


def _local_shape(self: Tensor) -> list[int]:
    layout = _required("_local_shape", self)
    place = own_coordinate(layout.mesh)
    if place is None:
        return [0]
    return [last - first for first, last in extent_at(self._aval.shape, layout.mesh, layout.placements, place)]


def _local_value(self: Tensor) -> Tensor:
    with recording_gradients(False):
        return locals_of(self, _required("_local_value", self), first=True)[0]


def _num_shard(self: Tensor) -> int | None:
    """Into how many parts the tensor is cut, or None where it lies on no mesh.

    Examples:
        >>> paddle.ones([2]).num_shard is None
        True
    """
    layout = found_layout(self)
    if layout is None:
        return None
    return int(
        np.prod([n for n, p in zip(layout.mesh.shape, layout.placements, strict=True) if p.is_shard()], initial=1)
    )


attach(__name__, _unsafe_local_value=_local_value)
# Of a tensor on one device these say that there is nothing to say; a program that never imports this module is spared it.
attach(
    __name__,
    "proa.ops.create.storage",
    process_mesh=property(_process_mesh),
    placements=property(_placements),
    num_shard=property(_num_shard),
    is_dist=_is_dist,
)
attach(
    __name__,
    "proa.compat.tensor_names",
    _local_shape=property(_local_shape, doc="The shape of this process's part."),
    _local_value=_local_value,
)
