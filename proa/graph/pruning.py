"""The part of a Program that some of its values depend on, numbered afresh without gaps."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ..ir.editing import extracted
from ..ir.program import Program


def pruned(
    whole: Program,
    scalars: Sequence[Any],
    outputs: Sequence[int],
    first: Sequence[int] = (),
    also: Collection[int] = (),
) -> tuple[Program, list[Any], list[int]]:
    """The Program that computes `outputs`, its scalars, and which of the inputs it takes, in its order.

    The inputs in `first` come first and stay even where nothing depends on them; others only stay if they are needed. The
    values in `also` stay though they are no outputs.
    """
    kept = whole.slice(tuple(outputs), also).instructions
    needed = {*outputs, *also, *(number for instruction in kept for number in instruction.read)}
    chosen = [*first, *(k for k in range(len(whole.inputs)) if ~k in needed and k not in first)]
    program, _, numbers = extracted(kept, outputs, [(~k, whole.inputs[k]) for k in chosen])
    return program, [scalars[number] for number in numbers], chosen
