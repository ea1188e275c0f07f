"""Laying tensors out on a mesh of devices: the one operation that says where the parts of a value lie.

It changes no numbers. XLA's partitioner takes it as a wish it must fulfil, and finds out from the few there are how
everything between is cut and what has to be exchanged. It is recorded, differentiated and saved like any other operation;
where the devices are not there (a model that was trained on eight, loaded on one) it does nothing.
"""

from __future__ import annotations

from typing import Any

from ..core import job
from ..core.place import CPU, parse_place
from ..eager.declare import op
from ..eager.infer import same_shape
from ..eager.moving import moved, relayed
from ..eager.tensor import Tensor, alias
from ..eager.views import replace_value
from ..ir import meshes
from ..ir.padding import rules
from ..ir.recorder import LOCAL, flush_current, note_sharded
from ..ir.recording.mode import Mode
from ..ir.xla import started_jax


@op(
    infer=same_shape,
    grad={"x": lambda g, devices, sizes, names, cuts: constrain(g, (devices, sizes, names, cuts))},
    padding=rules.elementwise,
    uniform=True,
)
def lay_out(
    xp: Any, x: Any, devices: tuple[int, ...], sizes: tuple[int, ...], names: str, cuts: tuple[int, ...]
) -> Any:
    """The tensor, cut over the devices of a mesh: axis `i` of it cuts dimension `cuts[i]`, or none (-1)."""
    return x


def _on_xla(xp: Any, x: Any, devices: Any, sizes: Any, names: str, cuts: Any) -> Any:
    import jax

    if len(devices) == 1 or max(devices) >= len(jax.devices()):
        return x
    return jax.lax.with_sharding_constraint(x, meshes.sharding_of(devices, sizes, names, cuts))


lay_out.operation.kernels["xla"] = _on_xla


class Layout:
    """Where the user laid a tensor out: `mesh` and `placements` as they were given, and the same as plain data.

    A tensor that has one keeps it: other numbers that it gets are laid out in the same way.
    """

    __slots__ = ("attributes", "mesh", "parts", "placements")

    def __init__(self, mesh: Any, placements: tuple[Any, ...], attributes: tuple[Any, ...], parts: Any = None) -> None:
        self.mesh = mesh
        self.placements = placements
        self.attributes = attributes
        self.parts = parts  # of a partial tensor: what is still to be reduced, along a first dimension

    def __str__(self) -> str:
        return f"process_mesh={self.mesh!r}, placements={list(self.placements)}"

    def lay_out(self, x: Tensor) -> Tensor:
        """The numbers of a tensor in this layout."""
        return constrain(x, self.attributes)


def constrain(x: Tensor, attributes: tuple[Any, ...]) -> Tensor:
    """A tensor laid out on a mesh; gradients are laid out in the same way, on the devices that the tensor came from."""
    segment = LOCAL.segment
    if segment.captures:
        return lay_out(x, *attributes)
    if len(attributes[0]) == 1:
        return _on_one_device(x, attributes[0][0])
    note_sharded()
    sharding = meshes.sharding_of(*attributes)
    wanted = tuple(device.id for device in sharding._device_assignment)
    value, there = x._value, devices_of_tensor(x)
    if there != wanted and meshes.spans_a_part(wanted):
        return relayed(x, sharding)
    if there != wanted and (value is not None or there is not None):
        return relayed(x, sharding)
    if segment.devices not in (None, wanted):
        flush_current()
    result = lay_out(x, *attributes)
    if result._segment is LOCAL.segment:  # it may have run at once
        LOCAL.segment.devices = wanted
    return result


def devices_of_tensor(x: Tensor) -> tuple[int, ...] | None:
    """The devices that a tensor spans; None if they are nothing but its place."""
    return x._segment.devices if x._value is None else meshes.devices_of(x._value)


def _on_one_device(x: Tensor, number: int) -> Tensor:
    """The tensor on a mesh of one device: an accelerator is a place like any other, of a CPU's virtual devices all but the
    first are meshes."""
    if not number and not Mode.sharded and x._aval.place is CPU and LOCAL.place is CPU and job.size() == 1:
        return x  # nothing is elsewhere, and nobody needs to ask for devices
    device = started_jax().devices()[number]
    there = devices_of_tensor(x)
    if meshes.several_processes():
        return x if there == (device.id,) else relayed(x, meshes.whole_on((device.id,)))
    place = parse_place(device)
    if place is not CPU:
        return relayed(x, meshes.whole_on((device.id,))) if there is not None else moved(x, place)
    if there == (None if meshes.is_ordinary(device) else (device.id,)):
        return x
    return relayed(x, meshes.whole_on((device.id,)))


def keep_layout(tensor: Tensor) -> None:
    """Lays out anew what has just been computed for a tensor that the user laid out: XLA may have cut it otherwise."""
    if tensor._layout is not None:
        replace_value(tensor, alias(tensor))


def follow_layout(tensor: Tensor, other: Tensor) -> None:
    """Lays a tensor out as another one of its shape is."""
    layout = other._layout
    if layout is not None and layout.parts is None and tensor._aval.shape == other._aval.shape:
        tensor._layout = layout
        keep_layout(tensor)
