"""A model in stages, each on a part of the mesh, and micro-batches through them.

A stage's parameters lie on its own devices, and what enters its layers is moved there; gradients go the same way back. The
stages of one micro-batch depend on each other, those of different ones do not: XLA starts programs without waiting for
their results, so devices work on several micro-batches at once, in the order in which these are started.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...core.errors import value_error
from ...eager.moving import put_whole
from ...eager.tensor import Tensor
from ...ir import meshes
from ...ir.xla import started_jax
from ...nn.layer import Layer
from ..meshes.dtensor import reshard
from ..meshes.layouts import found_layout
from ..meshes.mesh import ProcessMesh
from ..meshes.placement import Placement, Replicate, Shard
from .plans import SplitPoint

AXIS = "pp"


def _split_points(model: Layer, spec: Any, stages: int) -> dict[str, SplitPoint]:
    """Where the model is cut, by names of layers; a prefix of a list of layers is cut evenly."""
    names = [name for name, _ in model.named_sublayers()]
    if isinstance(spec, str):
        members = [name for name in names if re.fullmatch(re.escape(spec) + r"\.\d+", name)]
        if len(members) < stages:
            raise value_error(
                "parallelize", f"{stages} stages need as many layers", f"split_spec {spec!r} with {len(members)} layers",
                "name a LayerList, as in 'model.layers'",
            )  # fmt: skip
        firsts = [len(members) * stage // stages for stage in range(1, stages)]
        return {members[first]: SplitPoint.BEGINNING for first in firsts}
    found = {}
    for pattern, point in spec.items():
        matches = [name for name in names if re.fullmatch(pattern, name)]
        if not matches:
            raise value_error("parallelize", f"no layer is called {pattern!r}", f"a model of {names[:8]} …")
        found.update(dict.fromkeys(matches, point))
    if len(found) != stages - 1:
        raise value_error(
            "parallelize", f"{stages} stages need {stages - 1} split point(s)", f"{sorted(found)}",
            f"change split_spec, or the length of the axis {AXIS!r}",
        )  # fmt: skip
    return found


def assign_stages(model: Layer, spec: Any, stages: int) -> dict[str, int]:
    """The stage of each sublayer. One that reaches over a split point has none of its own."""
    points = _split_points(model, spec, stages)
    found: dict[str, int] = {}
    stage, ended = 0, ""
    for name, _ in model.named_sublayers():
        if ended and not name.startswith(ended + "."):
            stage, ended = stage + 1, ""
        if points.get(name) is SplitPoint.BEGINNING:
            stage += 1
        elif points.get(name) is SplitPoint.END:
            ended = name
        found[name] = stage
    for name in list(found):
        inside = {found[other] for other in found if other.startswith(name + ".")}
        if len(inside - {found[name]}) > 0:
            found.pop(name)
    return found


class Stages:
    """The stages of a model on the slices of a mesh."""

    def __init__(self, model: Layer, mesh: ProcessMesh, config: dict[str, Any]) -> None:
        count = mesh.get_dim_size(AXIS)
        self.meshes = [mesh.get_mesh_with_dim(AXIS, stage) for stage in range(count)]
        self.numbers = assign_stages(model, config["split_spec"], count)
        shared = config.get("global_spec")
        self.shared = [shared] if isinstance(shared, str) else list(shared or ())
        for name, layer in self._outermost(model):
            layer.register_forward_pre_hook(self._entrance(self.mesh_of(name)), with_kwargs=True)

    def mesh_of(self, name: str) -> ProcessMesh:
        """The mesh of a layer; that of the first stage for what reaches over several."""
        return self.meshes[self.numbers.get(name, 0)]

    def for_all(self, value: Any) -> Any:
        """A result of the last stage, in all processes of the job."""
        if not meshes.several_processes():
            return value
        if isinstance(value, (list, tuple)):
            return type(value)(self.for_all(part) for part in value)
        devices = tuple(device.id for device in started_jax().devices())
        return put_whole(value, devices) if isinstance(value, Tensor) else value

    def _outermost(self, model: Layer) -> Iterator[tuple[str, Layer]]:
        """The largest layers that are in one stage each. Those that all stages share (`global_spec`) stay where they are
        used."""
        taken: list[str] = []
        for name, layer in model.named_sublayers():
            if name in self.numbers and not any(name.startswith(outer + ".") for outer in taken):
                taken.append(name)
                if not any(re.fullmatch(pattern, name) for pattern in self.shared):
                    yield name, layer

    def _entrance(self, mesh: ProcessMesh) -> Callable[..., Any]:
        def move(_layer: Layer, args: Any, kwargs: Any) -> Any:
            return tuple(moved_to(mesh, one) for one in args), {k: moved_to(mesh, one) for k, one in kwargs.items()}

        return move


def device_ids(mesh: ProcessMesh) -> set[int]:
    """The devices of a mesh by XLA's numbers."""
    devices = started_jax().devices()
    return {devices[number].id for number in mesh.process_ids}


def moved_to(mesh: ProcessMesh, value: Any) -> Any:
    """A tensor on the devices of a stage, cut over the axes that it has there too; anything else as it is."""
    if isinstance(value, (list, tuple)):
        return type(value)(moved_to(mesh, part) for part in value)
    if not isinstance(value, Tensor):
        return value
    devices = value._segment.devices if value._value is None else meshes.devices_of(value._value)
    if devices is None or set(devices) == device_ids(mesh):
        return value
    layout = found_layout(value)
    assert layout is not None
    names = dict(zip(layout.mesh.dim_names, layout.placements, strict=True))
    placements: list[Placement] = [names.get(name, Replicate()) for name in mesh.dim_names]
    placements = [Replicate() if placement.is_partial() else placement for placement in placements]
    if meshes.several_processes():  # those that have no part of it do not know how it is cut
        cuts = [placement.dim if isinstance(placement, Shard) else meshes.WHOLE for placement in placements]
        agreed = meshes.agreed(cuts, devices)
        placements = [Replicate() if cut == meshes.WHOLE else Shard(cut) for cut in agreed]
    return reshard(value, mesh, placements)


def run_micro_batches(forward: Callable[[int], Tensor], count: int, stages: int) -> Tensor:
    """Forward and backward passes of `count` micro-batches, one forward and one backward in turn (1F1B): as many are under
    way as there are stages, and activations of no more are kept. Gives the mean of their losses."""
    under_way: deque[Tensor] = deque()
    losses: list[Tensor] = []
    for number in range(count):
        loss = forward(number) * (1.0 / count)
        under_way.append(loss)
        losses.append(loss.detach())
        if len(under_way) == stages:
            under_way.popleft().backward()
    while under_way:
        under_way.popleft().backward()
    total = losses[0]
    for loss in losses[1:]:
        total = total + loss
    return total


def micro_batch(value: Any, number: int, count: int) -> Any:
    """Part `number` of `count` equal parts of a batch, along the first dimension of its tensors."""
    if isinstance(value, (list, tuple)):
        return type(value)(micro_batch(part, number, count) for part in value)
    if not isinstance(value, Tensor) or not value.ndim:
        return value
    length = value.shape[0]
    if length % count:
        raise value_error(
            "DistModel", f"a batch is cut into {count} micro-batches of one size", f"a tensor of shape {list(value.shape)}",
            "make the batch size a multiple of accumulate_steps",
        )  # fmt: skip
    return value[number * length // count : (number + 1) * length // count]


def batches(values: Sequence[Any], count: int) -> list[list[Any]]:
    """All micro-batches of some arguments."""
    return [[micro_batch(value, number, count) for value in values] for number in range(count)]
