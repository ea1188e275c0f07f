"""Padding layers: a border of a constant, of zeros, or of the tensor's own elements."""

from __future__ import annotations

import inspect
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


_ARGUMENTS = {
    "padding": "how much is added on each side: one number, or a list that begins with both ends of the last axis",
    "mode": "'constant', 'reflect', 'replicate' or 'circular'",
    "value": "the number of a constant border",
    "data_format": "where the channels are",
    "name": "a label; it changes nothing",
}


def _documented(stem: str, base: type, count: int, doc: str, shown: str) -> str:
    """The docstring of one class; its example pads the last axis of 1, 2, 3."""
    taken = "\n        ".join(f"{name}: {_ARGUMENTS[name]}." for name in inspect.signature(base).parameters)
    value = ", value=9.0" if base is _ConstantPad else ""
    return f"""{doc} {_AXES[count]}.

    Args:
        {taken}

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0, 3.0]).reshape({[1] * (count + 1) + [3]})
        >>> paddle.nn.{stem}{count}D({[2, 1] + [0, 0] * (count - 1)}{value})(x).flatten().tolist()
        {shown}
    """


def _family(stem: str, base: type, doc: str, shown: str, mode: str = "") -> list[Any]:
    """The classes of one kind for one, two and three axes."""
    made = []
    for count in (1, 2, 3):
        documented = _documented(stem, base, count, doc, shown)
        members = {"_num_spatial": count, "_fixed_mode": mode, "__doc__": documented, "__module__": __name__}
        made.append(defaults.data_format(_FORMATS[count])(type(f"{stem}{count}D", (base,), members)))
    return made


Pad1D, Pad2D, Pad3D = _family("Pad", _AnyPad, "A border of any mode around", "[0.0, 0.0, 1.0, 2.0, 3.0, 0.0]")
ZeroPad1D, ZeroPad2D, ZeroPad3D = _family(
    "ZeroPad", _FixedPad, "A border of zeros around", "[0.0, 0.0, 1.0, 2.0, 3.0, 0.0]", "constant"
)
ConstantPad1D, ConstantPad2D, ConstantPad3D = _family(
    "ConstantPad", _ConstantPad, "A border of one number around", "[9.0, 9.0, 1.0, 2.0, 3.0, 9.0]"
)
ReflectionPad1D, ReflectionPad2D, ReflectionPad3D = _family(
    "ReflectionPad", _FixedPad, "A mirrored border around", "[3.0, 2.0, 1.0, 2.0, 3.0, 2.0]", "reflect"
)
ReplicationPad1D, ReplicationPad2D, ReplicationPad3D = _family(
    "ReplicationPad",
    _FixedPad,
    "A border that repeats the outermost elements of",
    "[1.0, 1.0, 1.0, 2.0, 3.0, 3.0]",
    "replicate",
)
CircularPad1D, CircularPad2D, CircularPad3D = _family(
    "CircularPad", _FixedPad, "A border from the opposite side of", "[2.0, 3.0, 1.0, 2.0, 3.0, 1.0]", "circular"
)
ConstantPad1d, ConstantPad2d, ConstantPad3d = ConstantPad1D, ConstantPad2D, ConstantPad3D
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = ReflectionPad1D, ReflectionPad2D, ReflectionPad3D
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = ReplicationPad1D, ReplicationPad2D, ReplicationPad3D
CircularPad1d, CircularPad2d, CircularPad3d = CircularPad1D, CircularPad2D, CircularPad3D

__all__ = [name for name in globals() if "Pad" in name and not name.startswith("_")]
