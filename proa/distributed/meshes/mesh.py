"""ProcessMesh: devices arranged in an array with named axes.

A process id is the position of a device in `jax.devices()`: with one device a process it is the rank, with one process and
many devices (virtual ones of a CPU, the GPUs of a machine) the number of the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import type_error, value_error
from ...ir.xla import started_jax


class ProcessMesh:
    """Devices in an array whose axes have names.

    `mesh[0]` is a slice of it, `get_mesh_with_dim("mp")` has that axis first, `mesh["mp"]` is this process's line along it.

    Args:
        mesh: the numbers of the devices, nested as deep as there are axes.
        dim_names: the names of the axes; None: d0, d1 …
        shape: with `process_ids`, instead of `mesh`: how many devices there are along each axis.
        process_ids: the devices, row by row.

    Raises:
        ValueError: a device is named twice, or there are not as many names as axes.

    Examples:
        >>> mesh = paddle.distributed.ProcessMesh([[0, 1, 2, 3], [4, 5, 6, 7]], dim_names=["dp", "mp"])
        >>> mesh
        {shape: [2, 4], process_ids: [0, 1, 2, 3, 4, 5, 6, 7], dim_names: [dp, mp]}
        >>> mesh[0].process_ids
        [0, 1, 2, 3]
    """

    def __init__(
        self,
        mesh: Sequence[Any] | np.ndarray | None = None,
        dim_names: list[str] | None = None,
        shape: Sequence[int] | None = None,
        process_ids: Sequence[int] | None = None,
    ) -> None:
        if mesh is None:
            if shape is None or process_ids is None:
                raise value_error("ProcessMesh", "give mesh, or shape and process_ids", "neither")
            mesh = np.asarray(list(process_ids)).reshape(shape)
        self.mesh = np.asarray(mesh.mesh if isinstance(mesh, ProcessMesh) else mesh)
        if self.mesh.dtype.kind not in "iu" or not self.mesh.size:
            raise value_error("ProcessMesh", "a mesh is an array of process ids", f"mesh: {mesh!r}")
        if len(set(self.process_ids)) != self.mesh.size or min(self.process_ids) < 0:
            raise value_error(
                "ProcessMesh", "process ids are different and not negative", f"mesh: {self.mesh.tolist()}"
            )
        self._dim_names = list(dim_names) if dim_names is not None else [f"d{axis}" for axis in range(self.mesh.ndim)]
        if len(self._dim_names) != self.mesh.ndim or len(set(self._dim_names)) != self.mesh.ndim:
            raise value_error(
                "ProcessMesh", f"a mesh of {self.mesh.ndim} dimensions needs as many names, each another",
                f"dim_names: {dim_names}",
            )  # fmt: skip
        for name in self._dim_names:
            if not isinstance(name, str) or "," in name:
                raise type_error("ProcessMesh", "the name of an axis is text without commas", repr(name))

    @property
    def shape(self) -> list[int]:
        """How many devices there are along each axis.

        Examples:
            >>> paddle.distributed.ProcessMesh([[0, 1, 2], [3, 4, 5]]).shape
            [2, 3]
        """
        return list(self.mesh.shape)

    @property
    def ndim(self) -> int:
        """How many axes there are.

        Examples:
            >>> paddle.distributed.ProcessMesh([[0, 1, 2], [3, 4, 5]]).ndim
            2
        """
        return self.mesh.ndim

    @property
    def size(self) -> int:
        """How many devices there are.

        Examples:
            >>> paddle.distributed.ProcessMesh([[0, 1, 2], [3, 4, 5]]).size
            6
        """
        return self.mesh.size

    @property
    def dim_names(self) -> list[str]:
        """The names of the axes.

        Examples:
            >>> paddle.distributed.ProcessMesh([[0, 1], [2, 3]], ["dp", "mp"]).dim_names
            ['dp', 'mp']
        """
        return self._dim_names

    @property
    def process_ids(self) -> list[int]:
        """The devices, row by row.

        Examples:
            >>> paddle.distributed.ProcessMesh([[0, 2], [1, 3]]).process_ids
            [0, 2, 1, 3]
        """
        return self.mesh.reshape(-1).tolist()

    @property
    def unique_id(self) -> int:
        """A number that equal meshes share.

        Examples:
            >>> paddle.distributed.ProcessMesh([0, 1]).unique_id == paddle.distributed.ProcessMesh([0, 1]).unique_id
            True
        """
        return hash(self)

    def empty(self) -> bool:
        """Whether the mesh has no device: never.

        Examples:
            >>> paddle.distributed.ProcessMesh([0, 1]).empty()
            False
        """
        return False

    def contains(self, process_id: int) -> bool:
        """Whether a device is in the mesh.

        Examples:
            >>> paddle.distributed.ProcessMesh([0, 1]).contains(3)
            False
        """
        return process_id in self.process_ids

    def axis(self, dim: int | str, where: str = "ProcessMesh") -> int:
        """The number of an axis, which may be given by name.

        Raises:
            ValueError: there is no such axis.

        Examples:
            >>> paddle.distributed.ProcessMesh([[0, 1], [2, 3]], ["dp", "mp"]).axis("mp")
            1
        """
        if isinstance(dim, str) and dim in self._dim_names:
            return self._dim_names.index(dim)
        if isinstance(dim, (int, np.integer)) and -self.ndim <= dim < self.ndim:
            return int(dim) % self.ndim
        raise value_error(where, f"the mesh has the axes {self._dim_names}", repr(dim))

    def get_dim_size(self, dim_name: int | str) -> int:
        """How many devices there are along an axis.

        Examples:
            >>> paddle.distributed.ProcessMesh([[0, 1, 2], [3, 4, 5]], ["dp", "mp"]).get_dim_size("mp")
            3
        """
        return self.shape[self.axis(dim_name, "get_dim_size")]

    dim_size = get_dim_size

    def get_rank_by_dim_and_process_id(self, dim: int | str, process_id: int) -> int:
        """The coordinate of a process on an axis; -1 if it is not in the mesh.

        Examples:
            >>> mesh = paddle.distributed.ProcessMesh([[0, 1, 2], [3, 4, 5]], ["dp", "mp"])
            >>> mesh.get_rank_by_dim_and_process_id("mp", 5)
            2
        """
        found = np.argwhere(self.mesh == process_id)
        return int(found[0][self.axis(dim, "get_rank_by_dim_and_process_id")]) if len(found) else -1

    def get_mesh_with_dim(self, dim_name: str, index: int | None = None) -> ProcessMesh:
        """The mesh with that axis first; with `index`, one slice of it.

        Examples:
            >>> mesh = paddle.distributed.ProcessMesh([[0, 1, 2], [3, 4, 5]], ["dp", "mp"])
            >>> mesh.get_mesh_with_dim("mp")
            {shape: [3, 2], process_ids: [0, 3, 1, 4, 2, 5], dim_names: [mp, dp]}
            >>> mesh.get_mesh_with_dim("mp", 1)
            {shape: [2], process_ids: [1, 4], dim_names: [dp]}
        """
        axis = self.axis(dim_name, "get_mesh_with_dim")
        others = [name for name in self._dim_names if name != self._dim_names[axis]]
        turned = np.moveaxis(self.mesh, axis, 0)
        if index is None:
            return ProcessMesh(turned, [self._dim_names[axis], *others])
        if not others:
            return ProcessMesh(turned[index : index + 1], [self._dim_names[axis]])
        return ProcessMesh(turned[index], others)

    def get_submesh_with_dim(self, dim_name: str) -> ProcessMesh:
        """The line of devices along an axis that this process is on.

        Examples:
            >>> paddle.distributed.ProcessMesh([[0]], ["dp", "mp"]).get_submesh_with_dim("mp")
            {shape: [1], process_ids: [0], dim_names: [mp]}
        """
        axis = self.axis(dim_name, "get_submesh_with_dim")
        place = own_coordinate(self) or (0,) * self.ndim
        line = self.mesh[tuple(slice(None) if i == axis else where for i, where in enumerate(place))]
        return ProcessMesh(line, [self._dim_names[axis]])

    def get_group(self, dim_name: str | None = None) -> Any:
        """The group of the processes along an axis (None: of a mesh with one axis).

        Examples:
            >>> paddle.distributed.ProcessMesh([0], ["dp"]).get_group("dp").ranks
            [0]
        """
        from ..group import new_group

        if dim_name is None and self.ndim != 1:
            raise value_error("get_group", f"say which of the axes {self._dim_names} is meant", "dim_name: None")
        line = self.get_submesh_with_dim(self._dim_names[0] if dim_name is None else dim_name)
        require_devices("get_group", line)
        return new_group(sorted({process_of(number) for number in line.process_ids}))

    def __getitem__(self, index: Any) -> ProcessMesh:
        """A part of the mesh: the line along an axis that is named, or as an array is indexed."""
        if isinstance(index, str):
            return self.get_submesh_with_dim(index)
        places = index if isinstance(index, tuple) else (index,)
        part = self.mesh[places]
        kept = [
            n
            for n, p in zip(self._dim_names, (*places, *[slice(None)] * self.ndim), strict=False)
            if isinstance(p, slice)
        ]
        return ProcessMesh(part, kept) if kept else ProcessMesh([int(part)])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ProcessMesh)
            and self._dim_names == other._dim_names
            and np.array_equal(self.mesh, other.mesh)
        )

    def __hash__(self) -> int:
        return hash((tuple(self.shape), tuple(self.process_ids), tuple(self._dim_names)))

    def __deepcopy__(self, memo: dict[int, Any]) -> ProcessMesh:
        return self

    def __str__(self) -> str:
        return f"shape {self.shape}, process_ids {self.process_ids}, dim_names {self._dim_names}"

    def __repr__(self) -> str:
        names = ", ".join(self._dim_names)
        return f"{{shape: {self.shape}, process_ids: {self.process_ids}, dim_names: [{names}]}}"


def process_of(number: int) -> int:
    """The process that a device belongs to."""
    return started_jax().devices()[number].process_index


def own_devices(mesh: ProcessMesh) -> list[int]:
    """The devices of a mesh that belong to this process; what is not there belongs to none."""
    jax = started_jax()
    devices, own = jax.devices(), jax.process_index()
    there = [number for number in mesh.process_ids if 0 <= number < len(devices)]
    return [number for number in there if devices[number].process_index == own]


def own_coordinate(mesh: ProcessMesh) -> tuple[int, ...] | None:
    """Where the first device of this process stands in a mesh; None if it has none in it."""
    own = own_devices(mesh)
    return tuple(int(i) for i in np.argwhere(mesh.mesh == own[0])[0]) if own else None


def require_devices(where: str, mesh: Any) -> None:
    """Raises unless all devices of a mesh are there."""
    if not isinstance(mesh, ProcessMesh):
        raise type_error(where, "mesh must be a ProcessMesh", type(mesh).__name__, "or call dist.set_mesh() before")
    if mesh.process_ids == [0]:
        return
    count = len(started_jax().devices())
    if max(mesh.process_ids) >= count:
        raise value_error(
            where, f"there are {count} devices, numbered from 0", f"a mesh of {mesh.process_ids}",
            "start more processes, or set XLA_FLAGS=--xla_force_host_platform_device_count=8 to try on a CPU",
        )  # fmt: skip


_state: dict[str, Any] = {"mesh": None}


def set_mesh(mesh: ProcessMesh) -> None:
    """The mesh that functions without one mean.

    Examples:
        >>> paddle.distributed.set_mesh(paddle.distributed.ProcessMesh([0], ["dp"]))
        >>> paddle.distributed.get_mesh()
        {shape: [1], process_ids: [0], dim_names: [dp]}
    """
    if not isinstance(mesh, ProcessMesh):
        raise type_error("set_mesh", "mesh must be a ProcessMesh", type(mesh).__name__)
    _state["mesh"] = mesh


def get_mesh() -> ProcessMesh | None:
    """What `set_mesh` was given.

    Examples:
        >>> paddle.distributed.set_mesh(paddle.distributed.ProcessMesh([0], ["dp"]))
        >>> paddle.distributed.get_mesh().dim_names
        ['dp']
    """
    return _state["mesh"]
