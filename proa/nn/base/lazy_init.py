"""`paddle.LazyGuard`: parameters whose numbers are drawn when they are first used; and the Bilinear initializer."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.aval import make_aval
from ...core.errors import value_error
from ...core.generator import default_generator
from ...core.locks import new_reentrant_lock
from ...core.place import Place
from ...eager.declare import public
from ...eager.parameter import Parameter
from ...eager.tensor import Tensor, tensor_from_data
from ..initializer import Assign, Constant, Dirac, Initializer


class _Guards(threading.local):
    depth = 0


_guards = _Guards()
_lock = new_reentrant_lock()


class LazyGuard:
    """A context in which layers get parameters without numbers: they take no memory until they are used.

    The numbers are drawn at the first use, or by `parameter.initialize()`; they are those that the parameter would have
    got at once. Loading a state dictionary fills parameters without drawing any.

    Examples:
        >>> with paddle.LazyGuard():
        ...     layer = paddle.nn.Linear(2, 3)
        >>> layer.weight.shape, layer(paddle.ones([1, 2])).shape
        (paddle.Size([2, 3]), paddle.Size([1, 3]))
    """

    def __enter__(self) -> LazyGuard:
        _guards.depth += 1
        return self

    def __exit__(self, *_: Any) -> None:
        _guards.depth -= 1


public()(LazyGuard)


def is_lazy() -> bool:
    """Whether this thread is inside a `paddle.LazyGuard`, where parameters get their numbers at first use.

    Examples:
        >>> from proa.nn.initializer.lazy_init import is_lazy
        >>> with paddle.LazyGuard():
        ...     is_lazy()
        True
        >>> is_lazy()
        False
    """
    return _guards.depth > 0


class LateParameter(Parameter):
    """A parameter without numbers. At the first look at its value it becomes an ordinary Parameter."""

    _draw: Callable[[], np.ndarray]

    def initialize(self) -> None:
        self._value  # noqa: B018

    def _is_initialized(self) -> bool:
        return False

    @property
    def _value(self) -> Any:  # type: ignore[override]
        with _lock:
            if type(self) is LateParameter:
                aval = self._aval
                drawn = tensor_from_data(self._draw(), aval.dtype, aval.place)
                self._value = drawn._value
        return Tensor._value.__get__(self)

    @_value.setter
    def _value(self, value: Any) -> None:
        """Numbers from elsewhere (`set_value`, `set_state_dict`): nothing has to be drawn any more."""
        self.__dict__.pop("_draw", None)
        self.__class__ = Parameter  # type: ignore[assignment]
        self._value = value


def make_late(
    parameter: Parameter, shape: tuple[int, ...], dtype: np.dtype, place: Place, initializer: Initializer
) -> Parameter:
    """Turns a new parameter, of any shape, into one of `shape` whose numbers `initializer` draws later."""
    state = default_generator.get_state()
    if not isinstance(initializer, (Assign, Constant, Dirac, Bilinear)):
        default_generator.draw()  # the place in the sequence that the numbers will come from

    def draw() -> np.ndarray:
        present = default_generator.get_state()
        default_generator.set_state(state)
        try:
            return initializer.draw(shape, dtype)
        finally:
            default_generator.set_state(present)

    parameter._aval = make_aval(shape, dtype, place)
    parameter.__dict__["_draw"] = draw
    parameter.__class__ = LateParameter
    return parameter


class Bilinear(Initializer):
    """Weights of a transposed convolution that enlarges by interpolation.

    Examples:
        >>> weights = paddle.nn.initializer.Bilinear().draw((1, 1, 2, 2), np.dtype("float32"))
        >>> weights.shape
        (1, 1, 2, 2)
    """

    def draw(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """The weights for a shape; ValueError where the kernel is not square.

        Examples:
            >>> paddle.nn.initializer.Bilinear().draw((2, 1, 4, 4), np.dtype("float32")).shape
            (2, 1, 4, 4)
        """
        if len(shape) != 4 or shape[2] != shape[3]:
            raise value_error("Bilinear", "the weight must have 4 dimensions with a square kernel", f"{list(shape)}")
        size = shape[3]
        factor = math.ceil(size / 2)
        centre = (2 * factor - 1 - factor % 2) / (2.0 * factor)
        numbers = np.arange(math.prod(shape))
        # Paddle divides without rounding to get the row.
        x, y = numbers % size, (numbers / max(size, 1)) % size
        values = (1 - np.abs(x / factor - centre)) * (1 - np.abs(y / factor - centre))
        return values.reshape(shape).astype(dtype)
