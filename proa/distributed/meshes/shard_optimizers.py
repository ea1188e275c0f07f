"""Optimisers of laid-out parameters, and their state cut over the axis that cuts the data.

States follow their parameters. `ShardingStage1` cuts them over one more axis, `ShardingStage2` the gradients as well,
`ShardingStage3` the parameters themselves; what has to be gathered and scattered XLA finds out from that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...core.errors import type_error, value_error
from ...eager.tensor import Tensor
from ...ops.layout import Layout, constrain, keep_layout
from .dtensor import lay_out_parameter
from .layouts import layout_of
from .mesh import ProcessMesh, get_mesh
from .placement import Placement, Replicate, Shard

if TYPE_CHECKING:
    from ...optimizer.optimizer import Optimizer


class _ShardingStage:
    """`shard_fn` of `shard_optimizer`: lays a state out for its parameter. `sharding_mesh_dim` is an axis of the mesh."""

    cuts_gradients = False
    cuts_parameters = False

    def __init__(self, sharding_mesh_dim: int | str, mesh: ProcessMesh | None = None) -> None:
        self._sharding_mesh_dim = sharding_mesh_dim
        self._mesh = mesh

    def __call__(self, key: str, param: Tensor, accumulator: Tensor) -> Tensor:
        layout = self.layout_for(param)
        if accumulator._aval.shape == param._aval.shape and layout is not None:
            accumulator._layout = layout
            keep_layout(accumulator)
        return accumulator

    def prepare(self, param: Tensor) -> None:
        """Lays a parameter out on the mesh if nobody has, and cuts what the stage cuts beside states."""
        mesh = self._mesh or get_mesh()
        if param._layout is None:
            if mesh is None:
                raise value_error(
                    type(self).__name__, "no mesh is known", f"a parameter {param.name} that lies on none",
                    "pass mesh=, or call dist.set_mesh()",
                )  # fmt: skip
            lay_out_parameter(param, mesh, (Replicate(),) * mesh.ndim)
        layout = self.layout_for(param)
        if layout is not None and self.cuts_gradients and not param.stop_gradient:
            param.register_hook(lambda grad: constrain(grad, layout.attributes))
        if layout is not None and self.cuts_parameters:
            lay_out_parameter(param, layout.mesh, layout.placements)

    def layout_for(self, param: Tensor) -> Layout | None:
        """The parameter's layout, cut over one more axis along the first dimension that divides; None: none does.

        Dimensions that are whole come first: to cut one twice, devices would have to exchange their parts.
        """
        layout = param._layout
        if layout is None:
            return None
        mesh: ProcessMesh = layout.mesh
        axis = mesh.axis(self._sharding_mesh_dim, type(self).__name__)
        if not layout.placements[axis].is_replicated():
            return layout
        cut = {placement.dim for placement in layout.placements if isinstance(placement, Shard)}
        for dimension in sorted(range(len(param._aval.shape)), key=lambda dimension: dimension in cut):
            placements: list[Placement] = list(layout.placements)
            placements[axis] = Shard(dimension)
            found = layout_of(param._aval.shape, mesh, placements)
            if sum(cut == dimension for cut in found.attributes[3]) == sum(p == Shard(dimension) for p in placements):
                return found
        return None


class ShardingStage1(_ShardingStage):
    """The states of an optimiser are cut over an axis of the mesh.

    Args:
        sharding_mesh_dim: the axis, by name or number.
        mesh: the mesh; None: that of the parameters, or what `set_mesh` was given.

    Examples:
        >>> dist = paddle.distributed
        >>> model = paddle.nn.Linear(2, 1)
        >>> adam = paddle.optimizer.Adam(parameters=model.parameters())
        >>> adam = dist.shard_optimizer(adam, dist.ShardingStage1("dp", dist.ProcessMesh([0], ["dp"])))
        >>> model.weight.placements
        [Replicate()]
    """


class ShardingStage2(_ShardingStage):
    """States and gradients are cut over an axis of the mesh.

    Args:
        sharding_mesh_dim: the axis, by name or number.
        mesh: the mesh; None: that of the parameters, or what `set_mesh` was given.

    Examples:
        >>> dist = paddle.distributed
        >>> model = paddle.nn.Linear(2, 1)
        >>> adam = paddle.optimizer.Adam(parameters=model.parameters())
        >>> adam = dist.shard_optimizer(adam, dist.ShardingStage2("dp", dist.ProcessMesh([0], ["dp"])))
        >>> model.weight.placements
        [Replicate()]
    """

    cuts_gradients = True


class ShardingStage3(_ShardingStage):
    """States, gradients and parameters are cut over an axis of the mesh.

    Args:
        sharding_mesh_dim: the axis, by name or number.
        mesh: the mesh; None: that of the parameters, or what `set_mesh` was given.

    Examples:
        >>> dist = paddle.distributed
        >>> model = paddle.nn.Linear(2, 1)
        >>> adam = paddle.optimizer.Adam(parameters=model.parameters())
        >>> adam = dist.shard_optimizer(adam, dist.ShardingStage3("dp", dist.ProcessMesh([0], ["dp"])))
        >>> model.weight.placements
        [Shard(dim=0)]
    """

    cuts_gradients = cuts_parameters = True


class ShardOptimizer:
    """An optimiser whose states are laid out by a function; everything else is the optimiser's own."""

    def __init__(self, optimizer: Any, shard_fn: Any = None, gradient_accumulation_steps: int = 1) -> None:
        if isinstance(gradient_accumulation_steps, bool) or not isinstance(gradient_accumulation_steps, int):
            raise type_error(
                "shard_optimizer", "gradient_accumulation_steps is an integer", repr(gradient_accumulation_steps)
            )
        if gradient_accumulation_steps < 1:
            raise value_error(
                "shard_optimizer", "gradient_accumulation_steps is at least 1", repr(gradient_accumulation_steps)
            )
        self._inner_opt = optimizer
        self._shard_fn = shard_fn
        self.gradient_accumulation_steps = gradient_accumulation_steps
        if isinstance(shard_fn, _ShardingStage):
            for parameter in optimizer._members:
                shard_fn.prepare(parameter)
        if shard_fn is not None:
            optimizer.lay_out_states(shard_fn)

    def step(self) -> None:
        self._inner_opt.step()

    def __getattr__(self, name: str) -> Any:
        if name == "_inner_opt":  # asked for while it is copied, before it is there
            raise AttributeError(name)
        return getattr(self._inner_opt, name)


def shard_optimizer(
    optimizer: Optimizer, shard_fn: Callable[..., Any] | None = None, gradient_accumulation_steps: int = 1
) -> ShardOptimizer:
    """The optimiser with its states on the mesh of its parameters.

    Args:
        optimizer: an optimiser.
        shard_fn: `shard_fn(key, parameter, state)` lays a state out and gives it back; `ShardingStage1`, `2` and `3`
            are such functions, and without one states lie as their parameters do.
        gradient_accumulation_steps: how many calls of a `DistModel` make one update.

    Examples:
        >>> dist = paddle.distributed
        >>> model = paddle.nn.Linear(2, 1)
        >>> adam = paddle.optimizer.Adam(0.1, parameters=model.parameters())
        >>> adam = dist.shard_optimizer(adam, dist.ShardingStage1("dp", dist.ProcessMesh([0], ["dp"])))
        >>> model(paddle.ones([4, 2])).sum().backward()
        >>> adam.step()
        >>> model.bias.placements
        [Replicate()]
    """
    inner = optimizer._inner_opt if isinstance(optimizer, ShardOptimizer) else optimizer
    if not hasattr(inner, "lay_out_states"):
        raise type_error("shard_optimizer", "an optimiser is wrapped", type(optimizer).__name__)
    return ShardOptimizer(inner, shard_fn, gradient_accumulation_steps)


def shard_scaler(scaler: Any) -> Any:
    """The scaler as it is: gradients are whole values, so that it finds an infinity wherever it lies.

    Examples:
        >>> scaler = paddle.amp.GradScaler()
        >>> paddle.distributed.shard_scaler(scaler) is scaler
        True
    """
    return scaler
