"""The table of translators: for each primitive of ours, how it is said in Paddle's operations."""

from __future__ import annotations

from ....graph.written_programs import Translator, WrittenCall, registering
from .builder import Made


class Call(WrittenCall):
    """One instruction with its operands: `Made` values, Python numbers (dynamic scalars) or None."""

    made = Made


TRANSLATORS: dict[str, Translator] = {}
translates = registering(TRANSLATORS, "writing")
