"""Attributes as dictionary keys.

For a dictionary 1, 1.0 and True are one key, 0.0 and -0.0 too, and a NaN is never found again. Programs are told apart by
the attributes of their operations, so keys made of attributes differ where kernels can tell the difference.

The annotation of a kernel's parameter says what an attribute is. One that is declared `int` or `float` is brought to that
type when the call is bound; then only zeros and NaN among floats need a key that is not the value itself. Where a `bool` is
declared, 1 means True: it may find the program of True, and is brought to its type where a program is new. What is declared
as text, data type or integers in tuples is its own key (see `proa/ops/arguments.py`); everything else is looked through
(`attribute_key`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import copysign
from typing import Any, cast

import numpy as np

from ..core.errors import type_error
from .live import LiveNumber, frozen

# Stand in keys for types, so that no attribute can look like a key that was made here.
_BOOL, _FLOAT, _COMPLEX, _NAN = (cast(Any, object()) for _ in range(4))
# Declared kinds whose values are keys by themselves.
_PLAIN = frozenset(
    {
        "int", "bool", "str", "np.dtype", "dtype", "Block", "tuple[int, ...]", "Sizes", "Shape", "Pairs", "Axes",
        "Ranges", "Spec",
    }
)  # fmt: skip
Identify = Callable[..., tuple[tuple[Any, ...], tuple[Any, ...]]]


def attribute_key(value: Any) -> Any:
    """A key that differs where types or signs of zero differ, inside tuples too; all NaN have the same."""
    kind = value.__class__
    if kind is int or kind is str:
        return value
    if kind is tuple:
        return tuple([attribute_key(part) for part in value])
    if kind is bool:
        return (_BOOL, value)
    if isinstance(value, float):
        return (_FLOAT, kind, value if value else copysign(1.0, value), not value) if value == value else _NAN
    if isinstance(value, complex):
        return (_COMPLEX, kind, attribute_key(float(value.real)), attribute_key(float(value.imag)))
    return value


def _as_int(value: Any, where: str, name: str) -> Any:
    """An attribute declared `int`: a float would be taken for the integer that it is equal to."""
    if isinstance(value, (float, complex, np.inexact)):
        raise type_error(where, f"{name} must be an integer", f"{name}: {value!r}")
    return int(cast(Any, value)) if isinstance(value, (bool, np.integer, np.bool_)) else value


def _as_bool(value: Any) -> Any:
    if value.__class__ is bool or not isinstance(value, (int, float, np.number, np.bool_)):
        return value
    return bool(cast(Any, value))


def _as_float(value: Any, where: str, name: str) -> float:
    if isinstance(value, LiveNumber):
        return float(frozen(value, f"the attribute {name} of {where}"))
    if not isinstance(value, (int, float, np.number, np.bool_)):
        raise type_error(where, f"{name} must be a number", f"{name}: {value!r}")
    return float(cast(Any, value))


SCOPE: dict[str, Any] = {
    "as_int": _as_int, "as_bool": _as_bool, "as_float": _as_float, "attribute_key": attribute_key,
}  # fmt: skip


def bound_source(name: str, kind: str, where: str) -> str | None:
    """Source that brings the attribute `name` to the type it is declared as; None where nothing is to be done."""
    if kind == "int":
        return f"if {name}.__class__ is not int: {name} = as_int({name}, {where!r}, {name!r})"
    if kind == "float":
        return f"if {name}.__class__ is not float: {name} = as_float({name}, {where!r}, {name!r})"
    return None


def value_source(name: str, kind: str) -> str:
    """Source of an attribute that has been bound, for a program that is new."""
    return f"as_bool({name})" if kind == "bool" else name


def key_source(name: str, kind: str) -> str:
    """Source of the key of an attribute that has been bound."""
    if kind == "float":  # only zeros and NaN need more than themselves
        return f"({name} if {name} * {name} > 0.0 else attribute_key({name}))"
    return name if kind in _PLAIN else f"attribute_key({name})"


def make_identify(where: str, names: Sequence[str], kinds: Sequence[str]) -> Identify:
    """A function of an operation's attributes: the attributes as declared, and their keys."""
    lines = [f"def identify({', '.join(names)}):"]
    sources = [bound_source(name, kind, where) for name, kind in zip(names, kinds, strict=True)]
    lines += [f"    {source}" for source in sources if source is not None]
    keys = "".join(f"{key_source(name, kind)}, " for name, kind in zip(names, kinds, strict=True))
    values = "".join(f"{value_source(name, kind)}, " for name, kind in zip(names, kinds, strict=True))
    lines.append(f"    return ({values}), ({keys})")
    scope = dict(SCOPE)
    exec("\n".join(lines), scope)
    return scope["identify"]


def kind_of_annotation(annotation: Any) -> str:
    """What an annotation says, as text, whether it was kept as text or not."""
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
