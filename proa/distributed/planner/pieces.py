"""A forward pass taken apart: what comes first, a unit that is repeated, what comes last.

A model of eighty equal layers is one layer, eighty times: compiling one and two of them tells what eighty cost. Units are
found from the layers' names (`layers.0`, `layers.1` …) and proven equal instruction by instruction, so that what stands
between the layers in the user's code is part of them.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.place import CPU
from ...formats.proa.encoding import decode_program, encode_program
from ...formats.proa.sizes import SizeReader, SizeWriter
from ...ir.editing import extracted
from ...ir.program import DynamicScalar, Instruction, Program
from .tracing import PARAMETER, Source, Traced


@dataclass
class Piece:
    """Some instructions as a Program, and what its inputs, results and scalars are called in the whole."""

    program: Program
    arguments: list[int]
    results: list[int]
    scalars: list[Any]

    def encoded(self) -> dict[str, Any]:
        content = encode_program(self.program, self.scalars, {}, None, SizeWriter())
        return {"program": content, "arguments": self.arguments, "results": self.results}

    @classmethod
    def decoded(cls, content: dict[str, Any]) -> Piece:
        program, scalars, _, _ = decode_program(content["program"], CPU, SizeReader([]))
        return cls(program, content["arguments"], content["results"], scalars)


@dataclass
class Pieces:
    """The whole forward pass. Without repetition `count` is 0 and everything is in `last`."""

    sources: list[Source]
    loss: int
    last: Piece
    first: Piece | None = None
    unit: Piece | None = None
    count: int = 0
    names: list[str] = field(default_factory=list)  # of the layers that are the units
    carried: dict[int, int] = field(default_factory=dict)  # argument of a unit: result of the one before
    entries: dict[int, int] = field(default_factory=dict)  # argument of a unit: value that the first one gets instead
    exits: dict[int, int] = field(default_factory=dict)  # argument of the last piece: result of the last unit
    own: dict[int, str] = field(default_factory=dict)  # argument of a unit: its parameter's name below the unit
    samples: int = 1

    @property
    def prefix(self) -> str:
        """The name of the list that the units are in."""
        return self.names[0].rpartition(".")[0] if self.names else ""

    @property
    def num_instructions(self) -> int:
        """Of the whole forward pass."""
        parts = ((self.first, 1), (self.unit, self.count), (self.last, 1))
        return sum(len(piece.program.instructions) * times for piece, times in parts if piece is not None)


def take_apart(traced: Traced) -> Pieces:
    """The largest repetition there is, and what surrounds it."""
    instructions = traced.program.instructions
    starts = [instruction.index for instruction in instructions]
    best: _Units | None = None
    for names, begins in _lists(traced.scopes):
        units = _Units(traced, names, [bisect.bisect_left(starts, begin) for begin in begins])
        if units.count >= 2 and (best is None or units.count * units.length > best.count * best.length):
            best = units
    loss = traced.program.outputs[0]
    if best is None:
        return Pieces(traced.sources, loss, _piece(traced, instructions, [loss]), samples=traced.samples)
    return best.pieces(loss)


def _lists(scopes: Sequence[tuple[str, int, int]]) -> list[tuple[list[str], list[int]]]:
    """The lists of layers of a model that were called once each, with the first value of each call."""
    calls = Counter(name for name, _, _ in scopes)
    members: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for name, begin, _ in scopes:
        prefix, _, number = name.rpartition(".")
        if re.fullmatch(r"\d+", number) and calls[name] == 1:
            members[prefix].append((begin, name))
    return [
        ([name for _, name in sorted(found)], [begin for begin, _ in sorted(found)])
        for found in members.values()
        if len(found) > 1
    ]


def _piece(traced: Traced, instructions: Sequence[Instruction], results: list[int]) -> Piece:
    program, arguments, scalars = extracted(instructions, results)
    return Piece(program, arguments, results, [traced.scalars[number] for number in scalars])


class _Units:
    """A run of equal units among the layers of a list: the longest that ends with the list."""

    def __init__(self, traced: Traced, names: list[str], begins: list[int]) -> None:
        self.traced, self.instructions = traced, traced.program.instructions
        lengths = [after - before for before, after in itertools.pairwise(begins)]
        self.length = lengths[-1] if lengths else 0
        self.names, self.begins = names, begins
        self.count = 0
        if self.length <= 0 or begins[-1] + self.length > len(self.instructions):
            return
        wanted, first = self._spelling(len(begins) - 1), len(begins) - 1
        # The unit at the front of the run may read anything where the others read the unit before them.
        while first > 1 and lengths[first - 2] == self.length and self._spelling(first - 1) == wanted:
            first -= 1
        if lengths[first - 1] == self.length and self._is_front(first - 1, wanted):
            first -= 1
        elif first == len(begins) - 1 or not self._is_front(first, wanted):
            return
        self.names, self.begins = names[first:], begins[first:]
        self.count = len(self.begins)
        if any(self._read_behind(self.unit(number)) for number in range(self.count - 1)):
            self.count = 0  # something behind the units reads others than the last: a shorter model would lack them

    def unit(self, number: int) -> Sequence[Instruction]:
        begin = self.begins[number]
        return self.instructions[begin : begin + self.length]

    def _spelling(self, number: int) -> list[Any]:
        """A unit as one that equal ones share: operands are named by where they come from."""
        first, before = self.unit(number)[0].index, self.unit(number - 1)[0].index
        return [
            (i.operation.name, i.attributes, i.outputs, [self._named(o, number, first, before) for o in i.operands])
            for i in self.unit(number)
        ]

    def _named(self, operand: Any, number: int, first: int, before: int) -> Any:
        if operand.__class__ is DynamicScalar:
            return ("scalar", operand.kind)
        if operand is None:
            return None
        if operand >= first:
            return ("own", operand - first)
        if operand >= before:
            return ("carried", operand - before)
        if operand >= 0:
            return ("shared", operand)
        source = self.traced.sources[~operand]
        if source.role == PARAMETER and source.name.startswith(self.names[number] + "."):
            return ("parameter", source.name[len(self.names[number]) :])
        return ("input", operand) if source.role == PARAMETER else (source.role, source.shape, source.dtype)

    def _is_front(self, number: int, wanted: list[Any]) -> bool:
        """Whether a unit is equal to the others but for what it is given by the ones before; notes what that is."""
        first = self.unit(number)[0].index
        self.entry: dict[int, int] = {}
        for instruction, (name, attributes, outputs, operands) in zip(self.unit(number), wanted, strict=True):
            if (instruction.operation.name, instruction.attributes, instruction.outputs) != (name, attributes, outputs):
                return False
            for operand, kind in zip(instruction.operands, operands, strict=True):
                if isinstance(kind, tuple) and kind[0] == "carried":
                    if operand.__class__ is not int or self.entry.setdefault(kind[1], operand) != operand:
                        return False
                elif self._named(operand, number, first, first) != kind:
                    return False
        self.taken = set(self.entry)
        return bool(self.entry)

    def _read_behind(self, unit: Sequence[Instruction]) -> set[int]:
        """Which values of a unit, counted from its first, are read behind all units."""
        first, end = unit[0].index, unit[-1].made.stop
        behind = self.instructions[self.begins[-1] + self.length :]
        found = {number - first for i in behind for number in i.used if first <= number < end}
        return found | {number - first for number in self.traced.program.outputs if first <= number < end}

    def pieces(self, loss: int) -> Pieces:
        """The second unit stands for all: what it carries and what it shares cannot be mistaken for each other."""
        traced, instructions = self.traced, self.instructions
        end = self.begins[-1] + self.length
        final, second, front = self.unit(self.count - 1), self.unit(1), self.unit(0)
        wanted = sorted(self.taken | self._read_behind(final))
        offset = second[0].index
        unit = _piece(traced, second, [offset + number for number in wanted])
        last = _piece(traced, instructions[end:], [loss])
        carried = {a: wanted.index(a - front[0].index) for a in unit.arguments if front[0].index <= a < offset}
        exits = {a: wanted.index(a - final[0].index) for a in last.arguments if final[0].index <= a}
        name = self.names[1] + "."
        own = {
            a: traced.sources[~a].name[len(name) :]
            for a in unit.arguments
            if a < 0 and traced.sources[~a].role == PARAMETER and traced.sources[~a].name.startswith(name)
        }
        before = instructions[: self.begins[0]]
        made = {number for i in before for number in i.made}
        needed = {*unit.arguments, *last.arguments, *self.entry.values()} & made
        return Pieces(
            traced.sources, loss, last, _piece(traced, before, sorted(needed)) if needed else None, unit, self.count,
            self.names, carried, {a: self.entry[a - front[0].index] for a in carried}, exits, own, traced.samples,
        )  # fmt: skip
