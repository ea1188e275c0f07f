"""Arrays that lie on several devices: on which, and how they are cut.

A *layout* is plain data, so that it can be an attribute of an operation and part of a saved Program: the numbers of the
devices (their positions in `jax.devices()`), the sizes and names of the mesh's axes, and for each axis the dimension that
it cuts, or -1. XLA's own form of it is made by `sharding_of`.

A program runs on one list of devices. XLA wants that list in the same order for all arrays, so meshes that differ only in
the order of their axes are brought to the same one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import pairwise
from typing import Any, cast

import numpy as np

from ..core.place import CPU, Place, jax_devices
from .recording.mode import note_sharded
from .tiers.lent import Lent
from .xla import started_jax

_ndarray = np.ndarray
WHOLE = -1  # an axis of a mesh that does not cut the array


@functools.cache
def sharding_of(devices: tuple[int, ...], sizes: tuple[int, ...], names: str, cuts: tuple[int, ...]) -> Any:
    """XLA's form of a layout. An array's dimension may be cut by several axes, the first one outermost."""
    jax = started_jax()
    numbers = np.array(devices).reshape(sizes)
    order = ascending_order(numbers)
    labels = names.split(",")
    mesh = jax.sharding.Mesh(
        np.array(jax.devices(), object)[numbers.transpose(order)], tuple(labels[axis] for axis in order)
    )
    spec: list[Any] = []
    for dimension in range(max(cuts, default=WHOLE) + 1):
        axes = tuple(labels[axis] for axis, cut in enumerate(cuts) if cut == dimension)
        spec.append(axes[0] if len(axes) == 1 else axes or None)
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec))


def ascending_order(numbers: np.ndarray) -> tuple[int, ...]:
    """The order of a mesh's axes in which its devices are numbered upwards, if there is one: slow axes have large steps."""
    steps = [
        int(numbers[tuple(int(i == axis) for i in range(numbers.ndim))] - numbers.flat[0]) if size > 1 else 0
        for axis, size in enumerate(numbers.shape)
    ]
    return tuple(sorted(range(numbers.ndim), key=lambda axis: -steps[axis]))


def is_ordinary(device: Any) -> bool:
    """Whether tensors that nobody has laid out may lie there. Accelerators are places of their own; of the virtual devices
    of a CPU, which are one place, it is the first."""
    return device.platform != "cpu" or device == jax_devices("cpu")[0]


@functools.cache
def ordinary() -> Any:
    """XLA's form of an array on the CPU's first device."""
    return started_jax().sharding.SingleDeviceSharding(jax_devices("cpu")[0])


@functools.lru_cache(maxsize=4096)
def _described(sharding: Any) -> tuple[tuple[int, ...] | None, Any]:
    """The devices of a sharding (None: an ordinary one) and what it is told apart by (None: whole on each of them)."""
    if len(sharding.device_set) < 2:
        (device,) = sharding.device_set
        if (
            hasattr(sharding, "mesh") and several_processes()
        ):  # laid out there by the user: all processes must see it alike
            return (device.id,), None
        return (None if is_ordinary(device) else (device.id,)), None
    devices = tuple(device.id for device in sharding._device_assignment)
    return devices, None if sharding.is_fully_replicated else sharding


def described(value: Any) -> tuple[tuple[int, ...] | None, Any]:
    """The devices of an array, and how it is cut; both None for an array of the host or of an ordinary device."""
    return (None, None) if value.__class__ is _ndarray or value.__class__ is Lent else _described(value.sharding)


def devices_of(value: Any) -> tuple[int, ...] | None:
    """The devices that an array spans, by their ids; None for an array of the host or of an ordinary device."""
    return described(value)[0]


@functools.cache
def whole_on(devices: tuple[int, ...]) -> Any:
    """XLA's form of an array that lies whole on each of some devices."""
    jax = started_jax()
    by_id = {device.id: device for device in jax.devices()}
    mesh = jax.sharding.Mesh(np.array([by_id[number] for number in devices], object), ("devices",))
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())


def kernel_kind(place: Place, devices: Any) -> str:
    """For which kind of device kernels are chosen. XLA cannot cut calls of native code, so on a CPU its own are taken."""
    return "xla" if devices is not None and len(devices) > 1 and place is CPU else place.kind


def program_devices(program: Any, inputs: list[Any]) -> tuple[int, ...] | None:
    """The devices that a run of a Program spans: those of an input, or of a layout that it asks for."""
    for value in inputs:
        if value.__class__ is not _ndarray and (sharding := getattr(value, "sharding", None)) is not None:
            devices = _described(sharding)[0]
            if devices is not None:
                return devices
    for instruction in program.instructions:
        if instruction.operation.name == "lay_out" and len(instruction.attributes[0]) > 1:
            return tuple(device.id for device in sharding_of(*instruction.attributes)._device_assignment)
    return None


def abstract_inputs(program: Any, inputs: list[Any], devices: tuple[int, ...]) -> list[Any]:
    """What a program on many devices is compiled for: arrays of the host or of one device are whole on each of them.

    XLA tells how results are cut in terms of one mesh, so inputs are described by one on which all layouts can be.
    """
    jax = started_jax()
    cut = {id(v): v.sharding for v in inputs if v.__class__ is not _ndarray and described(v)[1] is not None}
    asked = [sharding_of(*i.attributes) for i in program.instructions if i.operation.name == "lay_out"]
    named = [s for s in (*cut.values(), *asked) if hasattr(s, "mesh") and len(s.device_set) == len(devices)]
    mesh = _common_mesh(tuple(dict.fromkeys(s.mesh for s in named))) if named else whole_on(devices).mesh
    whole = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
    return [
        jax.ShapeDtypeStruct(v.shape, v.dtype, sharding=_on_mesh(cut[id(v)], mesh) if id(v) in cut else whole)
        for v in inputs
    ]


@functools.lru_cache(maxsize=256)
def _common_mesh(meshes: tuple[Any, ...]) -> Any:
    """A mesh of the same devices whose axes are parts of the axes of all given ones; the first of these if there is none."""
    if len(meshes) == 1:
        return meshes[0]
    strides = sorted({stride for mesh in meshes for stride in _strides(mesh)}, reverse=True)
    sizes = [outer // inner for outer, inner in pairwise((meshes[0].size, *strides))]
    if any(outer % inner for outer, inner in pairwise((meshes[0].size, *strides))):
        return meshes[0]
    names = tuple(f"d{axis}" for axis in range(len(sizes)))
    return started_jax().sharding.Mesh(meshes[0].devices.reshape(sizes), names)


def _strides(mesh: Any) -> list[int]:
    """How far apart neighbours along each axis are in the list of devices."""
    sizes = mesh.devices.shape
    return [int(np.prod(sizes[axis + 1 :], dtype=int)) for axis in range(len(sizes))]


def _on_mesh(sharding: Any, mesh: Any) -> Any:
    """The same layout in terms of the axes of a finer mesh."""
    if not hasattr(sharding, "mesh") or sharding.mesh == mesh:
        return sharding
    strides = dict(zip(_strides(mesh), mesh.axis_names, strict=True))
    parts: dict[str, list[str]] = {}
    for name, stride, size in zip(
        sharding.mesh.axis_names, _strides(sharding.mesh), sharding.mesh.devices.shape, strict=True
    ):
        parts[name] = [axis for step, axis in strides.items() if stride <= step < stride * size]
        if int(np.prod([mesh.shape[axis] for axis in parts[name]], dtype=int)) != size:
            return sharding  # the meshes have no common parts
    spec: list[Any] = []
    for axes in sharding.spec:
        names: tuple[str, ...] = cast(Any, axes) if isinstance(axes, tuple) else (axes,)
        spec.append(tuple(part for name in names for part in parts[name]) if axes else None)
    jax = started_jax()
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec))


def bring_together(inputs: list[Any], devices: tuple[int, ...]) -> None:
    """Arrays of single devices become arrays of all of a program's; in a job of several processes those of the host too."""
    for position, value in enumerate(inputs):
        if devices_of(value) is None and (several_processes() or getattr(value, "_committed", False)):
            inputs[position] = put(value, whole_on(devices))


# The smallest result of the last program on each list of virtual devices of a CPU; all are there when one is.
_LAST: dict[tuple[int, ...], Any] = {}


def wait_for_last(devices: tuple[int, ...] | None) -> None:
    """Waits for the program before, on virtual devices of a CPU. They share a few threads, and a thread that waits for the
    others of its program is lost to them: two programs at once may wait for each other for ever."""
    if not _LAST or devices is None or len(devices) < 2:
        return
    for others in [others for others in _LAST if not set(others).isdisjoint(devices)]:
        value = _LAST.pop(others, None)
        if value is not None and not value.is_deleted():
            value.block_until_ready()


def note_last(devices: tuple[int, ...] | None, results: Any) -> None:
    """Notes what a program on several devices gives (see `wait_for_last`)."""
    if devices is not None and len(devices) > 1:
        arrays = [value for value in results if value.__class__ is not _ndarray]
        if arrays and next(iter(arrays[0].sharding.device_set)).platform == "cpu":
            _LAST[devices] = min(arrays, key=lambda array: array.nbytes)


def put(value: Any, sharding: Any) -> Any:
    """An array laid out anew. One that this process has whole is taken to be the same in all of them."""
    jax = started_jax()
    note_sharded()
    devices = devices_of(value)
    if devices is None and not sharding.is_fully_addressable:
        return _placed(np.asarray(value), value.shape, value.dtype, sharding)
    if devices is not None and several_processes():
        if not hasattr(sharding, "mesh") or set(devices) != {device.id for device in sharding.device_set}:
            return _carried(value, devices, sharding)
        if is_elsewhere(devices):
            return absent(value.shape, value.dtype, sharding)
    wait_for_last(devices)  # what is cut in another way is exchanged by a program
    # An ordinary array stays the user's: a program that is given the new one may overwrite it.
    apart = {"may_alias": False} if devices is None and value.__class__ is not _ndarray else {}
    result = jax.device_put(value, sharding, **apart)
    note_last(devices, [result])
    return result


# How an array comes from one process to others: (array or None, shape, dtype, sender, receivers) -> array.
# Put here by `distributed/transport/messages.py`, which stands above this package.
CARRIERS: list[Callable[..., Any]] = []


def _carried(value: Any, devices: tuple[int, ...], sharding: Any) -> Any:
    """An array on devices of other processes: called by all processes of the job, in the same order."""
    jax = started_jax()
    sources = _processes_of(devices)
    laid_out = hasattr(sharding, "mesh")  # else it is to be an ordinary array, of each process
    everybody = frozenset(range(jax.process_count()))
    targets = _processes_of(tuple(device.id for device in sharding.device_set)) if laid_out else everybody
    sender, receivers, own = min(sources), sorted(targets - sources), jax.process_index()
    host = np.asarray(readable(value)) if own in sources else None
    if receivers and (own == sender or own in receivers):
        host = CARRIERS[-1](host, value.shape, value.dtype, sender, receivers)
    return _placed(host, value.shape, value.dtype, sharding)


def agreed(numbers: list[int], devices: tuple[int, ...]) -> list[int]:
    """Numbers as the processes of some devices have them; called by all, in the same order."""
    jax = started_jax()
    sources = _processes_of(devices)
    sender, receivers = min(sources), sorted(frozenset(range(jax.process_count())) - sources)
    if not numbers or jax.process_index() not in (*receivers, *([sender] if receivers else [])):
        return numbers
    return CARRIERS[-1](np.array(numbers), (len(numbers),), np.dtype(np.int64), sender, receivers).tolist()


def _placed(host: Any, shape: tuple[int, ...], dtype: Any, sharding: Any) -> Any:
    """An array of the host on the devices of this process; absent if there are none."""
    if not sharding.addressable_devices:
        return absent(shape, dtype, sharding)
    return started_jax().make_array_from_callback(shape, sharding, host.__getitem__)


def on_mesh(value: Any, devices: tuple[int, ...]) -> Any:
    """A result of a program on a mesh of one device, as one that was laid out there: XLA may tell the device alone."""
    if value.__class__ is not _ndarray and (hasattr(value.sharding, "mesh") or len(devices) > 1):
        return value
    jax = started_jax()
    sharding = whole_on(devices)
    if value.__class__ is _ndarray:
        return jax.device_put(value, sharding)
    return jax.make_array_from_single_device_arrays(value.shape, sharding, [value])


def absent(shape: tuple[int, ...], dtype: Any, sharding: Any) -> Any:
    """An array on devices of other processes alone: where it lies is known here, and nothing else."""
    return started_jax().make_array_from_single_device_arrays(shape, sharding, [], dtype=dtype)


@functools.cache
def _processes_of(devices: tuple[int, ...]) -> frozenset[int]:
    by_id = {device.id: device.process_index for device in started_jax().devices()}
    return frozenset(by_id[number] for number in devices)


def is_elsewhere(devices: tuple[int, ...]) -> bool:
    """Whether no device of this process is among them: programs that span them are for others to run."""
    return several_processes() and started_jax().process_index() not in _processes_of(devices)


def spans_a_part(devices: tuple[int, ...]) -> bool:
    """Whether some processes of the job have none of the devices."""
    return several_processes() and len(_processes_of(devices)) < started_jax().process_count()


@functools.cache
def _gather(devices: tuple[int, ...]) -> Any:
    return started_jax().jit(_itself, out_shardings=whole_on(devices))


def _itself(value: Any) -> Any:
    return value


@functools.cache
def several_processes() -> bool:
    """Whether this process belongs to a job of several."""
    return started_jax().process_count() > 1


def readable(value: Any) -> Any:
    """An array whose elements this process can read: what lies in other processes is fetched, which all must do at once."""
    if value.__class__ is _ndarray or value.is_fully_addressable:
        return value
    if not value.sharding.addressable_devices:
        raise RuntimeError(
            "(numpy) the tensor lies on devices of other processes alone; received one on the devices of process(es) "
            f"{sorted(_processes_of(cast('tuple[int, ...]', devices_of(value))))}; read it there, or bring it to all by "
            "dist.reshard() in all processes."
        )
    if value.is_fully_replicated:
        return value
    devices = cast("tuple[int, ...]", devices_of(value))
    wait_for_last(devices)
    return _gather(devices)(value)
