"""Which devices there are, and which one new tensors go to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ..core.place import (
    CPU,
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    CustomPlace,
    IPUPlace,
    Place,
    XPUPinnedPlace,
    XPUPlace,
    jax_device,
    jax_devices,
    make_place,
    parse_place,
)
from ..eager.annotations import DeviceLike
from ..eager.declare import PUBLIC
from ..ir.recorder import LOCAL, set_place
from ..ir.xla import jax_module

if TYPE_CHECKING:
    from ..eager.tensor import Tensor


def set_device(device: str | Place) -> Place:
    """Makes a device the place of new tensors.

    Args:
        device: "cpu", "gpu:0", "<plug-in>:0", or a place.

    Returns:
        The place.

    Raises:
        ValueError: it is not there.

    Examples:
        >>> _ = paddle.set_device("cpu")
        >>> paddle.ones([2]).place
        Place(cpu)
    """
    place = parse_place(device)
    if place is not CPU:
        jax_device(place)
    set_place(place)
    return place


def get_device(input: Tensor | None = None) -> Any:
    """The place of new tensors, as `set_device` takes it; of a tensor, the number of its device (-1: the CPU).

    Args:
        input: a tensor, if its device is asked for.

    Examples:
        >>> _ = paddle.set_device("cpu")
        >>> paddle.get_device(), paddle.get_device(paddle.ones([1]))
        ('cpu', -1)
    """
    if input is not None:
        place = input.place
        return -1 if place == CPU else place.index
    place = LOCAL.place
    return "cpu" if place is CPU else f"{place.kind}:{place.index}"


def _platforms() -> dict[str, int]:
    """Kinds of device with their number, the CPU first."""
    counts = {"cpu": 1}
    for device in jax_module().local_devices():
        kind = parse_place(device).kind
        if kind != "cpu":
            counts[kind] = counts.get(kind, 0) + 1
    return counts


def get_all_device_type() -> list[str]:
    """The kinds of device that there are, the CPU first.

    Examples:
        >>> paddle.device.get_all_device_type()[0]
        'cpu'
    """
    return list(_platforms())


def get_all_custom_device_type() -> list[str]:
    """The kinds of device that plug-ins offer beside CPU and GPU.

    Examples:
        >>> paddle.device.get_all_custom_device_type()
        []
    """
    return [kind for kind in _platforms() if kind not in ("cpu", "gpu")]


def get_available_device() -> list[str]:
    """The devices that there are, by their names, the CPU first.

    Examples:
        >>> paddle.device.get_available_device()[0]
        'cpu'
    """
    return [
        kind if kind == "cpu" else f"{kind}:{index}" for kind, count in _platforms().items() for index in range(count)
    ]


def get_available_custom_device() -> list[str]:
    """The devices of plug-ins other than CPU and GPU, by their names.

    Examples:
        >>> paddle.device.get_available_custom_device()
        []
    """
    return [name for name in get_available_device() if name.split(":")[0] not in ("cpu", "gpu")]


def device_count(device: str | None = None) -> int:
    """How many devices of a kind there are (of the current kind by default; the CPU counts as one).

    Examples:
        >>> paddle.device.device_count("cpu")
        1
    """
    kind = LOCAL.place.kind if device is None else parse_place(device).kind
    return _platforms().get(kind, 0)


class DeviceProperties(NamedTuple):
    """What PJRT tells about a device."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int


def _device_of(device: Any) -> Any:
    if device is None:
        place = LOCAL.place
    elif isinstance(device, int):
        place = make_place("gpu", device)
    else:
        place = parse_place(device)
    return jax_device(place) if place is not CPU else jax_devices("cpu")[0]


def get_device_properties(device: DeviceLike | None = None) -> DeviceProperties:
    """What is known of a device: `name`, `major`, `minor`, `total_memory` (bytes), `multi_processor_count`; 0 where unknown.

    Args:
        device: a name, a place, or the number of a GPU; None: the current device.

    Examples:
        >>> paddle.device.get_device_properties("cpu")
        DeviceProperties(name='cpu', major=0, minor=0, total_memory=0, multi_processor_count=0)
    """
    found = _device_of(device)
    capability = str(getattr(found, "compute_capability", "0.0")).split(".")
    statistics = found.memory_stats() or {}
    return DeviceProperties(
        name=found.device_kind,
        major=int(capability[0] or 0),
        minor=int(capability[1]) if len(capability) > 1 else 0,
        total_memory=int(statistics.get("bytes_limit", 0)),
        multi_processor_count=int(getattr(found, "core_count", 0) or 0),
    )


def get_device_name(device: DeviceLike | None = None) -> str:
    """What a device is called by its driver.

    Args:
        device: a name, a place, or the number of a GPU; None: the current device.

    Examples:
        >>> paddle.device.get_device_name("cpu")
        'cpu'
    """
    return _device_of(device).device_kind


def get_device_capability(device: DeviceLike | None = None) -> tuple[int, int]:
    """The compute capability of a GPU as (major, minor); (0, 0) on the CPU.

    Args:
        device: a name, a place, or the number of a GPU; None: the current device.

    Examples:
        >>> paddle.device.get_device_capability("cpu")
        (0, 0)
    """
    properties = get_device_properties(device)
    return properties.major, properties.minor


def get_cudnn_version() -> int | None:
    """The version number of cuDNN, or None where there is no GPU.

    Examples:
        >>> version = paddle.get_cudnn_version()
        >>> version is None or version > 8000
        True
    """
    if "gpu" not in _platforms():
        return None
    try:
        from jax._src.lib import cuda_versions  # type: ignore[import-not-found]

        return int(cast(Any, cuda_versions).cudnn_get_version())
    except (ImportError, AttributeError, RuntimeError):
        return None


def is_available() -> bool:
    """Whether there is a device besides the CPU.

    Examples:
        >>> paddle.device.is_available() == (len(paddle.device.get_available_device()) > 1)
        True
    """
    return len(_platforms()) > 1


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether bfloat16 can be used: everywhere, on a GPU before Ampere (and on the CPU) by emulation.

    Args:
        including_emulation: whether emulation counts.

    Examples:
        >>> paddle.device.is_bf16_supported()
        True
    """
    if including_emulation:
        return True
    return LOCAL.place.kind == "gpu" and get_device_properties().major >= 8


def is_compiled_with_cuda() -> bool:
    """Whether a CUDA plug-in for PJRT is installed.

    Examples:
        >>> paddle.is_compiled_with_cuda() in (True, False)
        True
    """
    import importlib.util

    return any(importlib.util.find_spec(f"jax_cuda{v}_plugin") is not None for v in (12, 13))


def is_compiled_with_rocm() -> bool:
    """Whether a ROCm plug-in for PJRT is installed.

    Examples:
        >>> paddle.is_compiled_with_rocm() in (True, False)
        True
    """
    import importlib.util

    return any(importlib.util.find_spec(f"jax_rocm{v}_plugin") is not None for v in (60, 7))


def is_compiled_with_xpu() -> bool:
    """Whether XPUs can be used: no.

    Examples:
        >>> paddle.is_compiled_with_xpu()
        False
    """
    return False


def is_compiled_with_ipu() -> bool:
    """Whether IPUs can be used: no.

    Examples:
        >>> paddle.is_compiled_with_ipu()
        False
    """
    return False


def is_compiled_with_cinn() -> bool:
    """Whether the compiler CINN is there: no, XLA takes its place.

    Examples:
        >>> paddle.is_compiled_with_cinn()
        False
    """
    return False


def is_compiled_with_distribute() -> bool:
    """Whether programs can run on several devices: yes.

    Examples:
        >>> paddle.is_compiled_with_distribute()
        True
    """
    return True


def is_compiled_with_custom_device(device_type: str) -> bool:
    """Whether a PJRT plug-in of a name is installed.

    Args:
        device_type: the name.

    Examples:
        >>> paddle.is_compiled_with_custom_device("no_such_plugin")
        False
    """
    return device_type in get_all_custom_device_type()


PUBLIC.update(
    CPUPlace=CPUPlace,
    CUDAPlace=CUDAPlace,
    CUDAPinnedPlace=CUDAPinnedPlace,
    CustomPlace=CustomPlace,
    IPUPlace=IPUPlace,
    XPUPlace=XPUPlace,
    XPUPinnedPlace=XPUPinnedPlace,
    get_cudnn_version=get_cudnn_version,
    is_compiled_with_ipu=is_compiled_with_ipu,
    set_device=set_device,
    get_device=get_device,
    is_compiled_with_cuda=is_compiled_with_cuda,
    is_compiled_with_rocm=is_compiled_with_rocm,
    is_compiled_with_xpu=is_compiled_with_xpu,
    is_compiled_with_cinn=is_compiled_with_cinn,
    is_compiled_with_distribute=is_compiled_with_distribute,
    is_compiled_with_custom_device=is_compiled_with_custom_device,
)
