"""What `dist.parallelize` may do to a layer or a parameter: the plans of `mp_config`.

A plan lays parameters out over the axis `mp` of the mesh, or says how activations lie at a layer's entrance or exit. None of
them changes a number: hooks record layouts, and XLA finds the communication.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from ...core.errors import type_error, value_error
from ...eager.tensor import Tensor
from ...nn.layer import Layer
from ...ops.basic import transpose
from ..meshes.dtensor import lay_out_parameter, reshard
from ..meshes.mesh import ProcessMesh
from ..meshes.placement import Placement, Replicate, Shard


class SplitPoint(Enum):
    """Where a pipeline is cut: before a layer, or behind it.

    Examples:
        >>> paddle.distributed.SplitPoint.END
        <SplitPoint.END: 1>
    """

    BEGINNING = 0
    END = 1


def placements_on(mesh: ProcessMesh, **axes: int | None) -> list[Placement]:
    """Placements that cut dimensions over axes of the mesh, by name: `mp=1`. Axes that the mesh lacks cut nothing."""
    found: list[Placement] = [Replicate()] * mesh.ndim
    for name, dimension in axes.items():
        if dimension is not None and name in mesh.dim_names:
            found[mesh.axis(name)] = Shard(dimension)
    return found


def _map_tensors(function: Callable[[Tensor], Any], value: Any) -> Any:
    """The tensors of three and more dimensions (activations) in arguments or results, exchanged."""
    if isinstance(value, Tensor):
        return function(value) if value.ndim >= 2 else value
    if isinstance(value, (list, tuple)):
        return type(value)(_map_tensors(function, part) for part in value)
    if isinstance(value, dict):
        return {key: _map_tensors(function, part) for key, part in value.items()}
    return value


class PlanBase:
    """A plan is applied to a layer, or to one of its parameters by name."""

    takes_parameters = False

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: list[str] | None = None) -> None:
        raise NotImplementedError(f"({type(self).__name__}) a plan defines apply().")

    def _lay_out(
        self, layer: Layer, mesh: ProcessMesh, names: list[str] | None, cuts: dict[str, dict[int, int]]
    ) -> None:
        """Lays parameters out over `mp`: `cuts` says for each name which dimension, by the number of dimensions."""
        for name, by_rank in cuts.items():
            parameter = getattr(layer, name, None)
            if not isinstance(parameter, Tensor) or (names and name not in names):
                continue
            dimension = by_rank.get(parameter.ndim)
            if dimension is None:
                raise value_error(
                    type(self).__name__, f"{name} has {' or '.join(map(str, by_rank))} dimension(s)",
                    f"{type(layer).__name__}.{name}: {parameter._aval}",
                )  # fmt: skip
            # An axis that is not the model's stays as it was laid out before.
            before = parameter._layout
            placements = placements_on(mesh, mp=dimension)
            if before is not None and before.mesh == mesh:
                placements = [p if n == "mp" else b for n, p, b in zip(mesh.dim_names, placements, before.placements)]
            lay_out_parameter(parameter, mesh, placements)


class ColWiseParallel(PlanBase):
    """Cuts the weight along its second dimension and the bias with it: each device computes some of the features.

    With `gather_output` the result is whole on each device again.

    Args:
        gather_output: whether the result is put together.

    Examples:
        >>> dist = paddle.distributed
        >>> layer, mesh = paddle.nn.Linear(4, 4), dist.ProcessMesh([0], ["mp"])
        >>> dist.ColWiseParallel().apply(layer, mesh)
        >>> layer.weight.placements, layer.bias.placements
        ([Shard(dim=1)], [Shard(dim=0)])
    """

    takes_parameters = True

    def __init__(self, gather_output: bool = False) -> None:
        self.gather_output = gather_output

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: list[str] | None = None) -> None:
        """Lays the parameters of a layer out over the axis `mp`.

        Args:
            layer: a layer with a `weight` and perhaps a `bias`.
            process_mesh: the mesh.
            shard_param_list: only these of its parameters; None: both.

        Examples:
            >>> dist = paddle.distributed
            >>> layer, mesh = paddle.nn.Linear(4, 4), dist.ProcessMesh([0], ["mp"])
            >>> dist.ColWiseParallel().apply(layer, mesh)
            >>> layer.weight.placements
            [Shard(dim=1)]
        """
        self._lay_out(layer, process_mesh, shard_param_list, {"weight": {2: 1}, "bias": {1: 0}})
        if self.gather_output:
            layer.register_forward_post_hook(
                lambda _layer, _inputs, outputs: _map_tensors(
                    lambda y: reshard(y, process_mesh, placements_on(process_mesh, dp=0)), outputs
                )
            )


class RowWiseParallel(PlanBase):
    """Cuts the weight along its first dimension: each device sums up some of the features, then all sums are added.

    With `is_input_parallel=False` the input, whole on each device, is cut first.

    Args:
        is_input_parallel: whether the input is cut already.

    Examples:
        >>> dist = paddle.distributed
        >>> layer, mesh = paddle.nn.Linear(4, 4), dist.ProcessMesh([0], ["mp"])
        >>> dist.RowWiseParallel().apply(layer, mesh)
        >>> layer.weight.placements
        [Shard(dim=0)]
    """

    takes_parameters = True

    def __init__(self, is_input_parallel: bool = True) -> None:
        self.is_input_parallel = is_input_parallel

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: list[str] | None = None) -> None:
        """Lays the weight of a layer out over the axis `mp`.

        Args:
            layer: a layer with a `weight`.
            process_mesh: the mesh.
            shard_param_list: only these of its parameters; None: all.

        Examples:
            >>> dist = paddle.distributed
            >>> layer, mesh = paddle.nn.Linear(4, 4), dist.ProcessMesh([0], ["mp"])
            >>> dist.RowWiseParallel().apply(layer, mesh)
            >>> layer(paddle.ones([2, 4])).shape
            paddle.Size([2, 4])
        """
        self._lay_out(layer, process_mesh, shard_param_list, {"weight": {2: 0}})
        if not self.is_input_parallel:
            layer.register_forward_pre_hook(
                lambda _layer, inputs: _map_tensors(
                    lambda x: reshard(x, process_mesh, placements_on(process_mesh, dp=0, mp=x.ndim - 1)), inputs
                )
            )


# ---- sequences: between the layers of tensor parallelism, activations are cut along the sequence ---------------------


def _cut_sequence(mesh: ProcessMesh, turned: bool, batch_first: bool) -> Callable[[Tensor], Tensor]:
    """`[batch, sequence, …]` (or `[sequence, batch, …]`) cut over `mp` along the sequence; `turned`: sequence first."""

    def cut(x: Tensor) -> Tensor:
        if turned:
            x = transpose(x, [1, 0, *range(2, x.ndim)])
        sequence = 0 if turned or not batch_first else 1
        return reshard(x, mesh, placements_on(mesh, dp=1 - sequence, mp=sequence))

    return cut


def _whole_sequence(mesh: ProcessMesh, turned: bool, batch_first: bool) -> Callable[[Tensor], Tensor]:
    def whole(x: Tensor) -> Tensor:
        if turned:
            x = transpose(x, [1, 0, *range(2, x.ndim)])
        return reshard(x, mesh, placements_on(mesh, dp=0 if turned or batch_first else 1))

    return whole


def _hook(layer: Layer, before: Any = None, after: Any = None) -> None:
    if before is not None:
        layer.register_forward_pre_hook(lambda _layer, inputs: _map_tensors(before, inputs))
    if after is not None:
        layer.register_forward_post_hook(lambda _layer, _inputs, outputs: _map_tensors(after, outputs))


class SequenceParallelBegin(PlanBase):
    """Behind this layer activations are cut along the sequence.

    With `need_transpose` they come as `[batch, sequence, …]` and go on as `[sequence, batch, …]`.

    Args:
        need_transpose: whether the first two dimensions change places.

    Examples:
        >>> paddle.distributed.SequenceParallelBegin().need_transpose
        True
    """

    def __init__(self, need_transpose: bool = True) -> None:
        self.need_transpose = need_transpose

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: list[str] | None = None) -> None:
        """Makes what the layer gives lie so.

        Examples:
            >>> dist = paddle.distributed
            >>> layer, mesh = paddle.nn.Linear(4, 4), dist.ProcessMesh([0], ["mp"])
            >>> dist.SequenceParallelBegin().apply(layer, mesh)
            >>> layer(paddle.ones([2, 3, 4])).shape
            paddle.Size([3, 2, 4])
        """
        _hook(layer, after=_cut_sequence(process_mesh, self.need_transpose, batch_first=False))


class SequenceParallelEnd(PlanBase):
    """Before this layer activations are put together along the sequence, and turned back with `need_transpose`.

    Args:
        need_transpose: whether the first two dimensions change places.

    Examples:
        >>> paddle.distributed.SequenceParallelEnd(need_transpose=False).need_transpose
        False
    """

    def __init__(self, need_transpose: bool = True) -> None:
        self.need_transpose = need_transpose

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: list[str] | None = None) -> None:
        """Makes what the layer gets lie so.

        Examples:
            >>> dist = paddle.distributed
            >>> layer, mesh = paddle.nn.Linear(4, 4), dist.ProcessMesh([0], ["mp"])
            >>> dist.SequenceParallelEnd().apply(layer, mesh)
            >>> layer(paddle.ones([3, 2, 4])).shape
            paddle.Size([2, 3, 4])
        """
        _hook(layer, before=_whole_sequence(process_mesh, self.need_transpose, batch_first=False))


class SequenceParallelEnable(PlanBase):
    """Inside this layer activations, `[batch, sequence, …]`, are cut along the sequence.

    Examples:
        >>> plan = {"norm": paddle.distributed.SequenceParallelEnable()}
        >>> isinstance(plan["norm"], paddle.distributed.SequenceParallelEnable)
        True
    """

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: list[str] | None = None) -> None:
        """Makes what the layer gets and gives lie so.

        Examples:
            >>> dist = paddle.distributed
            >>> layer, mesh = paddle.nn.LayerNorm(4), dist.ProcessMesh([0], ["mp"])
            >>> dist.SequenceParallelEnable().apply(layer, mesh)
            >>> layer(paddle.ones([2, 3, 4])).shape
            paddle.Size([2, 3, 4])
        """
        _hook(
            layer, _cut_sequence(process_mesh, False, batch_first=True), _whole_sequence(process_mesh, False, True)
        )  # fmt: skip


class SequenceParallelDisable(PlanBase):
    """Inside this layer activations are whole along the sequence; around it they are cut.

    Args:
        need_transpose: whether the first two dimensions change places, and back.

    Examples:
        >>> paddle.distributed.SequenceParallelDisable().need_transpose
        True
    """

    def __init__(self, need_transpose: bool = True) -> None:
        self.need_transpose = need_transpose

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: list[str] | None = None) -> None:
        """Makes what the layer gets and gives lie so.

        Examples:
            >>> dist = paddle.distributed
            >>> layer, mesh = paddle.nn.Linear(4, 4), dist.ProcessMesh([0], ["mp"])
            >>> dist.SequenceParallelDisable().apply(layer, mesh)
            >>> layer(paddle.ones([3, 2, 4])).shape
            paddle.Size([3, 2, 4])
        """
        turned = self.need_transpose
        _hook(layer, _whole_sequence(process_mesh, turned, False), _cut_sequence(process_mesh, turned, False))


# ---- hooks of the user's -----------------------------------------------------------------------------------------------


class PrepareLayerInput(PlanBase):
    """`fn(mesh)` gives a hook that is called with the layer and its inputs, and gives the inputs.

    Raises:
        TypeError: `fn` is not a function.

    Examples:
        >>> plan = paddle.distributed.PrepareLayerInput(lambda mesh: lambda layer, inputs: inputs)
        >>> plan.fn("mesh")("layer", (1,))
        (1,)
    """

    def __init__(self, fn: Callable[[ProcessMesh], Any] | None = None) -> None:
        if not callable(fn):
            raise type_error(type(self).__name__, "fn is a function of the mesh that gives a hook", type(fn).__name__)
        self.fn = fn

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: list[str] | None = None) -> None:
        """Registers the hook.

        Examples:
            >>> dist = paddle.distributed
            >>> layer, mesh = paddle.nn.Identity(), dist.ProcessMesh([0], ["dp"])
            >>> dist.PrepareLayerInput(lambda mesh: lambda layer, inputs: (inputs[0] * 2,)).apply(layer, mesh)
            >>> layer(paddle.to_tensor([1.0])).tolist()
            [2.0]
        """
        layer.register_forward_pre_hook(self.fn(process_mesh))


class PrepareLayerOutput(PrepareLayerInput):
    """`fn(mesh)` gives a hook that is called with the layer, its inputs and its outputs, and gives the outputs.

    Examples:
        >>> plan = paddle.distributed.PrepareLayerOutput(lambda mesh: lambda layer, inputs, outputs: outputs)
        >>> plan.fn("mesh")("layer", (1,), 2)
        2
    """

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: list[str] | None = None) -> None:
        """Registers the hook.

        Examples:
            >>> dist = paddle.distributed
            >>> layer, mesh = paddle.nn.Identity(), dist.ProcessMesh([0], ["dp"])
            >>> dist.PrepareLayerOutput(lambda mesh: lambda layer, inputs, outputs: outputs * 2).apply(layer, mesh)
            >>> layer(paddle.to_tensor([1.0])).tolist()
            [2.0]
        """
        layer.register_forward_post_hook(self.fn(process_mesh))
