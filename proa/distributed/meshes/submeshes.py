"""A tensor of a mesh as tensors of its slices, and back: experts that lie on parts of a mesh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...eager.tensor import Tensor
from ...ops.shape.joining import concat
from .dtensor import reshard
from .layouts import balanced, found_layout
from .mesh import ProcessMesh
from .placement import Placement, Replicate, Shard


def split_mesh(global_mesh: ProcessMesh, sub_mesh_dim: int) -> list[ProcessMesh]:
    """The slices of a mesh along an axis, each with that axis of length 1."""
    axis = global_mesh.axis(sub_mesh_dim, "split_mesh")
    parts = np.split(global_mesh.mesh, global_mesh.shape[axis], axis)
    return [ProcessMesh(part, global_mesh.dim_names) for part in parts]


def moe_sub_mesh_tensors(
    dist_tensor: Tensor, global_mesh: ProcessMesh | None = None, local_mesh_dim: int | None = None,
    global_placements: Sequence[Placement] | None = None,
) -> list[Tensor]:  # fmt: skip
    """A tensor for each slice of its mesh along an axis: its part there, or the whole where that axis does not cut it."""
    layout = found_layout(dist_tensor)
    if layout is None:
        raise value_error("moe_sub_mesh_tensors", "the tensor is not distributed", f"x: {dist_tensor._aval}")
    mesh = global_mesh or layout.mesh
    placements = list(global_placements or layout.placements)
    axis = mesh.axis(-1 if local_mesh_dim is None else local_mesh_dim, "moe_sub_mesh_tensors")
    cut, placements[axis] = placements[axis], Replicate()
    made = []
    for number, part in enumerate(split_mesh(mesh, axis)):
        piece = dist_tensor
        if isinstance(cut, Shard):
            ends = balanced(dist_tensor._aval.shape[cut.dim], mesh.shape[axis])
            place: list[Any] = [slice(None)] * dist_tensor.ndim
            place[cut.dim] = slice(ends[number], ends[number + 1])
            piece = dist_tensor[tuple(place)]
        made.append(reshard(piece, part, placements))
    return made


def moe_global_mesh_tensor(
    local_tensor_list: Sequence[Tensor], mesh: ProcessMesh, placements: Sequence[Placement], local_mesh_dim: int = -1
) -> Tensor:
    """The tensor of a mesh whose slices along an axis have the given ones."""
    axis = mesh.axis(local_mesh_dim, "moe_global_mesh_tensor")
    if len(local_tensor_list) != mesh.shape[axis]:
        raise value_error(
            "moe_global_mesh_tensor", f"axis {axis} of the mesh has {mesh.shape[axis]} slices",
            f"{len(local_tensor_list)} tensors",
        )  # fmt: skip
    whole = [Replicate()] * mesh.ndim
    pieces = [reshard(piece, mesh, whole) for piece in local_tensor_list]
    cut = placements[axis]
    if isinstance(cut, Shard):
        return reshard(concat(pieces, cut.dim), mesh, placements)
    return reshard(pieces[0], mesh, placements)
