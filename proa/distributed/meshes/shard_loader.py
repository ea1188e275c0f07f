"""Batches on a mesh."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...core.errors import type_error, value_error
from ...eager.tensor import Tensor
from ...ir.xla import started_jax
from .dtensor import dtensor_from_local, shard_tensor
from .mesh import ProcessMesh, require_devices
from .placement import Placement, Replicate, Shard


class ShardDataloader:
    """A loader whose batches lie on meshes; `for batch in loader` and `for batch in loader()` are the same."""

    def __init__(
        self, dataloader: Any, meshes: Any, input_keys: Sequence[str] | None = None, shard_dims: Any = None,
        is_dataset_splitted: bool = False, dense_tensor_idx: Any = None,
    ) -> None:  # fmt: skip
        self._dataloader = dataloader
        self._meshes = list(meshes) if isinstance(meshes, (list, tuple)) else [meshes]
        for mesh in self._meshes:
            for one in mesh if isinstance(mesh, (list, tuple)) else [mesh]:
                require_devices("shard_dataloader", one)
        self._input_keys = None if input_keys is None else list(input_keys)
        self._shard_dims = list(shard_dims) if isinstance(shard_dims, (list, tuple)) else [shard_dims]
        self._is_dataset_splitted = is_dataset_splitted
        self._dense = dense_tensor_idx
        if len(self._meshes) > 1 and len(self._shard_dims) not in (1, len(self._meshes)):
            raise value_error(
                "shard_dataloader", f"one axis for all meshes, or one for each of the {len(self._meshes)}",
                f"shard_dims: {shard_dims}",
            )  # fmt: skip

    def __len__(self) -> int:
        return len(self._dataloader)

    def __iter__(self) -> Iterator[Any]:
        for batch in self._dataloader:
            yield self._lay_out(batch)

    __call__ = __iter__

    def _lay_out(self, batch: Any) -> Any:
        if isinstance(batch, dict):
            keys = self._input_keys or list(batch)
            laid_out = {key: self._part(keys.index(key), batch[key]) for key in batch if key in keys}
            return {**batch, **laid_out}
        if isinstance(batch, (list, tuple)):
            return [self._part(position, part) for position, part in enumerate(batch)]
        return self._part(0, batch)

    def _part(self, position: int, part: Any) -> Any:
        mesh = self._meshes[min(position, len(self._meshes) - 1)]
        dimension = self._shard_dims[min(position, len(self._shard_dims) - 1)]
        if isinstance(part, (list, tuple)):
            inner = mesh if isinstance(mesh, (list, tuple)) else [mesh] * len(part)
            dense = self._dense[position] if self._dense else ()
            return [one if i in dense else self._tensor(one, inner[i], dimension) for i, one in enumerate(part)]
        if self._dense and self._dense[position]:
            return part
        return self._tensor(part, mesh[0] if isinstance(mesh, (list, tuple)) else mesh, dimension)

    def _tensor(self, value: Any, mesh: ProcessMesh, dimension: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        placements: list[Placement] = [Replicate()] * mesh.ndim
        if dimension is not None and value._aval.shape:
            placements[mesh.axis(dimension, "shard_dataloader")] = Shard(0)
        if self._is_dataset_splitted and started_jax().process_count() > 1:
            return dtensor_from_local(value, mesh, placements)
        return shard_tensor(value, mesh, placements)


def shard_dataloader(
    dataloader: Any, meshes: Any, input_keys: Sequence[str] | None = None, shard_dims: Any = None,
    is_dataset_splitted: bool = False, dense_tensor_idx: Any = None,
) -> ShardDataloader:  # fmt: skip
    """A loader whose batches are cut over the axis `shard_dims` of a mesh (None: whole on each device).

    The batch size is that of the whole batch. With several meshes (a pipeline), the first is that of the first part of a
    batch, and so on. With `is_dataset_splitted` each process's loader gives its own part of the batch.

    Args:
        dataloader: a DataLoader.
        meshes: a mesh, or one for each part of a batch.
        input_keys: where batches are dictionaries, the order of their parts.
        shard_dims: the axis that cuts batches, or one for each mesh.
        is_dataset_splitted: whether each process loads its own part.
        dense_tensor_idx: parts that stay ordinary tensors.

    Examples:
        >>> dist = paddle.distributed
        >>> loader = paddle.io.DataLoader([np.ones(2, "float32")] * 4, batch_size=2)
        >>> loader = dist.shard_dataloader(loader, dist.ProcessMesh([0], ["dp"]), shard_dims="dp")
        >>> len(loader)
        2
    """
    if not hasattr(dataloader, "__iter__"):
        raise type_error("shard_dataloader", "a DataLoader is wrapped", type(dataloader).__name__)
    return ShardDataloader(dataloader, meshes, input_keys, shard_dims, is_dataset_splitted, dense_tensor_idx)
