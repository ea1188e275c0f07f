"""Logs: the dictionary that callbacks are given, whose numbers are read when somebody looks at them.

Reading the loss waits for the device. A loop that wrote plain floats into its logs would wait at every step; here the
loss and the metrics stay promises until a callback reads the key, prints the logs or copies them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any


class _Promise:
    """Values that are computed together when the first of them is wanted."""

    def __init__(self, function: Callable[[], Sequence[Any]]) -> None:
        self._function: Callable[[], Sequence[Any]] | None = function
        self._values: Sequence[Any] = ()

    def get(self, position: int) -> Any:
        if self._function is not None:
            self._values, self._function = self._function(), None
        return self._values[position]


class _Later:
    def __init__(self, promise: _Promise, position: int) -> None:
        self.promise = promise
        self.position = position


class Logs(dict[str, Any]):
    """A dictionary for which a value may be promised; to everybody who reads it, an ordinary one."""

    def promise(self, names: Sequence[str], function: Callable[[], Sequence[Any]]) -> None:
        """Enters `names`, whose values `function` gives in this order when one of them is first read."""
        promise = _Promise(function)
        for position, name in enumerate(names):
            super().__setitem__(name, _Later(promise, position))

    def settle(self) -> Logs:
        """Reads everything that is still promised."""
        for name in list(self):
            self[name]
        return self

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        if value.__class__ is _Later:
            value = value.promise.get(value.position)
            super().__setitem__(name, value)
        return value

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401 (this is `get`)

    # Everything below shows values, so nothing may be promised any more. `__iter__` is overridden because only then
    # `dict(logs)` and `{**logs}` ask for the values instead of copying the table.

    def __iter__(self) -> Iterator[str]:
        return super().__iter__()

    def items(self) -> Any:
        return super(Logs, self.settle()).items()

    def values(self) -> Any:
        return super(Logs, self.settle()).values()

    def pop(self, *arguments: Any) -> Any:
        return super(Logs, self.settle()).pop(*arguments)

    def setdefault(self, name: str, default: Any = None) -> Any:
        return super(Logs, self.settle()).setdefault(name, default)

    def copy(self) -> dict[str, Any]:  # type: ignore[override]
        return dict(self.items())

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> dict[str, Any]:
        from copy import deepcopy

        return deepcopy(self.copy(), memo)

    def __or__(self, other: Any) -> dict[str, Any]:  # type: ignore[override]
        return self.copy() | other

    def __eq__(self, other: object) -> bool:
        return super(Logs, self.settle()).__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.copy())

    def __reduce__(self) -> Any:
        return dict, (self.copy(),)
