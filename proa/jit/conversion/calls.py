"""Calls made by converted code: builtins that know tensors of the graph, and helpers converted in their turn."""

from __future__ import annotations

import builtins
import functools
import inspect
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from ...core.dtype import get_default_dtype
from ...core.symbols import SymbolicSize, is_symbolic, maximum, minimum, note_loss, number_from, whole_part
from ...eager.tensor import Tensor, alias
from ...graph.control import is_unknown
from ...nn.layer import Layer
from ...ops.basic import cast, reshape
from ...ops.create.creation import to_tensor
from ...ops.math import extremes
from ...ops.shape.joining import stack
from .convert import SEEN, converted, leave_alone
from .iterables import Enumerated, GraphIterable, Mapped, Rows, TensorRange, Zipped, as_graph_iterable
from .looks import get_attribute, has_attribute, seen_whole, variables
from .reads import OPEN

# Modules of the standard library whose functions look at all attributes of what they are given.
_LOOK_AT_ALL = frozenset({"copy", "dataclasses", "json"})


def call(function: Any) -> Any:
    """What to call instead of `function`."""
    kind = function.__class__
    if kind is FunctionType:
        return seen_whole(function) if function.__module__ in _LOOK_AT_ALL else converted(function)
    if kind is MethodType:
        target = function.__func__
        if isinstance(target, FunctionType) and not leave_alone(target):
            if target is Layer.__call__:
                return call(function.__self__)
            return MethodType(converted(target), function.__self__)
        return function
    if isinstance(function, Layer):
        return functools.partial(_call_layer, function)
    if kind is functools.partial:
        if OPEN.reads is not None:
            OPEN.reads.know_given(function)
        return functools.partial(call(function.func), *function.args, **function.keywords)
    own = inspect.getattr_static(kind, "__call__", None)
    if isinstance(own, FunctionType) and not leave_alone(own):
        return MethodType(converted(own), function)  # an object of the user's that can be called
    try:
        known = _BUILTINS.get(function)
    except TypeError:
        return function
    if known is None and kind in _NATIVE and function not in _KEEP_SIZES and not _is_method_of_container(function):
        return functools.partial(_call_native, function)
    return function if known is None else known


_NATIVE = (BuiltinFunctionType, type(np.add), type(np.linspace))
# What does not look at the digits of a number, or asks it to round itself.
_KEEP_SIZES = frozenset({
    isinstance, issubclass, callable, id, hash, repr, format, getattr, setattr, hasattr, iter, next, vars, sorted, sum,
    divmod, abs, round, pow, math.ceil, math.floor, math.trunc, math.prod,
})  # fmt: skip


def _is_method_of_container(function: Any) -> bool:
    """list.append and the like keep what they are given."""
    return isinstance(getattr(function, "__self__", None), (list, dict, set, str, tuple))


def _call_native(function: Any, *arguments: Any, **options: Any) -> Any:
    """A function that is not written in Python reads numbers as they are: what it gives holds for these sizes alone."""
    if any(map(is_symbolic, arguments)) or any(map(is_symbolic, options.values())):
        arguments = tuple(note_loss(value) if is_symbolic(value) else value for value in arguments)
        options = {name: note_loss(value) if is_symbolic(value) else value for name, value in options.items()}
    return function(*arguments, **options)


def _call_layer(layer: Layer, *arguments: Any, **options: Any) -> Any:
    if SEEN.layers is not None:
        SEEN.layers.append(layer)
    if OPEN.reads is not None:
        OPEN.reads.know_layer(layer, layer.full_name())
    with converted_forwards(layer):
        return layer(*arguments, **options)


@contextmanager
def converted_forwards(layer: Layer) -> Iterator[None]:
    """Inside, the layer and those in it run their converted `forward`."""
    changed: list[Any] = []
    for each in layer.sublayers(include_self=True):
        own = each.__dict__
        forward = type(each).forward
        if "forward" in own or not isinstance(forward, FunctionType) or leave_alone(forward):
            continue
        own["forward"] = MethodType(converted(forward), each)
        changed.append(own)
    try:
        yield
    finally:
        for own in changed:
            own.pop("forward", None)


# ---- builtins --------------------------------------------------------------------------------------------------------


def _any_unknown(values: Any) -> bool:
    return any(is_unknown(value) for value in values)


def _range(*arguments: Any) -> Any:
    # As many rounds as a dimension of unknown size has elements: a loop of the graph.
    if _any_unknown(arguments) or any(map(is_symbolic, arguments)):
        return TensorRange(*arguments)
    return builtins.range(*arguments)


def _enumerate(iterable: Any, start: Any = 0) -> Any:
    graph = as_graph_iterable(iterable)
    return builtins.enumerate(iterable, start) if graph is None else Enumerated(graph, start)


def _zip(*iterables: Any, strict: bool = False) -> Any:
    graphs = [as_graph_iterable(iterable) for iterable in iterables]
    if all(graph is None for graph in graphs):
        return builtins.zip(*iterables, strict=strict)
    return Zipped([graph or _rows(iterable) for graph, iterable in builtins.zip(graphs, iterables, strict=True)])


def _rows(iterable: Any) -> GraphIterable:
    if isinstance(iterable, Tensor):
        return Rows(iterable)
    items = list(iterable)
    return Rows(stack([item if isinstance(item, Tensor) else to_tensor(item) for item in items]))


def _map(function: Any, *iterables: Any) -> Any:
    graph = as_graph_iterable(iterables[0]) if len(iterables) == 1 else None
    return builtins.map(call(function), *iterables) if graph is None else Mapped(call(function), graph)


def _print(*values: Any, **options: Any) -> None:
    if _any_unknown(values) and options.get("file") is None:
        from .effects import graph_print

        graph_print(*values, **options)
    else:
        builtins.print(*values, **options)


def _number(kind: Any, dtype: str) -> Callable[..., Any]:
    def convert_number(*arguments: Any) -> Any:
        if len(arguments) == 1 and is_unknown(arguments[0]):
            value = alias(arguments[0])  # a Python number has no gradient
            return cast(reshape(value, []) if value._aval.shape else value, dtype)
        if len(arguments) == 1 and is_symbolic(arguments[0]):
            if kind is int:
                return whole_part(arguments[0])
            if kind is float and isinstance(arguments[0], SymbolicSize):
                return arguments[0] * 1.0
            return arguments[0] if kind is float else builtins.bool(arguments[0])
        return kind(*arguments)

    return convert_number


def _float(*arguments: Any) -> Any:
    return _number(float, str(get_default_dtype()))(*arguments)


def _len(value: Any) -> Any:
    return value.shape[0] if isinstance(value, Tensor) and value._aval.symbolic and value.ndim else builtins.len(value)


def _sqrt(value: Any) -> Any:
    return number_from("sqrt", math.sqrt, value)


def _extreme(builtin: Any, name: str) -> Callable[..., Any]:
    def pick(*values: Any, **options: Any) -> Any:
        items = list(values[0]) if len(values) == 1 and isinstance(values[0], (list, tuple)) else list(values)
        if not options and any(map(is_symbolic, items)) and all(isinstance(item, int) for item in items):
            return functools.reduce(maximum if builtin is max else minimum, items)
        if options or not _any_unknown(items) or (len(values) == 1 and isinstance(values[0], Tensor)):
            return builtin(*values, **options)
        both = getattr(extremes, name)
        result = items[0]
        for item in items[1:]:
            result = both(*_as_tensors(result, item))
        return result

    return pick


def _as_tensors(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    from .merge import as_tensor, common_dtype

    dtype = common_dtype(a, b)
    return as_tensor(a, dtype, ()), as_tensor(b, dtype, ())


def _combined(builtin: Any, name: str) -> Callable[..., Any]:
    def combine(values: Any) -> Any:
        if isinstance(values, (Tensor, GraphIterable)):
            return builtin(values)
        from . import runtime

        items = list(values)
        if not _any_unknown(items):
            return builtin(items)
        return getattr(runtime, name)(*[lambda item=item: item for item in items])

    return combine


_BUILTINS: dict[Any, Any] = {
    range: _range, enumerate: _enumerate, zip: _zip, map: _map, print: _print,
    int: _number(int, "int64"), bool: _number(bool, "bool"), float: _float,
    getattr: get_attribute, hasattr: has_attribute, vars: variables,
    len: _len, math.sqrt: _sqrt,
    max: _extreme(max, "maximum"), min: _extreme(min, "minimum"), any: _combined(any, "or_"), all: _combined(all, "and_"),
}  # fmt: skip
