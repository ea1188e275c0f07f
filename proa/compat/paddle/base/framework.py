"""`paddle.base.framework`: modes, places and flags as inner code asks for them."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ....amp.casting import current
from ....core import flags
from ....core.dtype import DType, dtype_of, to_numpy_dtype
from ....core.place import Place, parse_place
from ....device.select import set_device
from ....eager.modes import is_grad_enabled, set_grad_enabled
from ....eager.parameter import Parameter
from ....eager.tensor import Tensor, tensor_from_data
from ....ir.recorder import LOCAL
from ....ops.create.top_level import in_dynamic_mode
from ....static.block import Block, Operator
from ....static.mode import switch_main_program, switch_startup_program
from .core import AmpLevel

__all__ = ["Block", "Operator", "Parameter", "switch_main_program", "switch_startup_program"]


def in_dynamic_or_pir_mode() -> bool:
    """Both modes take the same functions here."""
    return True


def in_pir_mode() -> bool:
    """Whether a static program is being built."""
    return not in_dynamic_mode()


in_pir_executor_mode = in_pir_mode


def use_pir_api() -> bool:
    """Whether programs are of the newer kind; here there is one kind."""
    return True


def in_cinn_mode() -> bool:
    return False


def _current_expected_place() -> Place:
    """Where new tensors are made."""
    return LOCAL.place


_current_expected_place_ = _current_expected_place


def _set_expected_place(place: Any) -> None:
    set_device(parse_place(place))


_set_dygraph_tracer_expected_place = _set_expected_place


def _get_paddle_place(place: Any) -> Any:
    """The place that a string stands for; a place and None as they are."""
    return place if place is None or isinstance(place, Place) else parse_place(place)


def _get_paddle_place_list(places: Any) -> list[Any]:
    return [_get_paddle_place(place) for place in places]


class Tracer:
    """What records operations in dynamic mode, as far as programs look at it."""

    @property
    def _has_grad(self) -> bool:
        return is_grad_enabled()

    @_has_grad.setter
    def _has_grad(self, on: bool) -> None:
        set_grad_enabled(on)

    _train_mode = True

    @property
    def _expected_place(self) -> Place:
        return LOCAL.place

    @property
    def _amp_level(self) -> Any:
        found = current()
        return AmpLevel.O0 if found is None else AmpLevel[found.level]

    @property
    def _amp_dtype(self) -> str:
        found = current()
        return "float32" if found is None else found.dtype


def _autocast() -> Any:
    return current()


_tracer = Tracer()


def _dygraph_tracer() -> Tracer | None:
    """The recorder of dynamic mode; None while a static program is built."""
    return _tracer if in_dynamic_mode() else None


def convert_np_dtype_to_dtype_(np_dtype: Any) -> DType:
    """The data type that anything naming one stands for."""
    return dtype_of(to_numpy_dtype(np_dtype))


def dtype_to_str(dtype: Any) -> str:
    return dtype_of(to_numpy_dtype(dtype)).name


def grad_var_name(var_name: str) -> str:
    return f"{var_name}@GRAD"


class _Flags:
    """The flags, as a dictionary that can be written."""

    def __getitem__(self, name: str) -> Any:
        return flags.get_flags(name)[name]

    def __setitem__(self, name: str, value: Any) -> None:
        flags.set_flags({name: value})

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except (KeyError, ValueError):
            return default

    def __contains__(self, name: str) -> bool:
        return self.get(name, self) is not self


def _global_flags() -> _Flags:
    return _Flags()


def _only(where: str, wanted: Callable[[], bool], mode: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            if not wanted():
                raise RuntimeError(f"({function.__name__}) works in {mode} mode only; call paddle.{where}() first.")
            return function(*arguments, **named)

        return call

    return decorate


dygraph_only = non_static_only = _only("disable_static", in_dynamic_mode, "dynamic")
static_only = _only("enable_static", in_pir_mode, "static")


def fake_interface_only(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that exists in the other mode only."""
    return static_only(function)


@contextlib.contextmanager
def _stride_in_no_check_dy2st_diff() -> Iterator[None]:
    """Views are the same in both modes: there is no difference to ignore."""
    yield


@contextlib.contextmanager
def _dygraph_guard(tracer: Any) -> Iterator[None]:
    yield


_dygraph_place_guard = _dygraph_guard


def _create_tensor(
    type: Any = None, name: str | None = None, shape: Any = None, dtype: Any = None, persistable: Any = None, **kwargs: Any
) -> Tensor:  # fmt: skip
    """A tensor of that shape, to be given its value later."""
    tensor = tensor_from_data(np.zeros(shape or [0], to_numpy_dtype(dtype or "float32")))
    if name:
        tensor.name = name
    tensor.persistable = bool(persistable)
    return tensor
