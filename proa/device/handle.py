"""`Device`: a device as a string that knows its parts (`tensor.device`, `paddle.device("cuda:0")`), and contexts that
choose one for a while."""

from __future__ import annotations

import threading
from types import ModuleType
from typing import Any

from ..core.errors import type_error, value_error
from ..core.place import CPU, Place, make_place, parse_place
from ..eager.annotations import DeviceLike
from ..eager.attaching import attach
from ..eager.declare import PUBLIC
from ..eager.tensor import Tensor
from ..ir.recorder import LOCAL
from .select import _platforms, get_device, set_device

# Always understood, whether a plug-in for them is installed or not.
# The modules with the functions of each kind of device; they enter themselves.
DEVICE_MODULES: dict[str, ModuleType] = {}
_KNOWN = ("cpu", "gpu", "cuda", "xpu")


class Device(str):
    """A device: equal to its name ('cpu', 'cuda:0'), with `type` and `index`; in a `with` it is the current one.

    Args:
        type: a name, the number of a GPU, or a place.
        index: which of that type, where the name does not say it.

    Raises:
        ValueError: no plug-in offers such a device.

    Examples:
        >>> device = paddle.device.Device("cuda", 1)
        >>> device, device.type, device.index
        ('cuda:1', 'cuda', 1)
        >>> paddle.ones([2]).device == "cpu"
        True
    """

    type: str
    index: int | None

    def __new__(cls, type: Any = None, index: int | None = None) -> Device:
        kind, number = _parts(type, index)
        made = str.__new__(cls, kind if kind == "cpu" else f"{kind}:{number}")
        made.type = kind
        made.index = None if kind == "cpu" else number
        return made

    def __getnewargs__(self) -> tuple[str, int | None]:
        return self.type, self.index

    def __enter__(self) -> Device:
        _enter(self)
        return self

    def __exit__(self, *problem: Any) -> None:
        _leave()

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0) if self.type == "cpu" else (2, self.index or 0)


def _parts(given: Any, index: int | None) -> tuple[str, int]:
    if isinstance(given, Place):
        return ("cuda" if given.kind == "gpu" else given.kind), given.index
    if isinstance(given, bool) or not isinstance(given, (str, int)):
        if given is None and index is not None:
            raise value_error("device", "an index needs a type of device", f"index: {index}", "write 'cuda:0'")
        raise type_error("device", "a device is a string, an index or a place", type(given).__name__)
    if isinstance(given, int):
        return "cuda", given
    kind, colon, number = given.strip().lower().partition(":")
    if colon and (index is not None or not number.isdigit()):
        raise value_error("device", "not a device", repr(given), "write 'cpu', 'cuda:0' or '<plug-in>:0'")
    if kind not in _KNOWN and kind not in _platforms():
        raise value_error("device", f"no plug-in offers the device {kind!r}", repr(given))
    return kind, int(number) if colon else int(index or 0)


class _Before(threading.local):
    """What was current before each context of this thread."""

    def __init__(self) -> None:
        self.places: list[Place] = []


_BEFORE = _Before()


def _enter(chosen: Any) -> None:
    before = LOCAL.place
    set_device(chosen)
    _BEFORE.places.append(before)


def _leave() -> None:
    set_device(_BEFORE.places.pop())


class device:
    """`with paddle.device.device("gpu:1"):` new tensors go there; None changes nothing.

    Examples:
        >>> with paddle.device.device("cpu"):
        ...     print(paddle.ones([2]).place)
        Place(cpu)
    """

    def __init__(self, device: DeviceLike | None = None) -> None:
        self.device = make_place("gpu", device) if isinstance(device, int) and device >= 0 else device

    def __enter__(self) -> None:
        _enter(LOCAL.place if self.device is None or self.device == -1 else self.device)

    def __exit__(self, *problem: Any) -> bool:
        _leave()
        return False


class device_guard:
    """A context in which new tensors go to a device.

    Args:
        device: the device, such as "cpu" or "gpu:0".

    Examples:
        >>> with paddle.device_guard("cpu"):
        ...     paddle.ones([2]).place
        Place(cpu)
    """

    def __init__(self, device: DeviceLike | None) -> None:
        self.device = make_place("gpu", device) if isinstance(device, int) else device

    def __enter__(self) -> None:
        _enter(self.device)

    def __exit__(self, *problem: Any) -> None:
        _leave()


def get_default_device() -> Device:
    """The device of new tensors.

    Examples:
        >>> _ = paddle.set_device("cpu")
        >>> paddle.get_default_device().type
        'cpu'
    """
    return Device(LOCAL.place)


def set_default_device(device: DeviceLike | None) -> None:
    """Makes a device that of new tensors.

    Args:
        device: the device; None changes nothing.

    Examples:
        >>> paddle.set_default_device("cpu")
        >>> paddle.ones([2]).place
        Place(cpu)
    """
    if device is not None:
        set_device(make_place("gpu", device) if isinstance(device, int) else device)


def current_device() -> int:
    """The number of the current device; 0 on the CPU.

    Examples:
        >>> paddle.device.current_device()
        0
    """
    return LOCAL.place.index


def get_device_module(device: DeviceLike | None = None) -> ModuleType:
    """The module with the functions of a kind of device: `paddle.cuda` for GPUs, `paddle.device.cpu` for the CPU …

    Args:
        device: the device or its kind; that of new tensors by default.

    Examples:
        >>> paddle.get_device_module("cpu").__name__.split(".")[-1]
        'cpu'
    """
    kind = parse_place(get_device() if device is None else device).kind
    if kind not in DEVICE_MODULES and kind not in _platforms():
        raise RuntimeError(f"(get_device_module) no plug-in offers the device {kind!r}.")
    return DEVICE_MODULES.get(kind, DEVICE_MODULES["plug-in"])


class CallableModule(ModuleType):
    """The class of the module `paddle.device`, which can be called: `paddle.device("cpu")` is a Device."""

    def __call__(self, type: Any = None, index: int | None = None) -> Device:
        return Device(type, index)


_CPU_DEVICE = Device(CPU)


def _device_of_tensor(self: Tensor) -> Device:
    """Where the tensor lies, as PyTorch names it.

    Examples:
        >>> paddle.ones([2]).cpu().device.type
        'cpu'
    """
    place = self._aval.place
    return _CPU_DEVICE if place is CPU else Device(place)


attach(__name__, device=property(_device_of_tensor))

PUBLIC.update(
    device_guard=device_guard,
    get_default_device=get_default_device,
    set_default_device=set_default_device,
    get_device_module=get_device_module,
)
