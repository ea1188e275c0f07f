"""The part of a guard that watches Python values: everything that was read, checked by one generated function.

A check is a look at a place and a comparison of identities: some twenty nanoseconds. Only where another object is found are
values compared (`values.py`).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from operator import is_
from types import FunctionType
from typing import Any

from ..nn.layer import Layer
from .conversion.convert import leave_alone
from .conversion.names import named
from .conversion.reads import Read
from .values import ABSENT, Frozen, is_container, is_scalar, shown

_MOST_READS = 5000
_ERRORS = (AttributeError, LookupError, TypeError, ValueError)


class ValueGuard:
    """What was read, and whether it is still there."""

    def __init__(self, reads: Iterable[Read]) -> None:
        self.reads = list(reads)[:_MOST_READS]
        self._scope: dict[str, Any] = {"ABSENT": ABSENT, "is_": is_, "errors": _ERRORS}
        lines = ["def holds():", "    try:", "        pass"]
        for number, read in enumerate(self.reads):
            source = self._source(number, read)
            found = self._named(f"v{number}", read.found.value)
            tests = [f"{source} is {found}", *self._inside(read.found, found)]
            fits = self._named(f"f{number}", read.found.fits)
            lines.append(f"        if not ({' and '.join(tests)}) and not {fits}({source}): return False")
        lines += ["    except errors:", "        return False", "    return True"]
        exec("\n".join(lines), self._scope)
        self.holds: Callable[[], bool] = self._scope["holds"]

    def _named(self, name: str, value: Any) -> str:
        self._scope[name] = value
        return name

    def _source(self, number: int, read: Read) -> str:
        names = [self._named(f"c{number}_{i}", constant) for i, constant in enumerate(read.constants)]
        return read.source.format(*names)

    def _inside(self, frozen: Frozen, name: str) -> list[str]:
        """Tests of what can change inside an object while it stays the same object."""
        value, parts = frozen.value, frozen.parts
        if frozen.is_fixed or parts is None:
            return []
        if not is_container(value):
            return [f"{name}.tobytes() == {self._named(f'{name}b', parts[2])}"]
        tests = [f"len({name}) == {len(value) if isinstance(parts, int) else len(parts)}"]
        if isinstance(parts, frozenset):
            return [f"{self._named(f'{name}s', frozen.fits)}({name})"]
        if isinstance(parts, int):
            return tests
        entries = [entry if isinstance(entry, tuple) else (None, entry) for entry in parts]
        now = name
        if hasattr(value, "items"):
            tests.append(f"all(map(is_, {name}, {self._named(f'{name}k', [key for key, _ in entries])}))")
            now = f"{name}.values()"
        tests.append(f"all(map(is_, {now}, {self._named(f'{name}e', [part.value for _, part in entries])}))")
        for position, (_, part) in enumerate(entries):
            if not part.is_fixed:
                tests += self._inside(part, self._named(f"{name}_{position}", part.value))
        return tests

    def difference(self) -> str | None:
        """The first value that is another one now, in words."""
        for number, read in enumerate(self.reads):
            try:
                now = eval(self._source(number, read), self._scope)
            except _ERRORS:
                now = ABSENT
            if not read.found.fits(now):
                was, is_now = shown(read.found.value), shown(now)
                if was == is_now:
                    return f"{read.path} was changed, or is another object: {is_now}"
                return f"{read.path} was {was}, now it is {is_now}"
        return None


# ---- layers whose code is not converted ------------------------------------------------------------------------------

# What the guard on layers sees to.
_WATCHED = {"training", "_parameters", "_buffers", "_sub_layers", "_forward_pre_hooks", "_forward_post_hooks"}
_NOT_READ = frozenset({"__init__", "extra_repr", "__repr__", "__getstate__", "__setstate__"})


@functools.cache
def _names_read(kind: type) -> frozenset[str]:
    """Attributes that the methods of a layer's class name."""
    found: set[str] = set()
    for base in kind.__mro__:
        if base is Layer or not issubclass(base, Layer):
            continue
        methods = [m for n, m in vars(base).items() if isinstance(m, FunctionType) and n not in _NOT_READ]
        found.update(*(named(method.__code__) for method in methods))
    return frozenset(found)


def settings_of(layers: Iterable[Layer]) -> list[Read]:
    """Settings (numbers, texts, lists of them) of layers whose `forward` is not converted, as if they had been read."""
    reads: list[Read] = []
    for layer in layers:
        forward = inspect.getattr_static(type(layer), "forward", None)
        if isinstance(forward, FunctionType) and not leave_alone(forward):
            continue
        own = vars(layer)
        for name in _names_read(type(layer)) & own.keys() - _WATCHED:
            value = own[name]
            if is_scalar(value) or is_container(value):
                read = Read(f"{layer.full_name()}.{name}", f"{{0}}[{name!r}]", (own,), value, layer, name)
                if not is_scalar(value) and not hasattr(value, "items"):
                    read.found.parts = (
                        None  # strides and the like are set, never changed inside: their identity will do
                    )
                reads.append(read)
    return reads
