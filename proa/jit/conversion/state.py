"""The variables of a block of converted code: read and written from outside, and perhaps undefined."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ...core.errors import user_location
from ...eager.tensor import Tensor
from ...graph.control import is_unknown
from ...graph.structure import flatten, map_tensors
from ...ir.capture import CaptureError
from ..values import ABSENT
from .reads import OPEN


class ConversionError(CaptureError):
    """A construct that cannot be turned into graph control flow; names the user's file and line."""


class UndefinedUse(ConversionError, UnboundLocalError):
    """A variable is used that has no value here."""


class Undefined:
    """The value of a variable that has none; any use of it says why."""

    __slots__ = ("_name", "_reason")

    def __init__(self, name: str, reason: str = "") -> None:
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_reason", reason)

    def fail(self, *_arguments: Any, **_options: Any) -> NoReturn:
        reason = self._reason or "it is not assigned on the way to here"
        raise UndefinedUse(f"(to_static) the variable {self._name!r} has no value: {reason}", user_location(2))

    def __repr__(self) -> str:
        return f"<{self._name}: undefined>"

    def __getattr__(self, _name: str) -> NoReturn:
        self.fail()

    __bool__ = __len__ = __iter__ = __call__ = __getitem__ = __setitem__ = __index__ = __float__ = __int__ = fail
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __matmul__ = fail
    __rmatmul__ = __pow__ = __rpow__ = __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = __neg__ = __abs__ = fail
    __lt__ = __le__ = __gt__ = __ge__ = __enter__ = __exit__ = fail


def load(value: Any) -> Any:
    """A variable that may have no value is read."""
    if value.__class__ is Undefined:
        value.fail()
    return value


def attempt(read: Callable[[], Any], name: str) -> Any:
    """An attribute, or what stands for one that is not there."""
    try:
        return read()
    except (AttributeError, NameError, KeyError):
        return Undefined(name)


class _Journals(threading.local):
    def __init__(self) -> None:
        self.open: list[Journal] = []


_JOURNALS = _Journals()


class Journal:
    """`with Journal() as journal:` notes which attributes converted code sets inside, and what they were before."""

    def __init__(self) -> None:
        self.before: dict[tuple[int, str], tuple[Any, str, Any]] = {}

    def __enter__(self) -> Journal:
        _JOURNALS.open.append(self)
        return self

    def __exit__(self, *_exception: Any) -> None:
        _JOURNALS.open.remove(self)

    def take_back(self) -> dict[tuple[int, str], Any]:
        """The values that the attributes have now; they get their old ones back."""
        now = {}
        for key, (owner, name, old) in self.before.items():
            now[key] = copy_containers(current_attribute(owner, name))
            put(owner, name, old)
        return now


def attributes_of_the_graph(journal: Journal, known: Sequence[Any] = ()) -> list[tuple[tuple[Any, str, Any], Any]]:
    """Attributes set to tensors of the graph, with their new values; they get their old ones back, others stay set."""
    found: list[tuple[tuple[Any, str, Any], Any]] = []
    entries = dict(journal.before)
    for key, value in journal.take_back().items():
        owner, name, old = entries[key]
        tensors: list[Tensor] = []
        flatten(value, tensors)
        # An unknown tensor was made inside, unless it stands for what was there; so was the object, which nobody will see.
        stands = any(owner is other and name == other_name for other, other_name, _ in known)
        made_inside = isinstance(old, Tensor) and is_unknown(old) and not stands
        if any(is_unknown(tensor) for tensor in tensors) and not made_inside:
            found.append(((owner, name, None if old.__class__ is Undefined else old), value))
        else:
            put(owner, name, value)
    return found


def current_attribute(owner: Any, name: str) -> Any:
    return getattr(owner, name, Undefined(name))


def set_attribute(owner: Any, name: str, value: Any, updates: bool = False) -> None:
    """`owner.name = value`, noted in the innermost journal; `updates`: the value was computed from the one before."""
    if OPEN.reads is not None and not isinstance(owner, Tensor):
        OPEN.reads.note_written(owner, name, getattr(owner, name, ABSENT), updates)
    if _JOURNALS.open and not isinstance(owner, (Tensor, type)):
        before = _JOURNALS.open[-1].before
        key = (id(owner), name)
        if key not in before:
            before[key] = (owner, name, current_attribute(owner, name))
    put(owner, name, value)


def augmented(name: str, value: Any, operand: Any) -> Any:
    """`value += operand` and the like, as a value."""
    return getattr(operator, name)(value, operand)


def put(owner: Any, name: str, value: Any) -> None:
    """Sets an attribute, or takes it away where it was not there."""
    if value.__class__ is not Undefined:
        setattr(owner, name, value)
    elif hasattr(owner, name):
        delattr(owner, name)


def _replace_contents(container: Any, contents: Any) -> None:
    if isinstance(container, list):
        container[:] = contents
    elif isinstance(container, dict):
        container.clear()
        container.update(contents)


def copy_containers(value: Any) -> Any:
    """The same nested lists and dictionaries, which may be changed without changing the originals."""
    return map_tensors(lambda tensor: tensor, value) if isinstance(value, (list, dict, tuple)) else value


class Site:
    """Where a block is in the user's code."""

    __slots__ = ("filename", "is_guard", "line", "live")

    def __init__(self, filename: str, line: int, is_guard: bool = False, live: Sequence[str] = ()) -> None:
        self.filename = filename
        self.line = line
        self.is_guard = is_guard  # made from a break, continue or return: what it skips may stay undefined
        self.live = frozenset(live)  # variables whose value behind a loop, or from the round before, may be read

    def error(self, text: str) -> ConversionError:
        return ConversionError(f"(to_static) {text}", (self.filename, self.line))


class State:
    """The variables that a block may change: names, and the contents of lists and dictionaries."""

    __slots__ = ("containers", "names", "num_variables", "read", "write")

    def __init__(
        self,
        names: Sequence[str],
        read: Callable[[], tuple[Any, ...]],
        write: Callable[[Sequence[Any]], None],
        containers: Callable[[], tuple[Any, ...]],
        container_names: Sequence[str],
    ) -> None:
        self.read = read
        self.write = write
        self.containers = containers
        self.num_variables = len(names)
        self.names = (*names, *container_names)

    def get(self) -> list[Any]:
        """The values now. Lists and dictionaries are copies: what the block does to them can be taken back."""
        values = [copy_containers(value) for value in self.read()]
        for container in self.containers():
            changeable = isinstance(container, (list, dict))
            values.append(copy_containers(container) if changeable else Undefined("container"))
        return values

    def set(self, values: Sequence[Any]) -> None:
        self.write([copy_containers(value) for value in values[: self.num_variables]])
        for container, contents in zip(self.containers(), values[self.num_variables :], strict=True):
            _replace_contents(container, copy_containers(contents))
