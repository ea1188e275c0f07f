"""What operations learned after files were written: how an instruction of an earlier release is read today.

An attribute that an operation got later is absent in older files. Its value there is the one that means "as before".
Whoever gives an operation of the op table a new last attribute adds a line here; the golden files of the tests say when
that was forgotten. Any other change of an operation (another order, another meaning) needs a new name for it.
"""

from __future__ import annotations

from typing import Any

# Operation -> the values of its last attributes where a file does not have them.
LATER_ATTRIBUTES: dict[str, tuple[Any, ...]] = {
    "recurrence": (False,),  # whether the gates are kept
    "recurrence_grad": (False,),
}


def upgraded(name: str, attributes: tuple[Any, ...], count: int | None) -> tuple[Any, ...]:
    """The attributes, with those that the operation got later."""
    later = LATER_ATTRIBUTES.get(name, ())
    missing = 0 if count is None else count - len(attributes)
    return attributes + later[-missing:] if 0 < missing <= len(later) else attributes
