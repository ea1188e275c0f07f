"""Older ways to say how tensors lie: `DistAttr`, `shard_op`, `split`; and data parallelism that needs no words at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import type_error, value_error
from ...eager.annotations import AttrLike
from ...eager.tensor import Tensor
from ...ir.xla import started_jax
from ...nn.common import Embedding, Linear
from ...nn.layer import Layer
from ..parallelizing.parallelize import parallelize
from ..parallelizing.plans import ColWiseParallel, RowWiseParallel, placements_on
from .dtensor import reshard, shard_tensor
from .mesh import ProcessMesh, get_mesh
from .placement import Placement, Replicate, Shard
from .shard_loader import ShardDataloader, shard_dataloader

if TYPE_CHECKING:
    from ...optimizer.optimizer import Optimizer

# Paddle's names of environment variables.
_AUTO_DP, _ALIGN = "FLAGS_enable_auto_dp", "FLAGS_enable_auto_parallel_align_mode"


class DistAttr:
    """How a tensor lies, dimension by dimension: the name of the axis that cuts it, or None.

    Args:
        mesh: a ProcessMesh.
        sharding_specs: one entry for each dimension.

    Raises:
        ValueError: an axis cuts two dimensions, or is not there.

    Examples:
        >>> mesh = paddle.distributed.ProcessMesh([[0, 1], [2, 3]], ["x", "y"])
        >>> paddle.distributed.DistAttr(mesh, ["x", None]).placements
        [Shard(dim=0), Replicate()]
    """

    def __init__(self, mesh: ProcessMesh, sharding_specs: Sequence[str | None]) -> None:
        if not isinstance(mesh, ProcessMesh):
            raise type_error("DistAttr", "mesh must be a ProcessMesh", type(mesh).__name__)
        self.process_mesh = mesh
        self.sharding_specs = list(sharding_specs)
        self.placements = placements_of_specs("DistAttr", mesh, self.sharding_specs)

    @property
    def dims_mapping(self) -> list[int]:
        """The axis that cuts each dimension, by number; -1: none.

        Examples:
            >>> mesh = paddle.distributed.ProcessMesh([[0, 1], [2, 3]], ["x", "y"])
            >>> paddle.distributed.DistAttr(mesh, ["y", None]).dims_mapping
            [1, -1]
        """
        return [-1 if name is None else self.process_mesh.axis(name) for name in self.sharding_specs]

    def __repr__(self) -> str:
        return f"{{process_mesh: {self.process_mesh!r}, dims_mappings: {self.dims_mapping}}}"


def placements_of_specs(where: str, mesh: ProcessMesh, specs: Sequence[str | None]) -> list[Placement]:
    """Placements from one entry for each dimension."""
    found: list[Placement] = [Replicate()] * mesh.ndim
    for dimension, name in enumerate(specs):
        if name is not None:
            axis = mesh.axis(name, where)
            if not found[axis].is_replicated():
                raise value_error(where, "an axis of the mesh cuts one dimension", f"{list(specs)}")
            found[axis] = Shard(dimension)
    return found


def shard_op(
    op: Callable[..., Any], process_mesh: ProcessMesh | None = None, in_shard_specs: Any = None, out_shard_specs: Any = None,
    **kwargs: Any,
) -> Callable[..., Any]:  # fmt: skip
    """The function with its inputs and outputs laid out as specs say, one list of axis names a tensor (None: whole).

    Args:
        op: a function of tensors.
        process_mesh: the mesh; None: what `set_mesh` was given.
        in_shard_specs: one list for each input.
        out_shard_specs: one list for each result.
        **kwargs: named arguments of the function.

    Raises:
        ValueError: no mesh is known.

    Examples:
        >>> mesh = paddle.distributed.ProcessMesh([0], ["x"])
        >>> add = paddle.distributed.shard_op(paddle.add, mesh, [["x", None], ["x", None]], [["x", None]])
        >>> add(paddle.ones([2, 2]), paddle.ones([2, 2])).tolist()
        [[2.0, 2.0], [2.0, 2.0]]
    """
    mesh = process_mesh or get_mesh()
    if mesh is None:
        raise value_error("shard_op", "no mesh is known", "process_mesh: None", "pass one, or call dist.set_mesh()")

    def laid_out(value: Any, specs: Any, position: int) -> Any:
        if not isinstance(value, Tensor) or specs is None:
            return value
        wanted = specs[position] if position < len(specs) else None
        return reshard(value, mesh, placements_of_specs("shard_op", mesh, wanted or []))

    def call(*args: Any, **named: Any) -> Any:
        outputs = op(*(laid_out(x, in_shard_specs, i) for i, x in enumerate(args)), **{**kwargs, **named})
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(laid_out(y, out_shard_specs, i) for i, y in enumerate(outputs))
        return laid_out(outputs, out_shard_specs, 0)

    return call


def split(
    x: Tensor, size: Sequence[int], operation: str, axis: int = 0, num_partitions: int = 1, gather_out: bool = True,
    weight_attr: AttrLike | None = None, bias_attr: AttrLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """A new linear layer or embedding whose weight is cut into `num_partitions`, applied to `x`.

    It is cut over the axis 'mp' of the mesh (`set_mesh`); without one, in a static program, over fleet's processes.

    A linear layer is cut by rows (`axis=0`) or columns (`axis=1`), an embedding by rows. With `gather_out=False` the result
    of columns stays cut.

    Args:
        x: the input.
        size: the weight's rows and columns.
        operation: "linear" or "embedding".
        axis: the axis of the weight that is cut.
        num_partitions: into how many parts.
        gather_out: whether the result is put together.
        weight_attr: the weight's ParamAttr.
        bias_attr: the bias's; False: no bias.
        name: a label; it changes nothing.

    Returns:
        What the new layer gives.

    Examples:
        >>> paddle.distributed.set_mesh(paddle.distributed.ProcessMesh([0], ["mp"]))
        >>> paddle.distributed.split(paddle.ones([2, 4]), (4, 3), "linear", axis=1).shape
        paddle.Size([2, 3])
    """
    mesh = get_mesh()
    if mesh is None:
        from ..fleet.layers.mpu.split import split_among_processes

        return split_among_processes(x, size, operation, axis, num_partitions, gather_out, weight_attr, bias_attr, name)
    if operation not in ("linear", "embedding"):
        raise value_error("split", "operation is 'linear' or 'embedding'", repr(operation))
    if axis not in (0, 1) or (operation == "embedding" and axis != 0):
        raise value_error(
            "split", "a weight is cut along axis 0, that of a linear layer also along axis 1", f"axis: {axis}"
        )
    rows, columns = size
    if operation == "embedding":
        layer: Layer = Embedding(rows, columns, weight_attr=weight_attr, name=name)
    else:
        layer = Linear(rows, columns, weight_attr, bias_attr, name)
    if num_partitions == 1:
        return layer(x)
    if "mp" not in mesh.dim_names or mesh.get_dim_size("mp") != num_partitions:
        raise value_error(
            "split", f"a mesh with an axis 'mp' of {num_partitions} devices is needed", f"mesh: {mesh!r}",
            "call dist.set_mesh() before",
        )  # fmt: skip
    if axis == 1:
        ColWiseParallel(gather_output=gather_out).apply(layer, mesh)
    else:
        RowWiseParallel(is_input_parallel=operation == "embedding").apply(layer, mesh)
    return layer(x if x.is_dist() else shard_tensor(x, mesh, placements_on(mesh)))


def enable_auto_dp() -> None:
    """Says that data is to be cut over the axis `dp` wherever a model is parallelized, as it is anyway.

    Examples:
        >>> import os
        >>> paddle.distributed.enable_auto_dp()
        >>> os.environ.pop("FLAGS_enable_auto_dp")
        '1'
    """
    os.environ[_AUTO_DP] = "1"


def in_auto_parallel_align_mode() -> bool:
    """Whether runs are made to be compared bit by bit with those of one device.

    Examples:
        >>> paddle.distributed.in_auto_parallel_align_mode()
        False
    """
    return (os.environ.get(_ALIGN) or "0").lower() in ("1", "true")


def to_distributed(
    model: Layer, optimizer: Optimizer, dataloader: Any, device_num: int, node_num: int | None = 1, config: Any = None
) -> tuple[Layer, Any, ShardDataloader]:
    """Model, optimiser and loader for all devices: data parallel, with the optimiser's states cut over them.

    Args:
        model: a Layer.
        optimizer: its optimiser.
        dataloader: what its data come from.
        device_num: how many devices each machine has.
        node_num: how many machines there are.
        config: taken; it changes nothing.

    Raises:
        ValueError: there are not so many devices.

    Examples:
        >>> model = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
        >>> data = paddle.io.DataLoader([np.ones(2, "float32")] * 4, batch_size=2)
        >>> model, optimizer, loader = paddle.distributed.to_distributed(model, optimizer, data, 1)
        >>> [model(batch[0] if isinstance(batch, list) else batch).shape for batch in loader]
        [paddle.Size([2, 1]), paddle.Size([2, 1])]
    """
    count = device_num * (node_num or 1)
    there = len(started_jax().devices())
    if count > there:
        raise value_error(
            "to_distributed", f"there are {there} devices", f"device_num: {device_num}, node_num: {node_num}"
        )
    mesh = ProcessMesh(np.arange(count), ["dp"])
    model, optimizer = parallelize(model, optimizer, mesh, {"dp_config": {"sharding_level": 1}})
    return model, optimizer, shard_dataloader(dataloader, mesh, shard_dims="dp")
