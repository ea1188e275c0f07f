"""Sizes that a static program states (`static.data("x", [2, 3])`), put back as plain numbers.

While a program is recorded they are symbols, so that a run may have other sizes. What leaves the program for good (a file)
gets what is stated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.aval import Aval, make_aval
from ...core.symbols import as_stated, is_symbolic
from ..editing import changed
from ..program import Program
from .dimensions import SizedByOthers


def stated(value: Any) -> Any:
    """A number, an abstract value, or what attributes hold, with what is stated in the place of symbols."""
    if isinstance(value, Aval):
        return make_aval(stated(value.shape), value.dtype, value.place) if value.symbolic else value
    if value.__class__ is tuple:
        return tuple([stated(part) for part in value])
    if is_symbolic(value):
        return as_stated(value)
    if value.__class__ is slice:
        return slice(*[stated(part) for part in (value.start, value.stop, value.step)])
    return value.as_stated() if isinstance(value, SizedByOthers) else value


def stated_program(program: Program, scalars: Sequence[Any]) -> tuple[Program, list[Any]]:
    """A program and its scalars with what is stated."""
    instructions = [
        changed(i, attributes=stated(i.attributes), outputs=stated(i.outputs), kinds=stated(i.kinds))
        for i in program.instructions
    ]
    made = Program([stated(aval) for aval in program.inputs], instructions, program.outputs)
    return made, [stated(number) for number in scalars]


__all__ = ["stated", "stated_program"]
