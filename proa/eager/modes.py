"""The switches of the tape: `no_grad`, `enable_grad`, `set_grad_enabled`, `inference_mode`.

Each is a context manager and a decorator, for the calling thread alone. A decorated generator
function runs under the mode between its yields; its caller does not.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from ..core.errors import type_error
from ..ir.recorder import LOCAL, recording_gradients, switch_gradients
from .declare import PUBLIC, public

Function = TypeVar("Function", bound=Callable[..., Any])


class GradMode:
    """Records gradients or does not, inside a `with` block or a decorated function."""

    def __init__(self, mode: bool) -> None:
        self._mode = mode
        self._before: list[bool] = []  # a stack: one object may be entered again inside itself

    def __enter__(self) -> None:
        self._before.append(switch_gradients(self._mode))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        switch_gradients(self._before.pop())

    def __call__(self, function: Function) -> Function:
        return _decorate(function, self._mode)


class _Fixed(GradMode):
    """A mode with a fixed direction; `@no_grad` works as well as `@no_grad()`."""

    mode: bool

    @overload
    def __new__(cls, function: None = None) -> Self: ...
    @overload
    def __new__(cls, function: Function) -> Function: ...
    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        return super().__new__(cls) if function is None else _decorate(function, cls.mode)

    def __init__(self, function: None = None) -> None:
        super().__init__(self.mode)


class no_grad(_Fixed):
    """Operations are not recorded for backward passes; their results have `stop_gradient` set. A context manager or a
    decorator.

    Args:
        function: the function, where it is a decorator.

    Examples:
        >>> x = paddle.to_tensor([1.0], stop_gradient=False)
        >>> with paddle.no_grad():
        ...     y = x * 2
        >>> y.stop_gradient
        True
    """

    mode = False


class enable_grad(_Fixed):
    """Operations are recorded for backward passes, also inside `no_grad`: a context manager or a decorator.

    Args:
        function: the function, where it is a decorator.

    Examples:
        >>> x = paddle.to_tensor([1.0], stop_gradient=False)
        >>> with paddle.no_grad(), paddle.enable_grad():
        ...     y = x * 2
        >>> y.stop_gradient
        False
    """

    mode = True


class set_grad_enabled(GradMode):
    """Says at once whether operations are recorded for backward passes; as a context manager, for the block.

    Args:
        mode: whether they are.

    Examples:
        >>> with paddle.set_grad_enabled(False):
        ...     paddle.is_grad_enabled()
        False
        >>> paddle.is_grad_enabled()
        True
    """

    def __init__(self, mode: bool) -> None:
        super().__init__(bool(mode))
        self._before.append(switch_gradients(self._mode))
        self._is_entered = False

    def __enter__(self) -> None:
        if self._is_entered:
            super().__enter__()
        self._is_entered = True
        switch_gradients(self._mode)

    def __call__(self, function: Function) -> Function:
        # Making the decorator has switched already; only the function's body was meant.
        switch_gradients(self._before[0])
        return _decorate(function, self._mode)


class inference_mode(GradMode):
    """No gradients are wanted: as `no_grad`, by PyTorch's name.

    Args:
        mode: False changes nothing; a function is decorated.

    Examples:
        >>> x = paddle.to_tensor([1.0], stop_gradient=False)
        >>> with paddle.inference_mode():
        ...     y = x * 2
        >>> y.stop_gradient
        True
    """

    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        return _decorate(mode, False) if callable(mode) else super().__new__(cls)

    def __init__(self, mode: bool = True) -> None:
        super().__init__(False)
        self._is_on = bool(mode)

    def __enter__(self) -> None:
        super().__enter__()
        if not self._is_on:
            switch_gradients(self._before[-1])

    def __call__(self, function: Function) -> Function:
        return super().__call__(function) if self._is_on else function


@public()
def is_grad_enabled() -> bool:
    """Whether operations of this thread are recorded for backward passes.

    Examples:
        >>> with paddle.no_grad():
        ...     paddle.is_grad_enabled()
        False
    """
    return LOCAL.grad_enabled


for _mode in (no_grad, enable_grad, set_grad_enabled, inference_mode):
    PUBLIC[_mode.__name__] = _mode
for _name in ("no_grad", "enable_grad", "set_grad_enabled", "is_grad_enabled"):
    PUBLIC[f"autograd.{_name}"] = PUBLIC[_name]


def _decorate(function: Any, mode: bool) -> Any:
    if not callable(function):
        raise type_error("no_grad", "only a function can be decorated", type(function).__name__)
    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def generate(*arguments: Any, **options: Any) -> Any:
            return _switched(function(*arguments, **options), mode)

        return generate
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def wait(*arguments: Any, **options: Any) -> Any:
            # Other tasks of this thread run while this one waits: they must not see its mode.
            return await _Steps(function(*arguments, **options), mode)

        return wait

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        with recording_gradients(mode):
            return function(*arguments, **options)

    return call


def _switched(steps: Any, mode: bool) -> Generator[Any, Any, Any]:
    """Runs a generator (or coroutine) under a mode; at every stop the caller has its own again."""
    advance: Callable[[], Any] = functools.partial(steps.send, None)
    while True:
        try:
            with recording_gradients(mode):
                item = advance()
        except StopIteration as stop:
            return stop.value
        try:
            sent = yield item
        except GeneratorExit:
            with recording_gradients(mode):
                steps.close()
            raise
        except BaseException as error:
            advance = functools.partial(steps.throw, error)
        else:
            advance = functools.partial(steps.send, sent)


class _Steps:
    """Makes a coroutine's steps awaitable one by one."""

    def __init__(self, coroutine: Any, mode: bool) -> None:
        self._coroutine = coroutine
        self._mode = mode

    def __await__(self) -> Generator[Any, Any, Any]:
        return _switched(self._coroutine, self._mode)
