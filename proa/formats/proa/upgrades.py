"""What operations learned after files were written: how an instruction of an earlier release is read today.

An attribute that an operation got later is absent in older files. Its value there is the one that means "as before".
Whoever gives an operation of the op table a new last attribute adds a line here; the golden files of the tests say when
that was forgotten. Any other change of an operation (another order, another meaning) needs a new name for it.
"""

from __future__ import annotations

import math
import re
from typing import Any

from .archive import DamagedArtifact

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


# ---- unknown sizes ---------------------------------------------------------------------------------------------------

# Until version 2 an unknown size was a number that no model has. Numbers below this one never stood for a size.
_SMALLEST = 50_000
_LARGEST_FACTOR = 4096
_LARGEST_OFFSET = 64
_TYPE = re.compile(r"([a-z0-9_]+)\[([0-9,]*)\]")


class _Sizes:
    """What the numbers of a file of version 1 stand for."""

    def __init__(self, inputs: Any, literals: Any) -> None:
        self.symbols: dict[int, dict[str, Any]] = {}
        self.literals = set(literals)
        for given in inputs:
            match = _TYPE.fullmatch(given["type"])
            numbers = match[2].split(",") if match and match[2] else ()
            for axis, (number, size) in enumerate(zip(numbers, given["shape"], strict=False)):
                if size == -1:
                    entry = {"name": f"{given['name']}.shape[{axis}]", "example": int(number), "result": False}
                    self.symbols.setdefault(int(number), entry)

    def number(self, value: Any) -> Any:
        if value.__class__ is float and value and math.isfinite(value):
            for candidate in (value, 1 / value):
                nearest = round(candidate)
                if (
                    nearest >= _SMALLEST
                    and abs(candidate - nearest) < 1e-6
                    and any(nearest % n == 0 for n in self.symbols)
                ):
                    raise self.refusal(value)
            return value
        if value.__class__ is not int or abs(value) < _SMALLEST or abs(value) in self.literals:
            return value
        factors, rest = [], value
        for position, number in enumerate(self.symbols):
            while rest % number == 0 and rest:
                factors.append(position)
                rest //= number
        if factors and abs(rest) <= _LARGEST_FACTOR:
            return {"size": [[rest, *factors]]}
        for position, number in enumerate(self.symbols):  # the last element, one more than all
            factor = round(value / number)
            if 1 <= abs(factor) <= _LARGEST_FACTOR and abs(value - factor * number) <= _LARGEST_OFFSET:
                return {"size": [[factor, position], [value - factor * number]]}
        raise self.refusal(value)

    @staticmethod
    def refusal(value: Any) -> Exception:
        return DamagedArtifact(
            f"(load) the file is of version 1 and computes with unknown sizes in a way ({value}) that is not read any more; "
            "save the model again with this release"
        )

    def type(self, text: Any) -> Any:
        match = _TYPE.fullmatch(text) if isinstance(text, str) else None
        sizes = [self.number(int(size)) for size in match[2].split(",")] if match and match[2] else []
        if not match or not any(isinstance(size, dict) for size in sizes):
            return text
        return {"dtype": match[1], "shape": sizes}

    def value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.value(part) for part in value]
        if isinstance(value, dict):
            return {
                k: self.program(v) if k == "block" else v if k == "dtype" else self.value(v) for k, v in value.items()
            }
        return value if isinstance(value, bool) else self.number(value)

    def program(self, content: Any) -> Any:
        return {
            **content, "inputs": [self.type(text) for text in content["inputs"]],
            "instructions": [
                {**entry, "attributes": self.value(entry["attributes"]), "out": [self.type(text) for text in entry["out"]]}
                for entry in content["instructions"]
            ],
            "scalars": [self.value(number) for number in content["scalars"]],
        }  # fmt: skip


def with_symbols(entry: Any, signature: Any) -> tuple[Any, Any]:
    """A method of a file of version 1 with symbols for its unknown sizes."""
    sizes = _Sizes(signature["inputs"], entry.get("sizes", {}).get("literals", []))
    if not sizes.symbols:
        return entry, signature
    inputs = [{**given, "type": sizes.type(given["type"])} for given in signature["inputs"]]
    made = {**entry, "program": sizes.program(entry["program"]), "symbols": list(sizes.symbols.values())}
    return made, {**signature, "inputs": inputs}
