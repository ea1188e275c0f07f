"""From placements to layouts and back, and which part of a tensor lies at which place of a mesh.

Placements are what the user says, a layout what XLA is told. They differ where a dimension cannot be cut evenly: XLA's
arrays are cut into equal parts, so such a dimension stays whole on the devices, while the parts that belong to each of them
(`extent_at`) are those that Paddle would make: as equal as possible, longer ones first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...eager.tensor import Tensor
from ...ir import meshes
from ...ir.xla import started_jax
from ...ops.layout import Layout
from .mesh import ProcessMesh
from .placement import Partial, Placement, Replicate, Shard


def attributes_of(shape: Sequence[int], mesh: ProcessMesh, placements: Sequence[Placement]) -> tuple[Any, ...]:
    """What the operation `lay_out` is told: axes cut a dimension as long as all parts of it have the same length."""
    cuts, left = [], list(shape)
    for size, placement in zip(mesh.shape, placements, strict=True):
        cut = placement.dim if isinstance(placement, Shard) else meshes.WHOLE
        if cut != meshes.WHOLE:
            even = left[cut] % size == 0 and left[cut] > 0
            left[cut] = left[cut] // size if even else -1  # nothing cuts it evenly any more
            cut = cut if even else meshes.WHOLE
        cuts.append(cut)
    return tuple(mesh.process_ids), tuple(mesh.shape), ",".join(mesh.dim_names), tuple(cuts)


def layout_of(shape: Sequence[int], mesh: ProcessMesh, placements: Sequence[Placement], parts: Any = None) -> Layout:
    """The layout of a tensor; what is partial lies whole, reduced, beside its parts."""
    return Layout(mesh, tuple(placements), attributes_of(shape, mesh, placements), parts)


def balanced(length: int, count: int) -> list[int]:
    """Where the parts of a dimension begin, and where the last one ends."""
    each, longer = divmod(length, count)
    return [number * each + min(number, longer) for number in range(count + 1)]


def extent_at(
    shape: Sequence[int], mesh: ProcessMesh, placements: Sequence[Placement], place: Sequence[int]
) -> list[tuple[int, int]]:
    """The part of a tensor that belongs to a place of a mesh: first and last position in each dimension."""
    extent = [(0, length) for length in shape]
    for size, placement, position in zip(mesh.shape, placements, place, strict=True):
        if isinstance(placement, Shard):
            first, last = extent[placement.dim]
            ends = balanced(last - first, size)
            extent[placement.dim] = (first + ends[position], first + ends[position + 1])
    return extent


def found_layout(tensor: Tensor) -> Layout | None:
    """The layout of a tensor: that which the user gave it, or how XLA has cut it; None if it is on no mesh."""
    if tensor._layout is not None:
        return tensor._layout
    value = tensor._data()
    if meshes.devices_of(value) is None:
        return None
    sharding = value.sharding
    numbers = {device: number for number, device in enumerate(started_jax().devices())}
    grid = np.vectorize(numbers.__getitem__, otypes=[int])(sharding.mesh.devices)
    mesh = ProcessMesh(grid, list(sharding.mesh.axis_names))
    placements: list[Placement] = [Replicate()] * mesh.ndim
    for dimension, axes in enumerate(sharding.spec):
        for name in axes if isinstance(axes, tuple) else () if axes is None else (axes,):
            placements[mesh.axis(name)] = Shard(dimension)
    return layout_of(tensor._aval.shape, mesh, placements)


def partial_axes(placements: Sequence[Placement]) -> list[tuple[int, Partial]]:
    """The axes of a mesh on which a tensor is partial."""
    return [(axis, one) for axis, one in enumerate(placements) if isinstance(one, Partial)]
