"""Layers on other devices and in other data types."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from ...core.dtype import is_differentiable, name_of, to_numpy_dtype
from ...core.place import parse_place
from ...eager.annotations import DeviceLike, DTypeLike
from ...eager.tensor import Tensor, alias
from ...eager.views import replace_value
from ...ir.recorder import recording_gradients
from ...ops.basic import cast_to


class Conversion:
    """The part of `Layer` that moves parameters and buffers."""

    _part_of = "Layer"
    _dtype: str
    sublayers: Callable[..., list[Any]]

    def to(
        self,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
        blocking: bool | None = None,
        non_blocking: bool | None = None,
    ) -> Self:
        """Moves parameters and buffers to a device, and floating ones to a data type; in place.

        Args:
            device: the device, as 'cpu' or 'gpu:0'; or a tensor whose device and data type are taken.
            dtype: the data type of floating parameters and buffers.
            blocking: accepted for compatibility.
            non_blocking: accepted for compatibility.

        Returns:
            This layer.

        Examples:
            >>> paddle.nn.Linear(2, 1).to("cpu", dtype="float64").weight.dtype
            paddle.float64
        """
        return self._to_impl(device, dtype, blocking, non_blocking)

    def _to_impl(
        self, device: Any = None, dtype: Any = None, blocking: Any = None, non_blocking: Any = None,
        include_sublayers: bool = True, floating_only: bool = False,
    ) -> Self:  # fmt: skip
        """What `to` does: libraries put another `to` before it."""
        if isinstance(device, Tensor):
            device, dtype = device.place, device.dtype
        place = None if device is None else parse_place(device)
        kind = None if dtype is None else to_numpy_dtype(dtype)
        self._convert(place, kind, (), include_sublayers)
        return self

    def _convert(
        self, place: Any, kind: np.dtype | None, excluded: tuple[type, ...], include_sublayers: bool = True
    ) -> None:
        with recording_gradients(False):
            for layer in self.sublayers(include_self=True) if include_sublayers else [self]:
                if excluded and isinstance(layer, excluded):
                    continue
                if kind is not None:
                    layer._dtype = name_of(kind)
                for registry in ("_parameters", "_buffers"):
                    for tensor in layer.__dict__[registry].values():
                        if tensor is not None:
                            _convert_tensor(tensor, place, kind)

    def astype(self, dtype: DTypeLike | None = None) -> Self:
        """Floating parameters and buffers in another data type; in place.

        Args:
            dtype: the data type.

        Returns:
            This layer.

        Examples:
            >>> paddle.nn.Linear(2, 1).astype("float16").weight.dtype
            paddle.float16
        """
        self._convert(None, to_numpy_dtype(dtype), ())
        return self

    def type(self, dst_type: DTypeLike) -> Self:
        """`astype`, under PyTorch's name.

        Examples:
            >>> paddle.nn.Linear(2, 1).type("float64").weight.dtype
            paddle.float64
        """
        return self.astype(dst_type)

    def float(self, excluded_layers: builtins.type | Sequence[builtins.type] | None = None) -> Self:
        """Floating parameters and buffers in float32; in place.

        Args:
            excluded_layers: a class of layers, or several, that stay as they are.

        Returns:
            This layer.

        Examples:
            >>> paddle.nn.Linear(2, 1).double().float().weight.dtype
            paddle.float32
        """
        self._convert(None, to_numpy_dtype("float32"), _types(excluded_layers))
        return self

    def double(self) -> Self:
        """Floating parameters and buffers in float64; in place.

        Examples:
            >>> paddle.nn.Linear(2, 1).double().weight.dtype
            paddle.float64
        """
        return self.astype("float64")

    def half(self) -> Self:
        """Floating parameters and buffers in float16; in place.

        Examples:
            >>> paddle.nn.Linear(2, 1).half().weight.dtype
            paddle.float16
        """
        return self.astype("float16")

    def float16(self, excluded_layers: builtins.type | Sequence[builtins.type] | None = None) -> Self:
        """Floating parameters and buffers in float16; in place.

        Args:
            excluded_layers: a class of layers, or several, that stay as they are.

        Returns:
            This layer.

        Examples:
            >>> model = paddle.nn.Sequential(paddle.nn.Linear(2, 2), paddle.nn.LayerNorm(2))
            >>> _ = model.float16(excluded_layers=paddle.nn.LayerNorm)
            >>> model[0].weight.dtype, model[1].weight.dtype
            (paddle.float16, paddle.float32)
        """
        self._convert(None, to_numpy_dtype("float16"), _types(excluded_layers))
        return self

    def bfloat16(self, excluded_layers: builtins.type | Sequence[builtins.type] | None = None) -> Self:
        """Floating parameters and buffers in bfloat16; in place.

        Args:
            excluded_layers: a class of layers, or several, that stay as they are.

        Returns:
            This layer.

        Examples:
            >>> paddle.nn.Linear(2, 1).bfloat16().weight.dtype
            paddle.bfloat16
        """
        self._convert(None, to_numpy_dtype("bfloat16"), _types(excluded_layers))
        return self

    def cpu(self) -> Self:
        """Parameters and buffers in the CPU's memory; in place.

        Examples:
            >>> paddle.nn.Linear(2, 1).cpu().weight.place
            Place(cpu)
        """
        return self.to("cpu")

    def cuda(self, device: DeviceLike | None = None) -> Self:
        """Parameters and buffers on a GPU; in place.

        Args:
            device: its number or name; the first one if left out.

        Examples:
            >>> layer = paddle.nn.Linear(2, 1)
            >>> if paddle.device.cuda.device_count():
            ...     _ = layer.cuda(0)
            >>> layer.weight.place.is_gpu_place() == bool(paddle.device.cuda.device_count())
            True
        """
        return self.to("gpu" if device is None else f"gpu:{device}" if isinstance(device, int) else device)


def _types(excluded: Any) -> tuple[type, ...]:
    if excluded is None:
        return ()
    return tuple(excluded) if isinstance(excluded, (list, tuple)) else (excluded,)


def _convert_tensor(tensor: Tensor, place: Any, kind: np.dtype | None) -> None:
    changed = alias(tensor)
    if kind is not None and is_differentiable(tensor._aval.dtype) and kind != tensor._aval.dtype:
        changed = cast_to(changed, kind)
    if place is not None:
        changed = changed._to_place(place)
    if changed._aval is not tensor._aval:
        replace_value(tensor, changed)
        if tensor._grad is not None:
            _convert_tensor(tensor._grad, place, kind)
