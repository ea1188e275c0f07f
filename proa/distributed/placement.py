"""Meshes of processes and where the parts of a tensor lie. With one process every placement is the whole tensor here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.errors import type_error, value_error
from ..eager.tensor import Tensor, tensor_from_data


class ReduceType:
    """What a partial tensor needs to become whole."""

    kRedSum, kRedMax, kRedMin, kRedProd, kRedAvg, kRedAny, kRedAll = range(7)


class Placement:
    """How a tensor lies on one axis of a mesh."""

    def is_shard(self, dim: int | None = None) -> bool:
        return False

    def is_replicated(self) -> bool:
        return False

    def is_partial(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *sorted(vars(self).items())))


class Replicate(Placement):
    """Every process has the whole."""

    def is_replicated(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "Replicate()"


class Shard(Placement):
    """The tensor is cut along a dimension."""

    def __init__(self, dim: int) -> None:
        if not isinstance(dim, int):
            raise type_error("Shard", "dim must be an integer", type(dim).__name__)
        self.dim = dim

    def get_dim(self) -> int:
        return self.dim

    def is_shard(self, dim: int | None = None) -> bool:
        return dim is None or dim == self.dim

    def __repr__(self) -> str:
        return f"Shard(dim={self.dim})"


class Partial(Placement):
    """Each process has a part that is still to be reduced."""

    def __init__(self, reduce_type: int = ReduceType.kRedSum) -> None:
        self._reduce_type = reduce_type

    def reduce_type(self) -> int:
        return self._reduce_type

    def is_partial(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"Partial(reduce_type={self._reduce_type})"


class ProcessMesh:
    """Processes arranged in an array with named axes."""

    def __init__(
        self, mesh: Any = None, dim_names: list[str] | None = None, shape: Any = None, process_ids: Any = None
    ) -> None:
        if mesh is None:
            if shape is None or process_ids is None:
                raise value_error("ProcessMesh", "give mesh, or shape and process_ids", "neither")
            mesh = np.asarray(list(process_ids)).reshape(shape)
        self.mesh = np.asarray(mesh)
        self._dim_names = dim_names or [f"d{axis}" for axis in range(self.mesh.ndim)]
        if len(self._dim_names) != self.mesh.ndim:
            raise value_error(
                "ProcessMesh", f"a mesh of {self.mesh.ndim} dimensions needs as many names", f"dim_names: {dim_names}"
            )

    @property
    def shape(self) -> list[int]:
        return list(self.mesh.shape)

    @property
    def ndim(self) -> int:
        return self.mesh.ndim

    @property
    def dim_names(self) -> list[str]:
        return self._dim_names

    @property
    def process_ids(self) -> list[int]:
        return self.mesh.reshape(-1).tolist()

    def get_dim_size(self, dim_name: str) -> int:
        return self.shape[self._dim_names.index(dim_name)]

    def get_rank_by_dim_and_process_id(self, dim: Any, process_id: int) -> int:
        axis = self._dim_names.index(dim) if isinstance(dim, str) else dim
        return int(np.argwhere(self.mesh == process_id)[0][axis])

    def get_mesh_with_dim(self, dim_name: str, index: int | None = None) -> ProcessMesh:
        """The mesh with that axis first; with `index`, one slice of it."""
        axis = self._dim_names.index(dim_name)
        others = [name for name in self._dim_names if name != dim_name]
        turned = np.moveaxis(self.mesh, axis, 0)
        return ProcessMesh(turned, [dim_name, *others]) if index is None else ProcessMesh(turned[index], others)

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, ProcessMesh) and self.mesh.shape == other.mesh.shape
        return same and bool((self.mesh == other.mesh).all()) and self._dim_names == other._dim_names  # type: ignore[union-attr]

    def __hash__(self) -> int:
        return hash((tuple(self.shape), tuple(self.process_ids), tuple(self._dim_names)))

    def __repr__(self) -> str:
        return f"{{shape: {self.shape}, process_ids: {self.process_ids}, dim_names: {self._dim_names}}}"


_state: dict[str, Any] = {"mesh": None}


def set_mesh(mesh: ProcessMesh) -> None:
    """The mesh that functions without one mean."""
    _state["mesh"] = mesh


def get_mesh() -> ProcessMesh | None:
    """What `set_mesh` was given."""
    return _state["mesh"]


def _one_process(where: str, mesh: Any) -> None:
    if isinstance(mesh, ProcessMesh) and len(set(mesh.process_ids)) > 1:
        raise NotImplementedError(
            f"({where}) tensors are not spread over several processes yet; received a mesh of {mesh.shape}. Use a mesh of "
            "one process."
        )


def shard_tensor(
    data: Any, mesh: ProcessMesh, placements: Sequence[Placement], dtype: Any = None, place: Any = None,
    stop_gradient: bool | None = None,
) -> Tensor:  # fmt: skip
    """The tensor, on a mesh of one process: whole."""
    _one_process("shard_tensor", mesh)
    if isinstance(data, Tensor) and dtype is None:
        tensor = data
    else:
        tensor = tensor_from_data(data, dtype, place)
    if stop_gradient is not None:
        tensor.stop_gradient = stop_gradient
    return tensor


def reshard(dist_tensor: Tensor, mesh: ProcessMesh, placements: Sequence[Placement]) -> Tensor:
    """The tensor, laid out anew: whole, as there is one process."""
    _one_process("reshard", mesh)
    return dist_tensor


def unshard_dtensor(dist_tensor: Tensor) -> Tensor:
    """The whole tensor."""
    return dist_tensor


def dtensor_from_fn(
    fn: Callable[..., Any], mesh: ProcessMesh, placements: Sequence[Placement], *args: Any, **kwargs: Any
) -> Tensor:
    """`fn(*args, **kwargs)`, on the mesh."""
    return shard_tensor(fn(*args, **kwargs), mesh, placements)


def shard_layer(
    layer: Any, process_mesh: ProcessMesh, shard_fn: Any = None, input_fn: Any = None, output_fn: Any = None
) -> Any:
    """The layer with what `shard_fn` does to its parts; `input_fn` and `output_fn` see what goes in and comes out."""
    _one_process("shard_layer", process_mesh)
    if shard_fn is not None:
        for name, part in layer.named_sublayers(include_self=True):
            shard_fn(name, part, process_mesh)
    if input_fn is not None:
        layer.register_forward_pre_hook(lambda _, inputs: input_fn(inputs, process_mesh))
    if output_fn is not None:
        layer.register_forward_post_hook(lambda _, inputs, outputs: output_fn(outputs, process_mesh))
    return layer


def shard_optimizer(optimizer: Any, shard_fn: Any = None, gradient_accumulation_steps: int = 1) -> Any:
    """The optimiser: its state is whole in one process."""
    return optimizer


def shard_scaler(scaler: Any) -> Any:
    """The scaler: one process sees all gradients."""
    return scaler


def shard_dataloader(
    dataloader: Any, meshes: Any, shard_dims: Any = None, is_dataset_splitted: bool = False, dense_tensor_idx: Any = None
) -> Any:  # fmt: skip
    """The loader: one process takes every batch whole."""
    for mesh in meshes if isinstance(meshes, (list, tuple)) else [meshes]:
        _one_process("shard_dataloader", mesh)
    return dataloader
