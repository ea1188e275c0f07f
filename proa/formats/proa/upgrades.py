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


# Operation -> where the number stood among its operands that became its first attribute (a scale, an epsilon).
MOVED_NUMBERS = {"attention": 4, "normalise": 3}


def with_moved_numbers(instructions: list[Any], scalars: list[Any]) -> tuple[list[Any], list[Any]]:
    """Instructions and numbers of a file, where numbers that were operands once are attributes."""
    made: list[Any] = []
    kept: list[Any] = []
    position = 0
    for entry in instructions:
        operands = entry.get("in") if isinstance(entry, dict) else None
        if not isinstance(operands, list):
            return instructions, scalars  # damaged: whoever decodes it says how
        count = sum(isinstance(operand, str) for operand in operands)
        own = scalars[position : position + count]
        position += count
        place = MOVED_NUMBERS.get(entry.get("op", ""), -1)
        if (
            0 <= place < len(operands)
            and isinstance(operands[place], str)
            and isinstance(entry.get("attributes"), list)
        ):
            before = sum(isinstance(operand, str) for operand in operands[:place])
            entry = {
                **entry, "in": operands[:place] + operands[place + 1 :],
                "attributes": [*own[before : before + 1], *entry["attributes"]],
            }  # fmt: skip
            own = own[:before] + own[before + 1 :]
        made.append(entry)
        kept += own
    return made, kept + scalars[position:]
