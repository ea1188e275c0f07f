"""The sizes that layers are made with."""

from __future__ import annotations

from typing import Any

from ...ops.arguments import integer


def whole_sizes(layer: object, **given: Any) -> Any:
    """The sizes that a layer was given, as integers, one or several; what is none is refused by its name."""
    where = type(layer).__name__
    found = [integer(where, name, value) for name, value in given.items()]
    return found if len(found) > 1 else found[0]
