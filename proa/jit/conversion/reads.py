"""What captured code reads from outside: attributes, entries of containers, global names and variables around it.

Converted code looks at things through `looks.py`, which notes here what it found if the owner is known from outside: the
object whose method is captured, arguments, whatever was read from something known. What the code makes itself is nobody's
business. The notes become the guard of the captured program (`proa/jit/guards.py`).

A value that the code only changes (`self.calls += 1`, `log.append(x)`) is not read. If it is read as well, the value it
had when the code began is what counts.
"""

from __future__ import annotations

import threading
from types import CellType, FunctionType, ModuleType
from typing import Any

from ...eager.tensor import Tensor
from ...graph.control import is_unknown
from ...graph.structure import flatten
from ...nn.layer import Layer
from ..values import ABSENT, Frozen, is_container, is_scalar
from .names import named, read_outside

_DEEPEST = 20


class Read:
    """One thing that was read: how to look again, and what was found."""

    __slots__ = ("constants", "found", "name", "owner", "path", "source")

    def __init__(self, path: str, source: str, constants: tuple[Any, ...], found: Any, owner: Any, name: Any) -> None:
        self.path = path
        self.source = source  # an expression with `{0}`, `{1}` … for the constants
        self.constants = constants
        self.found = Frozen(found)
        self.owner = owner
        self.name = name


class Reads:
    """`with Reads() as reads:` notes what converted code of this thread reads inside."""

    def __init__(self) -> None:
        self.noted: dict[Any, Read] = {}
        # Objects from outside by identity: (object, its path, how to look again at a container, constants of that).
        self.known: dict[int, tuple[Any, str, str, tuple[Any, ...]]] = {}
        self.covered: set[int] = set()  # layers whose members and training flags are watched already
        # What the code changes: (value before, whether it was computed from it); contents of containers by identity.
        self.written: dict[Any, tuple[Any, bool]] = {}
        self.changed: dict[int, Frozen] = {}

    def __enter__(self) -> Reads:
        self.before, OPEN.reads = OPEN.reads, self
        return self

    def __exit__(self, *_exception: Any) -> None:
        OPEN.reads = self.before

    # ---- what is known ---------------------------------------------------------------------------------------------

    def know(self, value: Any, path: str, source: str = "{0}", constants: tuple[Any, ...] | None = None) -> None:
        """Whatever is read from this object from now on is noted."""
        if not is_scalar(value) and not isinstance(value, Tensor):
            self.known.setdefault(id(value), (value, path, source, (value,) if constants is None else constants))

    def know_layer(self, layer: Layer, path: str) -> None:
        for name, part in layer.named_sublayers(include_self=True):
            self.know(part, f"{path}.{name}" if name else path)
            self.covered.add(id(part))

    def know_given(self, partial: Any) -> None:
        """The arguments that a partial function from outside has already."""
        if id(partial) in self.known:
            for value in (*partial.args, *partial.keywords.values()):
                self.know(value, f"an argument of {self.known[id(partial)][1]}")

    def know_inside(self, frozen: Frozen, path: str, depth: int = 0) -> None:
        """What is in a container that was read as a whole is known, too."""
        if not isinstance(frozen.parts, list) or depth > _DEEPEST:
            return
        for position, entry in enumerate(frozen.parts):
            key, part = entry if isinstance(entry, tuple) else (position, entry)
            if id(part.value) not in self.known and not is_scalar(part.value):
                self.know(part.value, f"{path}[{key!r}]")
                self.know_inside(part, f"{path}[{key!r}]", depth + 1)

    # ---- what is noted ---------------------------------------------------------------------------------------------

    def note(
        self, key: Any, path: str, source: str, constants: tuple[Any, ...], value: Any, whole: bool, owner: Any, name: Any
    ) -> None:  # fmt: skip
        """`value` was found; with `whole`, a container's contents count, else only that it can be looked into."""
        if isinstance(value, Tensor) and is_unknown(value):
            return
        if key in self.written:
            before, updates = self.written[key]
            if not updates and before is not value:
                return  # the code's own value
            value = before
        if is_container(value):
            self.know(value, path, source, constants)
            if whole:
                self.note_contents(key, path, source, constants, value)
            return
        self.know(value, path)
        if key not in self.noted:
            self.noted[key] = Read(path, source, constants, value, owner, name)

    def note_contents(self, key: Any, path: str, source: str, constants: tuple[Any, ...], value: Any) -> None:
        if key not in self.noted:
            read = self.noted[key] = Read(path, source, constants, value, None, None)
            read.found = self.changed.get(id(value), read.found)
            self.know_inside(read.found, path)

    def note_changing(self, container: Any) -> None:
        """The code is about to change a container."""
        if id(container) in self.known and id(container) not in self.changed:
            self.changed[id(container)] = Frozen(container)

    def take_back_tensors(self) -> str | None:
        """The path of a container from outside that the code has put tensors of the graph into; it is as before again.

        Such tensors have no values outside, and later calls would put in none.
        """
        found = None
        for frozen in self.changed.values():
            container, tensors = frozen.value, list[Any]()
            flatten(list(container.values()) if isinstance(container, dict) else list(container), tensors)
            if any(is_unknown(tensor) for tensor in tensors) and isinstance(frozen.parts, list):
                found = self.known[id(container)][1]
                frozen.put_back()
        return found

    def note_written(self, owner: Any, name: str, before: Any, updates: bool) -> None:
        key = (id(owner), name)
        if id(owner) in self.known and key not in self.noted:
            self.written.setdefault(key, (before, updates))

    def note_function(self, function: FunctionType, stores: frozenset[str]) -> None:
        """A function is about to run: its defaults, and variables from outside that it sets."""
        for name in ("__defaults__", "__kwdefaults__"):
            value = getattr(function, name)
            if value:
                constants = (function,)
                path = f"{function.__qualname__}.{name}"
                self.note((id(function), name), path, f"{{0}}.{name}", constants, value, True, function, name)
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        for name in stores:
            place: Any = cells.get(name, function.__globals__)
            before = _contents(place) if name in cells else function.__globals__.get(name, ABSENT)
            self.written.setdefault((id(place), name), (before, True))

    def note_unconverted(self, function: FunctionType) -> None:
        """A function runs as it is (its source is not to be had): whatever it names counts as read."""
        names, surroundings = named(function.__code__), Surroundings(function)
        for value, path, *_ in list(self.known.values()):
            self._note_named(value, path, names)
        for name in read_outside(function.__code__):
            value = surroundings.value(name)
            if value is not ABSENT and not isinstance(value, ModuleType):
                surroundings.note(self, name, value, True)
                self._note_named(value, name, names)

    def _note_named(self, value: Any, path: str, names: frozenset[str], depth: int = 0) -> None:
        own = getattr(value, "__dict__", None)
        if not isinstance(own, dict) or isinstance(value, (Tensor, FunctionType, ModuleType)) or depth > 3:
            return
        for name in names & own.keys():
            found, inner = own[name], f"{path}.{name}"
            if (id(value), name) not in self.noted and name not in ("training", "forward"):
                self.note((id(value), name), inner, f"{{0}}[{name!r}]", (own,), found, True, value, name)
                self._note_named(found, inner, names, depth + 1)


class _Open(threading.local):
    reads: Reads | None = None


OPEN = _Open()


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return ABSENT


class Surroundings:
    """Where a converted function finds names that are not its own."""

    __slots__ = ("cells", "names")

    def __init__(self, function: FunctionType) -> None:
        self.names = function.__globals__
        self.cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

    def value(self, name: str) -> Any:
        return _contents(self.cells[name]) if name in self.cells else self.names.get(name, ABSENT)

    def note(self, reads: Reads, name: str, value: Any, whole: bool) -> None:
        """A name was read, and this was found."""
        cell = self.cells.get(name)
        if cell is not None:
            reads.note((id(cell), name), name, "{0}.cell_contents", (cell,), value, whole, cell, name)
        elif name in self.names:
            names = self.names
            reads.note((id(names), name), name, f"{{0}}[{name!r}]", (names,), value, whole, names, name)
