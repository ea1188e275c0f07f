"""Padding layers: a border of a constant, of zeros, or of the tensor's own elements."""

from __future__ import annotations

from typing import Any

from ..eager.tensor import Tensor
from . import functional as F
from .base import defaults
from .layer import Layer


class _Pad(Layer):
    """Keeps the arguments of `nn.functional.pad`; one number for `padding` means all sides."""

    _num_spatial: int

    def __init__(self, padding: Any, mode: str, value: float, data_format: str, name: str | None) -> None:
        super().__init__()
        self._pad = [int(padding)] * (2 * self._num_spatial) if isinstance(padding, int) else padding
        self._mode, self._value, self._data_format, self._name = mode, value, data_format, name

    @property
    def padding(self) -> Any:
        return self._pad

    @property
    def value(self) -> float:
        return self._value

    def forward(self, x: Tensor) -> Tensor:
        return F.pad(x, self._pad, self._mode, self._value, self._data_format)

    def extra_repr(self) -> str:
        named = f", name={self._name}" if self._name else ""
        return f"padding={self._pad}, mode={self._mode}, value={self._value}, data_format={self._data_format}{named}"


class _AnyPad(_Pad):
    _default_format: str

    def __init__(
        self,
        padding: Any,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format or self._default_format, name)


class _ConstantPad(_Pad):
    _default_format: str

    def __init__(self, padding: Any, value: float, data_format: str | None = None, name: str | None = None) -> None:
        super().__init__(padding, "constant", value, data_format or self._default_format, name)


class _FixedPad(_Pad):
    _default_format: str
    _fixed_mode: str

    def __init__(self, padding: Any, data_format: str | None = None, name: str | None = None) -> None:
        super().__init__(padding, self._fixed_mode, 0.0, data_format or self._default_format, name)


_FORMATS = {1: "NCL", 2: "NCHW", 3: "NCDHW"}
_AXES = {
    1: "[batch, channels, length]",
    2: "[batch, channels, height, width]",
    3: "[batch, channels, depth, height, width]",
}


def _family(stem: str, base: type, doc: str, mode: str = "") -> list[Any]:
    """The classes of one kind for one, two and three axes."""
    made = []
    for count in (1, 2, 3):
        members = {
            "_num_spatial": count, "_fixed_mode": mode, "__doc__": f"{doc} {_AXES[count]}.", "__module__": __name__,
        }  # fmt: skip
        made.append(defaults.data_format(_FORMATS[count])(type(f"{stem}{count}D", (base,), members)))
    return made


Pad1D, Pad2D, Pad3D = _family("Pad", _AnyPad, "A border of any mode around")
ZeroPad1D, ZeroPad2D, ZeroPad3D = _family("ZeroPad", _FixedPad, "A border of zeros around", "constant")
ConstantPad1D, ConstantPad2D, ConstantPad3D = _family("ConstantPad", _ConstantPad, "A border of one number around")
ReflectionPad1D, ReflectionPad2D, ReflectionPad3D = _family(
    "ReflectionPad", _FixedPad, "A mirrored border around", "reflect"
)
ReplicationPad1D, ReplicationPad2D, ReplicationPad3D = _family(
    "ReplicationPad", _FixedPad, "A border that repeats the outermost elements of", "replicate"
)
CircularPad1D, CircularPad2D, CircularPad3D = _family(
    "CircularPad", _FixedPad, "A border from the opposite side of", "circular"
)
ConstantPad1d, ConstantPad2d, ConstantPad3d = ConstantPad1D, ConstantPad2D, ConstantPad3D
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = ReflectionPad1D, ReflectionPad2D, ReflectionPad3D
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = ReplicationPad1D, ReplicationPad2D, ReplicationPad3D
CircularPad1d, CircularPad2d, CircularPad3d = CircularPad1D, CircularPad2D, CircularPad3D

__all__ = [name for name in globals() if "Pad" in name and not name.startswith("_")]
