"""A training over the devices of a machine: the section `parallel` of the settings, done by `dist.parallelize`.

    parallel: {data: 2, tensor: 2, pipeline: 2, sharding: 1}    # eight devices

The model and its loss stay what they are. Here is decided what lies where: which weights are cut, which layers are a stage,
how a batch is cut; and, for pipelines, that masks, angles and the states for the head go along to the devices of a stage.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...distributed import ColWiseParallel, ProcessMesh, RowWiseParallel, get_world_size, parallelize, shard_tensor
from ...distributed.parallelizing.pipeline import moved_to
from ...distributed.parallelizing.plans import placements_on
from ...distributed.planner.plan import CutParameters
from ..layers.experts import Mixture
from .settings import WHERE, Parallel

_AXES = {"pp": "pipeline", "dp": "data", "mp": "tensor"}
_BY_COLUMNS = ("attention.query", "attention.key", "attention.value", "attention.up", "mlp.gate", "mlp.up")
_BY_ROWS = ("attention.output", "mlp.down")


class Spread:
    """Where a model's weights and batches lie; `optimizer` is the one that was given, its states laid out."""

    def __init__(self, model: Any, optimizer: Any, settings: Parallel) -> None:
        if get_world_size() > 1:
            raise value_error(
                WHERE, "parallel is for the devices of one process", f"{get_world_size()} processes",
                "start one process, or leave parallel out: processes cut the batch among them",
            )  # fmt: skip
        self.model = model
        sizes = {axis: getattr(settings, name) for axis, name in _AXES.items()}
        kept = {axis: size for axis, size in sizes.items() if size > 1 or axis == "dp"}
        numbers = np.arange(math.prod(kept.values())).reshape(list(kept.values()))
        mesh = ProcessMesh(numbers, list(kept))
        config: dict[str, Any] = {"dp_config": {"sharding_level": settings.sharding}}
        if settings.tensor > 1:
            config["mp_config"] = {"parallelize_plan": _cuts(model, settings.tensor)}
        if settings.pipeline > 1:
            config["pp_config"] = {"split_spec": "layers"}
        _, self.optimizer = parallelize(model, optimizer, mesh, config)
        stages = getattr(model, "_pipeline_stages", None)
        meshes = stages.meshes if stages is not None else [mesh]
        # A tied head multiplies with the embedding, which lies at the beginning.
        self._first, self._last = meshes[0], meshes[0] if model.head is None else meshes[-1]
        self.depth = len(meshes)  # so many forward passes are under way at a time
        if stages is not None:
            for number, block in enumerate(model.layers):
                block.register_forward_pre_hook(_Taken(stages.mesh_of(f"layers.{number}")))

    def at_entrance(self, value: Any) -> Any:
        """A part of a batch where the model begins, its rows cut over the data's devices."""
        return shard_tensor(value, self._first, placements_on(self._first, dp=0))

    def at_head(self, states: Any, labels: Any) -> tuple[Any, Any]:
        """States and labels where the head lies."""
        placed = shard_tensor(labels, self._last, placements_on(self._last, dp=0))
        return moved_to(self._last, states), placed


class _Taken:
    """Brings what a block is handed beside its states (masks, angles) to the block's devices."""

    def __init__(self, mesh: ProcessMesh) -> None:
        self._mesh = mesh

    def __call__(self, _layer: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
        states, *beside = given
        return states, *(one.moved(self._moved) if hasattr(one, "moved") else one for one in beside)

    def _moved(self, value: Any) -> Any:
        return moved_to(self._mesh, value)


def _cuts(model: Any, tensor: int) -> dict[str, Any]:
    """The plan of `mp_config`: products by columns, then by rows; experts and the vocabulary each as a whole."""
    plan: dict[str, Any] = {}
    for name, layer in model.named_sublayers():
        part = ".".join(name.split(".")[2:]).replace("shared.", "")
        pattern = name.replace(".", r"\.")
        if isinstance(layer, Mixture):
            cut = {"gate": 0, "up": 0, "down": 0}  # by experts
            if layer.experts.count % tensor == 0:
                plan[pattern] = CutParameters(cut)
        elif name == "head" or part in _BY_COLUMNS:
            if part in ("attention.key", "attention.value") and model.config.kv_heads % tensor:
                continue  # heads are not cut in two: all devices have them
            plan[pattern] = ColWiseParallel()
        elif name == "embedding" or part in _BY_ROWS:
            plan[pattern] = RowWiseParallel()
    return plan
