"""What an attribute may be: read from the annotations of the operation's kernel.

A shape rule that is handed a text where it expects numbers may do anything with it (a product of a size and a text is
a very long text), so attributes of a file are checked before any rule sees them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ...graph.deferred import Deferred
from ...ir.block import Block
from ...ir.operation import Operation

_MOST_NESTING = 4


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _is_integer(value: Any) -> bool:
    return value is None or isinstance(value, int)


def _all_integers(value: Any, depth: int = 1) -> bool:
    """Integers, or tuples of them up to a depth."""
    if isinstance(value, tuple):
        return depth > 0 and all(_all_integers(part, depth - 1) for part in value)
    return _is_integer(value)


def _is_spec(value: Any) -> bool:
    return isinstance(value, tuple) and all(part == "position" or _all_integers(part) for part in value)


def _is_plain(value: Any, depth: int = _MOST_NESTING) -> bool:
    if isinstance(value, tuple):
        return depth > 0 and all(_is_plain(part, depth - 1) for part in value)
    return value is None or isinstance(value, (int, float, complex, str, np.dtype))


_KINDS: dict[str, Callable[[Any], bool]] = {
    "int": _is_integer,
    "int | None": _is_integer,
    "bool": _is_integer,
    "float": _is_number,
    "str": lambda value: value is None or isinstance(value, str),
    "str | float": lambda value: isinstance(value, str) or _is_number(value),
    "np.dtype": lambda value: isinstance(value, np.dtype),
    "Deferred": lambda value: isinstance(value, Deferred),
    "Block": lambda value: isinstance(value, Block),
    "tuple[int, ...]": _all_integers,
    "Sizes": _all_integers,
    "Shape": _all_integers,
    "Pairs": lambda value: _all_integers(value, 2),
    "Axes": lambda value: _all_integers(value, 2),
    "Ranges": lambda value: _all_integers(value, 3),
    "Spec": _is_spec,
}


@functools.cache
def _annotations(operation: Operation) -> tuple[str, ...] | None:
    """The annotations of the attributes, in order; None where the kernel does not say."""
    try:
        parameters = list(inspect.signature(operation.kernel).parameters.values())[1:]
    except (TypeError, ValueError):
        return None
    first = 1 if operation.variadic else len(operation.operand_names)
    return tuple(str(parameter.annotation) for parameter in parameters[first:])


def attribute_count(operation: Operation) -> int | None:
    """How many attributes the kernel takes; None where it does not say."""
    annotations = _annotations(operation)
    return None if annotations is None else len(annotations)


def unfit_attribute(operation: Operation, attributes: tuple[Any, ...]) -> int | None:
    """The position of an attribute that is not what the kernel says it takes."""
    annotations = _annotations(operation)
    if annotations is None:
        return None
    if len(attributes) > len(annotations):
        return len(annotations)
    for position, (value, kind) in enumerate(zip(attributes, annotations, strict=False)):
        if not _KINDS.get(kind, _is_plain)(value):
            return position
    return None
