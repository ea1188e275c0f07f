"""`to_static` and what goes with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MethodType, ModuleType
from typing import Any

from ..core.errors import type_error
from ..nn.layer import Layer
from .conversion import ignore_modules
from .static_function import StaticFunction

_OPTIONS = frozenset({"full_graph", "max_programs", "property"})


def to_static(
    function: Any = None,
    input_spec: Sequence[Any] | None = None,
    build_strategy: Any = None,
    backend: str = "CINN",
    **kwargs: Any,
) -> Any:
    """Captures a function, method or Layer as a graph, once for each kind of call.

    Decorates functions and methods, with arguments or without; a Layer gets a `forward` that is captured and is returned
    itself. Sizes that are None in `input_spec` may change from call to call: calls then share at most `max_programs` (8)
    executables. With `full_graph=True`, code that cannot become one graph is an error that names the line; by default it
    runs eagerly, with one warning. Python values that the code reads (attributes, globals, entries of containers) are looked
    at again at each call: where one has changed, the code is captured again. `build_strategy` and `backend` are accepted;
    XLA decides by itself.

    Args:
        function: a function, method or Layer; None: a decorator is given.
        input_spec: an `InputSpec` for each input, or None.
        build_strategy: taken; it changes nothing.
        backend: taken; it changes nothing.
        **kwargs: `full_graph` (False), `max_programs` (8).

    Examples:
        >>> @paddle.jit.to_static
        ... def double(x):
        ...     return x * 2
        >>> double(paddle.to_tensor([1.0, 2.0])).tolist()
        [2.0, 4.0]
    """
    unknown = sorted(set(kwargs) - _OPTIONS)
    if unknown:
        raise TypeError(f"(to_static) unknown option {', '.join(unknown)}; there are {', '.join(sorted(_OPTIONS))}.")
    full_graph = bool(kwargs.get("full_graph", False))
    max_programs = int(kwargs.get("max_programs", 8))
    if max_programs < 1:
        raise ValueError(f"(to_static) max_programs must be positive; received {max_programs}.")

    def decorate(target: Any) -> Any:
        options = (input_spec, build_strategy, backend, full_graph, max_programs)
        if isinstance(target, Layer):
            forward = target.__dict__.get("forward", type(target).forward)
            if isinstance(forward, StaticFunction):
                forward = forward.function
            plain = forward.__func__ if isinstance(forward, MethodType) else forward
            target.__dict__["forward"] = StaticFunction(plain, *options, target)
            return target
        if isinstance(target, StaticFunction):
            return StaticFunction(target.function, *options)
        if isinstance(target, (staticmethod, classmethod)):
            return type(target)(decorate(target.__func__))
        if isinstance(target, type) or not callable(target):
            raise type_error(
                "to_static", "a function, a method or a Layer instance is needed",
                f"{target.__name__} (a class)" if isinstance(target, type) else type(target).__name__,
            )  # fmt: skip
        return StaticFunction(target, *options)

    return decorate if function is None else decorate(function)


def not_to_static(func: Callable[..., Any] | None = None) -> Any:
    """Marks a function that is called as it is, without conversion, when code that calls it is captured.

    Examples:
        >>> @paddle.jit.not_to_static
        ... def as_it_is(x):
        ...     return x + 1
        >>> as_it_is(paddle.to_tensor([1.0])).tolist()
        [2.0]
    """
    if func is None:
        return not_to_static
    target = func.__func__ if isinstance(func, MethodType) else func
    target._jst_not_to_static = True
    return func


def ignore_module(modules: Sequence[ModuleType]) -> None:
    """Functions of these modules are called as they are, without conversion.

    Args:
        modules: a list of modules.

    Examples:
        >>> import statistics
        >>> paddle.jit.ignore_module([statistics])
        >>> paddle.jit.to_static(lambda x: x * statistics.mean([1, 3]))(paddle.ones([2])).tolist()
        [2.0, 2.0]
    """
    ignore_modules(modules)
