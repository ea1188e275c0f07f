"""What other modules put on the Tensor: by one function, which does not let two modules claim one name.

Editors see these names through `tensor.pyi`, which is written from what is attached (`python -m tools.stubs`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from .tensor import Tensor

_BY: dict[str, str] = {}  # name -> the module that attached it
_OWN = frozenset(vars(Tensor))
# Python gives every class these; they are not the Tensor's own.
_REPLACEABLE = frozenset({"__doc__", "__eq__", "__hash__", "__ne__"})


def attach(by: str, instead_of: str | None = None, /, **members: Any) -> None:
    """Gives Tensor attributes, in the name of the module `by`.

    A name that another module attached, or that Tensor has itself, is refused: which of the two were meant would depend on
    the order of imports. A module that means to replace what another one attached names it second.
    """
    for name, value in members.items():
        holder = "proa.eager.tensor" if name in _OWN and name not in _REPLACEABLE else _BY.get(name, by)
        if holder not in (by, instead_of):
            raise TypeError(
                f"(attach) {by} attaches {name!r} to Tensor, which {holder} did already; choose another name, or say "
                f"name {holder!r} as the second argument where it is to be replaced."
            )
        _BY[name] = by
        setattr(Tensor, name, value)


def attached() -> Mapping[str, str]:
    """The names that were attached, and the modules that did so."""
    return MappingProxyType(_BY)
