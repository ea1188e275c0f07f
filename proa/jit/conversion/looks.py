"""How converted code looks at things: `attribute` for `a.b`, `entry` for `a[b]`, `outside` for names that are not its own.

Each looks once, as the user's code would, and notes what it found (`reads.py`). Properties and `__getattr__` of the user's
are converted like any function, so that what they read is noted instead of what they compute.
"""

from __future__ import annotations

import inspect
from types import FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

from ...eager.tensor import Tensor
from ...nn.layer import Layer
from ..values import ABSENT, CONTAINERS, is_container, is_scalar
from .convert import converted, is_ignored, leave_alone
from .names import CHANGING
from .reads import OPEN, Read, Reads, Surroundings


def _converts(function: Any) -> bool:
    return isinstance(function, FunctionType) and not leave_alone(function)


def outside(surroundings: Surroundings, name: str, value: Any, whole: bool = True) -> Any:
    """A name that belongs to the module, or to a function around this one, was read."""
    reads = OPEN.reads
    if reads is None:
        return value
    if isinstance(value, ModuleType):
        if not is_ignored(value.__name__):
            reads.know(value, name)
        return value
    surroundings.note(reads, name, value, whole)
    return value


def attribute(owner: Any, name: str, whole: bool = True) -> Any:
    """`owner.name`."""
    reads = OPEN.reads
    if reads is None or isinstance(owner, Tensor):
        return getattr(owner, name)
    known = reads.known.get(id(owner))
    if known is None:
        return getattr(owner, name)
    if is_container(owner):
        return _attribute_of_container(reads, known, name, whole)
    if name == "__dict__":
        return variables(owner, whole)
    kind = type(owner)
    found = inspect.getattr_static(owner, name, ABSENT)
    getter: Any = found.fget if isinstance(found, property) else None
    if _converts(getter):
        return converted(getter)(owner)
    if found is ABSENT:
        return _missing_attribute(reads, known, name)
    value = getattr(owner, name)
    if isinstance(value, MethodType) and value.__self__ is owner:
        method = inspect.getattr_static(kind, name, ABSENT)
        if _converts(method):
            path = f"{kind.__qualname__}.{name}"
            reads.note((id(kind), name), path, f"{{0}}.{name}", (kind,), method, False, kind, name)
        return value
    if id(owner) in reads.covered and (name == "training" or isinstance(value, (Tensor, Layer))):
        return value
    own = getattr(owner, "__dict__", None)
    if isinstance(own, dict) and name in own and own[name] is value:
        source, constants = f"{{0}}[{name!r}]", (own,)
    elif found is value or isinstance(found, (MemberDescriptorType, staticmethod)):
        source, constants = f"{{0}}.{name}", (owner,)
    else:
        return value  # computed by code that is not ours to repeat
    reads.note((id(owner), name), f"{known[1]}.{name}", source, constants, value, whole, owner, name)
    return value


def _attribute_of_container(reads: Reads, known: tuple[Any, ...], name: str, whole: bool) -> Any:
    """A method of a list or dictionary, or an attribute of one whose class gives entries as attributes."""
    owner, path, source, constants = known
    found = inspect.getattr_static(owner, name, ABSENT)
    if found is ABSENT:
        return _missing_attribute(reads, known, name)
    if name in CHANGING:
        reads.note_changing(owner)
    else:
        reads.note_contents((id(owner), CONTAINERS), path, source, constants, owner)
    return getattr(owner, name)


def _missing_attribute(reads: Reads, known: tuple[Any, ...], name: str) -> Any:
    """`__getattr__` gives it, or it is not there."""
    owner, path, *_ = known
    other = inspect.getattr_static(type(owner), "__getattr__", None)
    if _converts(other):
        return converted(other)(owner, name)
    if isinstance(owner, dict) and other in (dict.__getitem__, dict.get):
        return entry(owner, name)
    try:
        return getattr(owner, name)
    except AttributeError:
        key = (id(owner), name)
        if key not in reads.noted and key not in reads.written:
            reads.noted[key] = Read(
                f"{path}.{name}", f"getattr({{0}}, {name!r}, ABSENT)", (owner,), ABSENT, owner, name
            )
        raise


def entry(container: Any, key: Any, whole: bool = True) -> Any:
    """`container[key]`."""
    reads = OPEN.reads
    if reads is None or isinstance(container, Tensor) or id(container) not in reads.known:
        return container[key]
    method = inspect.getattr_static(type(container), "__getitem__", None)
    if _converts(method):
        return converted(method)(container, key)
    if not is_container(container):
        return container[key]
    _, path, source, constants = reads.known[id(container)]
    if id(container) in reads.changed or not is_scalar(key):
        reads.note_contents((id(container), CONTAINERS), path, source, constants, container)
        return container[key]
    place = (id(container), CONTAINERS, type(key), key)
    number = len(constants)
    source, path, constants = f"{source}[{{{number}}}]", f"{path}[{key!r}]", (*constants, key)
    try:
        value = container[key]
    except LookupError:
        reads.note_contents((id(container), CONTAINERS), *reads.known[id(container)][1:], container)
        raise
    reads.note(place, path, source, constants, value, whole, None, None)
    return value


def variables(owner: Any, whole: bool = True) -> Any:
    """`vars(owner)`, `owner.__dict__`."""
    reads, found = OPEN.reads, vars(owner)
    if reads is not None and id(owner) in reads.known:
        path = f"vars({reads.known[id(owner)][1]})"
        reads.note((id(owner), "__dict__"), path, "{0}.__dict__", (owner,), found, whole, None, None)
    return found


def seen_whole(function: Any) -> Any:
    """A function of the standard library that looks at everything in what it is given (`dataclasses.asdict`, `copy`)."""

    def look(*arguments: Any, **options: Any) -> Any:
        for value in (*arguments, *options.values()):
            if (
                OPEN.reads is not None
                and id(value) in OPEN.reads.known
                and isinstance(getattr(value, "__dict__", 0), dict)
            ):
                variables(value)
        return function(*arguments, **options)

    return look


def changing(container: Any) -> Any:
    """The container of `container[…] = …`."""
    if OPEN.reads is not None:
        OPEN.reads.note_changing(container)
    return container


def has_attribute(owner: Any, name: str) -> bool:
    """`hasattr`."""
    reads = OPEN.reads
    answer = hasattr(owner, name)
    known = None if reads is None or isinstance(owner, Tensor) else reads.known.get(id(owner))
    if reads is not None and known is not None and (id(owner), name) not in reads.written:
        source = f"hasattr({{0}}, {name!r})"
        reads.noted.setdefault(
            (id(owner), name, hasattr), Read(f"hasattr({known[1]}, {name!r})", source, (owner,), answer, owner, name)
        )
    return answer


def get_attribute(owner: Any, name: str, *default: Any) -> Any:
    """`getattr`."""
    try:
        return attribute(owner, name)
    except AttributeError:
        if default:
            return default[0]
        raise
