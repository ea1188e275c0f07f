"""Places: where a tensor lives, as Paddle names them, and the PJRT devices behind them.

A place is `kind:index`. Kinds are `cpu`, `gpu` and the platform name of any other PJRT plug-in that is
installed (`tpu`, `iluvatar_gpu` …). The CPU needs no XLA client: cold code there runs on NumPy, so this module only
starts one when a device other than the CPU is asked for.
"""

from __future__ import annotations

import functools
import os
import sys
from typing import Any, cast

from .errors import value_error
from .job import join_if_launched


class Place:
    """A device, as `kind` and `index`. Places of a kind have a class of their own, and equal ones are the same object
    (see `make_place`); `Place()` alone stands for none until `set_place` says which."""

    __slots__ = ("index", "kind")

    # The number that Paddle's C++ has for the kind.
    _number = 0

    kind: str
    index: int

    def __new__(cls) -> Place:
        place = object.__new__(cls)
        place.kind, place.index = "undefined", 0
        return place

    def set_place(self, other: Place) -> None:
        """Makes a `Place()` stand for another place."""
        if self.kind != "undefined":
            raise value_error("Place", "this place is shared by all who name it", f"{self!r}", "start from Place()")
        self.kind, self.index = other.kind, other.index

    def __repr__(self) -> str:
        return "Place(cpu)" if self.kind == "cpu" else f"Place({self.kind}:{self.index})"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Place)
            and self.kind == other.kind
            and self.index == other.index
            and self.is_pinned() == other.is_pinned()
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.index))

    def __reduce__(self) -> tuple[object, tuple[Any, ...]]:
        return make_place, (self.kind, self.index)

    def _equals(self, other: object) -> bool:
        return self == other

    def _type(self) -> int:
        return _class_of(self.kind)._number if type(self) is Place else self._number

    def is_pinned(self) -> bool:
        """Whether this is host memory from which a device copies without the CPU."""
        return False

    def is_cpu_place(self) -> bool:
        return self.kind == "cpu" and not self.is_pinned()

    def is_gpu_place(self) -> bool:
        return self.kind == "gpu"

    def is_custom_place(self) -> bool:
        return self.kind not in _CLASSES

    def is_cuda_pinned_place(self) -> bool:
        return type(self) is CUDAPinnedPlace

    def is_xpu_place(self) -> bool:
        return self.kind == "xpu"

    def is_xpu_pinned_place(self) -> bool:
        return type(self) is XPUPinnedPlace

    def is_ipu_place(self) -> bool:
        return self.kind == "ipu"

    def custom_device_type(self) -> str:
        return self.kind

    get_device_type = custom_device_type

    def get_device_id(self) -> int:
        return self.index

    gpu_device_id = xpu_device_id = ipu_device_id = custom_device_id = get_device_id


class CPUPlace(Place):
    """The memory of the host.

    Examples:
        >>> paddle.CPUPlace()
        Place(cpu)
        >>> paddle.ones([2]).cpu().place == paddle.CPUPlace()
        True
    """

    __slots__ = ()
    _number = 1

    def __new__(cls) -> Any:
        return make_place("cpu")


class CUDAPlace(Place):
    """The memory of a GPU. Whether it is there is asked when it is used.

    Args:
        id: its number.

    Examples:
        >>> paddle.CUDAPlace(1)
        Place(gpu:1)
    """

    __slots__ = ()
    _number = 2

    def __new__(cls, id: int = 0) -> Any:
        return make_place("gpu", int(id))


class XPUPlace(Place):
    """An XPU.

    Args:
        dev_id: its number.

    Raises:
        ValueError: no plug-in for them is there.

    Examples:
        >>> paddle.XPUPlace(0)
        Traceback (most recent call last):
            ...
        ValueError: (XPUPlace) no 'xpu' device can be used: no plug-in offers any; ...
    """

    __slots__ = ()
    _number = 4

    def __new__(cls, dev_id: int) -> Any:
        jax_devices("xpu", "XPUPlace")
        return make_place("xpu", int(dev_id))


class IPUPlace(Place):
    """An IPU.

    Raises:
        ValueError: no plug-in for them is there.

    Examples:
        >>> paddle.IPUPlace()
        Traceback (most recent call last):
            ...
        ValueError: (IPUPlace) no 'ipu' device can be used: no plug-in offers any; ...
    """

    __slots__ = ()
    _number = 7

    def __new__(cls) -> Any:
        jax_devices("ipu", "IPUPlace")
        return make_place("ipu")


class CustomPlace(Place):
    """A device of a PJRT plug-in.

    Args:
        device_type: the name of the plug-in.
        device_id: the number of the device.

    Examples:
        >>> paddle.CustomPlace("cpu", 0)
        Place(cpu)
    """

    __slots__ = ()
    _number = 9

    def __new__(cls, device_type: str, device_id: int = 0) -> Any:
        return make_place(device_type, int(device_id))


class CUDAPinnedPlace(Place):
    """Pinned memory of the host. XLA manages that, so what is put there lies where the CPU's memory is.

    Examples:
        >>> paddle.CUDAPinnedPlace().is_pinned()
        True
    """

    __slots__ = ()
    _number = 3

    def __new__(cls) -> Any:
        place = object.__new__(cls)
        place.kind, place.index = "cpu", 0
        return place

    def __reduce__(self) -> tuple[object, tuple[Any, ...]]:
        return type(self), ()

    def __repr__(self) -> str:
        return "Place(gpu_pinned)"

    def is_pinned(self) -> bool:
        """Whether it is pinned memory: yes.

        Examples:
            >>> paddle.CUDAPinnedPlace().is_pinned()
            True
        """
        return True


class XPUPinnedPlace(CUDAPinnedPlace):
    """Pinned memory of the host for XPUs.

    Raises:
        RuntimeError: no plug-in for them is there.

    Examples:
        >>> paddle.XPUPinnedPlace()
        Traceback (most recent call last):
            ...
        RuntimeError: (XPUPinnedPlace) no plug-in offers XPUs; use CPUPlace().
    """

    __slots__ = ()

    def __new__(cls) -> Any:
        try:
            jax_devices("xpu")
        except ValueError:
            raise RuntimeError("(XPUPinnedPlace) no plug-in offers XPUs; use CPUPlace().") from None
        return super().__new__(cls)

    def __repr__(self) -> str:
        return "Place(xpu_pinned)"


_CLASSES: dict[str, type[Place]] = {
    "undefined": Place, "cpu": CPUPlace, "gpu": CUDAPlace, "xpu": XPUPlace, "ipu": IPUPlace,
}  # fmt: skip
_PLACES: dict[tuple[str, int], Place] = {}


def _class_of(kind: str) -> type[Place]:
    return _CLASSES.get(kind, CustomPlace)


def make_place(kind: str, index: int = 0) -> Place:
    key = (kind, index)
    place = _PLACES.get(key)
    if place is None:
        place = object.__new__(_class_of(kind))
        place.kind, place.index = key
        place = _PLACES.setdefault(key, place)
    return place


_PLAIN: dict[Place, Place] = {}


def plain_place(place: Place) -> Place:
    """The place as tensors show it: equal, but of the class `Place`, as in Paddle."""
    plain = _PLAIN.get(place)
    if plain is None:
        plain = object.__new__(Place)
        plain.kind, plain.index = place.kind, place.index
        plain = _PLAIN.setdefault(place, plain)
    return plain


CPU = make_place("cpu", 0)


def parse_place(device: object) -> Place:
    """The place that a string (`'gpu:1'`), a place or a PJRT device stands for; does not check that it exists.

    Examples:
        >>> paddle.utils.dlpack.parse_place("cpu")
        Place(cpu)
    """
    if isinstance(device, Place):
        return make_place(device.kind, device.index)
    if isinstance(device, str):
        kind, _, index = device.strip().lower().partition(":")
        kind = {"cuda": "gpu", "rocm": "gpu"}.get(kind, kind)
        if kind.isidentifier() and (not index or index.isdigit()):
            return make_place(kind, int(index or 0))
    elif hasattr(device, "platform") and hasattr(device, "id"):
        found = cast(Any, device)
        platform: str = found.platform
        return make_place({"cuda": "gpu", "rocm": "gpu"}.get(platform, platform), _local_index(found))
    raise value_error("set_device", "not a device", f"{device!r}", "write 'cpu', 'gpu:0' or '<plug-in>:0'")


def _local_index(device: Any) -> int:
    if device.platform == "cpu":
        return 0  # virtual CPU devices are one place: their memory is the host's
    return device.local_hardware_id if device.local_hardware_id is not None else device.id


@functools.cache
def jax_devices(kind: str, where: str = "set_device") -> list[Any]:
    """The PJRT devices of a kind on this process; ValueError in plain words when there is none."""
    import jax

    join_if_launched()
    try:
        return list(cast(Any, jax).local_devices(backend=kind))
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else "unknown reason"
        if reason.startswith("Unknown backend"):  # the runtime's word for a plug-in that is not installed
            reason = "no plug-in offers any"
        raise value_error(
            where,
            f"no {kind!r} device can be used: {reason}",
            fix="run `proa doctor` to see which devices are there and what is missing",
        ) from None


def jax_device(place: Place) -> Any:
    """The PJRT device of a place."""
    devices = jax_devices(place.kind)
    if place.index >= len(devices):
        raise value_error(
            "set_device",
            f"there is no {place.kind}:{place.index}",
            f"{len(devices)} {place.kind} device(s)",
            f"use {place.kind}:0 to {place.kind}:{len(devices) - 1}",
        )
    return devices[place.index]


def _has_plugins() -> bool:
    import pkgutil

    import jax_plugins  # type: ignore[import-not-found]

    return any(True for _ in pkgutil.iter_modules(jax_plugins.__path__))


@functools.cache
def default_place() -> Place:
    """The best place of this machine: an accelerator whose PJRT plug-in is installed and works, else the CPU.

    Looking for the plug-in's module first keeps start-up free of XLA on machines that have none.
    """
    wanted = os.environ.get("JAX_PLATFORMS", "")
    if wanted.split(",")[0] == "cpu" or not _has_accelerator_plugin():
        return CPU
    import jax

    join_if_launched()
    try:
        return parse_place(cast(Any, jax).local_devices()[0])
    except RuntimeError:
        return CPU


_PLUGINS = frozenset({"jax_cuda12_plugin", "jax_cuda13_plugin", "jax_rocm60_plugin", "jax_rocm7_plugin", "libtpu"})


def _has_accelerator_plugin() -> bool:
    return any(_offers_plugin(folder) for folder in sys.path)


def _offers_plugin(folder: str) -> bool:
    """Whether a package that is installed there is, or offers, a plug-in of JAX's.

    What `importlib.metadata` would say; importing that takes a tenth of `import proa`. One look at each folder: asking
    `importlib` for every name would look into all of them again.
    """
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return False
    if not _PLUGINS.isdisjoint(names) or ("jax_plugins" in names and _has_plugins()):
        return True
    for name in names:
        if name.endswith((".dist-info", ".egg-info")):
            try:
                with open(f"{folder or '.'}/{name}/entry_points.txt", "rb", 0) as file:
                    content = file.read()
                if b"[jax_plugins]" in content and "[jax_plugins]" in content.decode():
                    return True
            except (OSError, UnicodeDecodeError):
                continue
    return False
