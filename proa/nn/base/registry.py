"""The dictionaries inside a layer: members that show up as attributes, and hooks."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from typing import Any


class Registry(dict[str, Any]):
    """A dictionary of a layer's members that shows each entry as an attribute of the layer."""

    __slots__ = ("_layer",)

    def __init__(self, layer: Any, entries: Any = ()) -> None:
        super().__init__()
        # Weak: a layer that nobody holds goes at once, without waiting for the garbage collector.
        self._layer = weakref.ref(layer)
        self.update(entries)

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        layer = self._layer()
        if layer is not None:
            layer.__dict__[name] = value

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        layer = self._layer()
        if layer is not None:
            layer.__dict__.pop(name, None)

    def update(self, *entries: Any, **named: Any) -> None:
        for name, value in dict(*entries, **named).items():
            self[name] = value

    def pop(self, name: str, *default: Any) -> Any:
        if name not in self and default:
            return default[0]
        value = self[name]
        del self[name]
        return value

    def popitem(self) -> tuple[str, Any]:
        name = next(reversed(self))
        return name, self.pop(name)

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    def move_to_end(self, name: str, last: bool = True) -> None:
        """As in an OrderedDict: an entry becomes the last, or the first."""
        entries = [entry for entry in self.items() if entry[0] != name]
        entries.insert(len(entries) if last else 0, (name, self[name]))
        super().clear()
        super().update(entries)

    def clear(self) -> None:
        for name in list(self):
            del self[name]

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


class Hooks(OrderedDict[int, Any]):
    """An ordered dictionary that can be referred to weakly."""


class HookRemoveHelper:
    """What the `register_..._hook` methods return: `remove()` takes the hook away again."""

    _numbers = iter(range(1 << 62))

    def __init__(self, hooks: Hooks, hook: Any, prepend: bool = False) -> None:
        self._hooks = weakref.ref(hooks)
        self._hook_id = next(HookRemoveHelper._numbers)
        hooks[self._hook_id] = hook
        if prepend:
            hooks.move_to_end(self._hook_id, last=False)

    def remove(self) -> None:
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self._hook_id, None)
