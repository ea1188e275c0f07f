"""Signatures that are worked out when somebody looks at them.

A thousand functions are declared at `import proa`, and hardly anybody ever asks for the signature of one. What declaring
needs, the names of the parameters, is read from the code object; `inspect` would take a quarter of the import.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

_PLAIN = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class DeferredSignature(inspect.Signature):
    """A signature of which the names are known, and all else comes from `make()` at the first look."""

    __slots__ = ("_made", "_make", "names")

    def __init__(self, names: Sequence[str], make: Callable[[], inspect.Signature]) -> None:
        self.names = names
        self._make = make
        self._made: inspect.Signature | None = None

    def made(self) -> inspect.Signature:
        if self._made is None:
            self._made = self._make()
        return self._made

    # What the methods of `inspect.Signature` read.
    _parameters = property(lambda self: self.made()._parameters)  # type: ignore[assignment]
    _return_annotation = property(lambda self: self.made()._return_annotation)  # type: ignore[assignment]

    def replace(self, **changes: Any) -> inspect.Signature:  # type: ignore[override]
        return self.made().replace(**changes)

    __replace__ = replace

    def __reduce__(self) -> Any:
        return self.made().__reduce__()


def parameter_names(function: Callable[..., Any]) -> list[str]:
    """The names of a function's parameters, in the order of its signature."""
    known = getattr(function, "__signature__", None)
    if isinstance(known, DeferredSignature):
        return list(known.names)
    if _is_plain(function):
        code = function.__code__
        return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    return list(inspect.signature(function).parameters)


def parameters_with_defaults(function: Callable[..., Any]) -> list[tuple[str, bool, Any]]:
    """Name, whether there is a default, and the default of each parameter."""
    if not _is_plain(function):
        found = inspect.signature(function).parameters.values()
        return [(p.name, p.default is not p.empty, None if p.default is p.empty else p.default) for p in found]
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    required = len(positional) - len(defaults)
    keywords: dict[str, Any] = function.__kwdefaults__ or {}
    result = [(name, False, None) for name in positional[:required]]
    result += [(name, True, default) for name, default in zip(positional[required:], defaults, strict=True)]
    for name in code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]:
        result.append((name, name in keywords, keywords.get(name)))
    return result


def _is_plain(function: Any) -> bool:
    """Whether the code object says it all: no `*rest`, nothing wrapped, no signature that was set by hand."""
    return (
        function.__class__ is FunctionType
        and not function.__code__.co_flags & _PLAIN
        and "__wrapped__" not in function.__dict__
        and "__signature__" not in function.__dict__
    )
