"""`dist.parallelize`: a model of one device on a mesh, by a dictionary that names its layers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from ...core.errors import type_error, value_error
from ...eager.tensor import Tensor
from ...nn.layer import Layer
from ..meshes.dtensor import shard_tensor
from ..meshes.mesh import ProcessMesh, get_mesh, require_devices
from ..meshes.shard_layers import lay_out_rest
from ..meshes.shard_optimizers import ShardingStage1, ShardingStage2, ShardingStage3, shard_optimizer
from .pipeline import AXIS, Stages
from .plans import PlanBase, placements_on

if TYPE_CHECKING:
    from ...optimizer.optimizer import Optimizer

_KEYS = ("dp_config", "mp_config", "pp_config", "cp_config")
_STAGES = {1: ShardingStage1, 2: ShardingStage2, 3: ShardingStage3}

Model = TypeVar("Model", bound=Layer)


def parallelize(
    model: Model,
    optimizer: Optimizer | None = None,
    mesh: ProcessMesh | None = None,
    config: dict[str, Any] | None = None,
) -> tuple[Model, Any]:
    """Model and optimiser on a mesh whose axes are called `dp` (data), `mp` (model), `pp` (pipeline) and `sep` (sequence).

        model, optimizer = dist.parallelize(model, optimizer, mesh, {
            "dp_config": {"sharding_level": 1},
            "mp_config": {"parallelize_plan": {
                "layers.*.up": dist.ColWiseParallel(), "layers.*.down": dist.RowWiseParallel(),
            }},
            "pp_config": {"split_spec": "layers"},
        })

    Names are regular expressions over whole names of layers, or of a `weight` or `bias`. The model stays the same object:
    its parameters are laid out, and hooks lay out what enters and leaves its layers.

    Args:
        model: a Layer, which is given back.
        optimizer: its optimiser, or None.
        mesh: the mesh; None: what `set_mesh` was given.
        config: what is done, as above.

    Raises:
        ValueError: `config` has another key.

    Examples:
        >>> dist = paddle.distributed
        >>> model = paddle.nn.Sequential(paddle.nn.Linear(2, 4), paddle.nn.Linear(4, 2))
        >>> plan = {"0": dist.ColWiseParallel(), "1": dist.RowWiseParallel()}
        >>> mesh = dist.ProcessMesh([0], ["mp"])
        >>> model, optimizer = dist.parallelize(model, None, mesh, {"mp_config": {"parallelize_plan": plan}})
        >>> model[0].weight.placements, model[1].weight.placements
        ([Shard(dim=1)], [Shard(dim=0)])
    """
    mesh = get_mesh() if mesh is None else mesh
    config = dict(config or {})
    unknown = sorted(set(config) - set(_KEYS))
    if unknown:
        raise value_error("parallelize", f"config has the keys {list(_KEYS)}", f"{unknown}")
    if mesh is None or not any(config.get(key) is not None for key in _KEYS):
        return model, optimizer
    if not isinstance(model, Layer):
        raise type_error("parallelize", "model must be a Layer", type(model).__name__)
    require_devices("parallelize", mesh)
    stages = None
    if config.get("pp_config") is not None and AXIS in mesh.dim_names and mesh.get_dim_size(AXIS) > 1:
        stages = Stages(model, mesh, config["pp_config"])
        model._pipeline_stages = stages
    for key in ("mp_config", "cp_config"):
        if config.get(key) is not None:
            _apply_plans(model, mesh, stages, config[key].get("parallelize_plan") or {})
    _lay_out_rest(model, mesh, stages)
    first = stages.meshes[0] if stages else mesh
    if "dp" in first.dim_names:
        model.register_forward_pre_hook(
            lambda _layer, args, kwargs: (
                tuple(_cut_batch(first, one) for one in args), {k: _cut_batch(first, one) for k, one in kwargs.items()},
            ),
            with_kwargs=True,
        )  # fmt: skip
    return model, _optimizer_for(optimizer, config.get("dp_config") or {})


def _cut_batch(mesh: ProcessMesh, value: Any) -> Any:
    """A batch that nobody has laid out, cut over the axis of the data."""
    if isinstance(value, (list, tuple)):
        return type(value)(_cut_batch(mesh, part) for part in value)
    if not isinstance(value, Tensor) or not value.ndim or value.is_dist():
        return value
    return shard_tensor(value, mesh, placements_on(mesh, dp=0))


def _apply_plans(model: Layer, mesh: ProcessMesh, stages: Stages | None, plans: dict[str, Any]) -> None:
    layers = dict(model.named_sublayers(include_self=True))
    for pattern, chosen in plans.items():
        whole, _, last = pattern.rpartition(".")
        names = [name for name in layers if re.fullmatch(pattern, name)]
        parameters = None
        if not names and last in ("weight", "bias"):
            names, parameters = [name for name in layers if re.fullmatch(whole, name)], [last]
        if not names:
            raise value_error(
                "parallelize", f"no layer is called {pattern!r}", f"a model of {[n for n in layers if n][:8]} …",
                "names are regular expressions for whole names; a model's own name is not part of them",
            )  # fmt: skip
        for plan in chosen if isinstance(chosen, (list, tuple)) else [chosen]:
            if not isinstance(plan, PlanBase):
                raise type_error("parallelize", f"the plan of {pattern!r} is one of dist's", type(plan).__name__)
            for name in names:
                plan.apply(layers[name], stages.mesh_of(name) if stages else mesh, parameters)


def _lay_out_rest(model: Layer, mesh: ProcessMesh, stages: Stages | None) -> None:
    if stages is None:
        lay_out_rest(model, mesh)
        return
    for name, layer in model.named_sublayers(include_self=True):
        if name in stages.numbers or not any(True for _ in layer.children()):
            lay_out_rest(layer, stages.mesh_of(name))
    lay_out_rest(model, stages.meshes[0])


def _optimizer_for(optimizer: Any, config: dict[str, Any]) -> Any:
    level = config.get("sharding_level", 0)
    if level not in (0, 1, 2, 3):
        raise value_error("parallelize", "sharding_level is 0, 1, 2 or 3", repr(level))
    if optimizer is None:
        return None
    return shard_optimizer(optimizer, _STAGES[level]("dp") if level else None)
