"""Which parameters tensor parallelism cuts, and where: found by following a Program.

A product with a weight whose input is whole is cut by columns, and its result is cut along the last dimension; through
elementwise operations, reshapes and attention it stays so, and the product at the other end is cut by rows. A cut that ends
nowhere is given up. Experts (weights of three dimensions) are cut along the first, tables of embeddings along the rows.

These are proposals. Whatever they say, XLA's partitioner keeps the numbers right, and what a proposal costs is read from
the compiled program.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...ir.program import Instruction, Program
from .pieces import Piece, Pieces
from .tracing import PARAMETER

ALTERNATE, COLUMNS = "alternate", "columns"


class _Cut(NamedTuple):
    """A value that is cut along a dimension, and the products by columns that made it so."""

    dimension: int
    made_by: frozenset[int]


def pattern_of(pieces: Pieces, argument: int) -> str:
    """The name of a parameter; those of all units in one, with a star for the number."""
    if argument in pieces.own:
        return f"{pieces.prefix}.*.{pieces.own[argument]}"
    return pieces.sources[~argument].name


def propose(pieces: Pieces, ways: int, style: str = ALTERNATE) -> dict[str, int]:
    """Dimensions that parameters are cut along over `ways` devices, by the names of parameters."""
    found: dict[str, int] = {}
    if ways < 2:
        return found
    for piece in (pieces.first, pieces.unit, pieces.last):
        if piece is not None:
            walk = _Walk(piece, pieces, ways, style)
            found.update({pattern_of(pieces, argument): dimension for argument, dimension in walk.cuts().items()})
    return found


class _Walk:
    """One way through a piece."""

    def __init__(self, piece: Piece, pieces: Pieces, ways: int, style: str) -> None:
        self.ways, self.style, self.program = ways, style, piece.program
        self.parameters = {
            ~position: argument
            for position, argument in enumerate(piece.arguments)
            if argument < 0 and pieces.sources[~argument].role == PARAMETER
        }
        self.chosen: dict[int, int] = {}  # parameter: dimension
        self.columns: dict[int, list[int]] = {}  # product by columns: the parameters that it cuts
        self.closed: set[int] = set()  # those whose cut ends in something that wants it
        self.values: dict[int, _Cut] = {}
        self.same: dict[int, tuple[int, bool]] = {}  # value: the parameter that it is, perhaps turned
        for instruction in self.program.instructions:
            self._visit(instruction)

    def cuts(self) -> dict[int, int]:
        given_up = {
            parameter
            for product, parameters in self.columns.items()
            if product not in self.closed and self.style == ALTERNATE
            for parameter in parameters
        }
        return {p: d for p, d in self.chosen.items() if p not in given_up}

    def _parameter(self, operand: Any) -> tuple[int, bool] | None:
        if operand in self.parameters:
            return self.parameters[operand], False
        return self.same.get(operand)

    def _visit(self, instruction: Instruction) -> None:
        name, operands = instruction.operation.name, instruction.operands
        whole = self._parameter(operands[0]) if operands and operands[0].__class__ is int else None
        if whole is not None and name in ("cast", "transpose") and len(instruction.outputs[0].shape) == 2:
            self.same[instruction.index] = (whole[0], whole[1] != (name == "transpose"))
            return
        for operand, kind in zip(operands, instruction.kinds, strict=True):
            found = self._parameter(operand) if operand.__class__ is int else None
            if found is not None and len(kind.shape) == 3 and kind.shape[0] % self.ways == 0:  # type: ignore[union-attr]
                self.chosen[found[0]] = 0
        if name in ("linear", "matmul") and len(operands) > 1 and self._product(instruction):
            return
        if "embedding" in name:
            self._table(instruction)
        elif "cross_entropy" in name or name in ("cross_entropy", "nll_loss"):
            self._close(instruction)
        else:
            self._follow(instruction)

    def _table(self, instruction: Instruction) -> None:
        for operand, kind in zip(instruction.operands, instruction.kinds, strict=True):
            found = self._parameter(operand) if operand.__class__ is int else None
            if found is not None and len(kind.shape) == 2 and kind.shape[0] % self.ways == 0:  # type: ignore[union-attr]
                self.chosen.setdefault(found[0], 0)

    def _close(self, instruction: Instruction) -> None:
        for operand in instruction.used:
            if operand in self.values:
                self.closed |= self.values[operand].made_by

    def _product(self, instruction: Instruction) -> bool:
        """A product with a weight of two dimensions."""
        x, y = instruction.operands[0], instruction.operands[1]
        found = self._parameter(y) if y.__class__ is int else None
        shape = instruction.kinds[1].shape  # type: ignore[union-attr]
        if found is None or len(shape) != 2:
            return False
        turned = found[1]
        if instruction.operation.name == "matmul":
            if instruction.attributes[0]:
                return False
            turned = turned != bool(instruction.attributes[1])
            shape = shape[::-1] if instruction.attributes[1] else shape
        rows, columns = (1, 0) if turned else (0, 1)
        before = self.values.get(x) if x.__class__ is int else None
        rank = len(instruction.kinds[0].shape)  # type: ignore[union-attr]
        if before is not None and before.dimension == rank - 1 and shape[0] % self.ways == 0:
            self.chosen[found[0]] = rows
            self.closed |= before.made_by
            return True
        if shape[1] % self.ways == 0 and self.chosen.get(found[0], columns) == columns:
            self.chosen[found[0]] = columns
            cut = [found[0]]
            bias = self._parameter(instruction.operands[2]) if len(instruction.operands) > 2 else None
            if bias is not None:
                self.chosen[bias[0]] = 0
                cut.append(bias[0])
            self.columns[instruction.index] = cut
            rank = len(instruction.outputs[0].shape)
            self.values[instruction.index] = _Cut(rank - 1, frozenset([instruction.index]))
        return True

    def _follow(self, instruction: Instruction) -> None:
        """Results are cut as operands are, where the dimension is still there."""
        cuts = [
            (self.values[operand], kind.shape)  # type: ignore[union-attr]
            for operand, kind in zip(instruction.operands, instruction.kinds, strict=True)
            if operand.__class__ is int and operand in self.values
        ]
        if not cuts:
            return
        made_by = frozenset[int]().union(*(cut.made_by for cut, _ in cuts))
        for number, aval in zip(instruction.made, instruction.outputs, strict=True):
            for cut, shape in cuts:
                dimension = self._moved(instruction, cut.dimension, shape, aval.shape)
                if dimension is not None:
                    self.values[number] = _Cut(dimension, made_by)
                    break

    def _moved(
        self, instruction: Instruction, dimension: int, before: Sequence[int], after: Sequence[int]
    ) -> int | None:
        attributes = dict(zip(instruction.operation.attribute_names, instruction.attributes, strict=False))
        name = instruction.operation.name
        if name == "transpose":
            return list(attributes["perm"]).index(dimension)
        if math.prod(before) == math.prod(after) and len(before) != len(after):
            ahead = math.prod(before[:dimension])
            fits = [n for n, size in enumerate(after) if math.prod(after[:n]) == ahead and size % self.ways == 0]
            return fits[-1] if fits else None
        axes = attributes.get("axes", attributes.get("axis"))
        axes = axes if isinstance(axes, tuple) else (axes,)
        if any(isinstance(axis, int) and axis % len(before) == dimension for axis in axes):
            return None  # it mixes what is cut
        moved = len(after) - (len(before) - dimension)
        return moved if moved >= 0 and after[moved] == before[dimension] else None


def main_dtype(pieces: Pieces) -> str:
    """The data type that most of the arithmetic of products is done in."""
    work: dict[str, int] = {}
    for piece, times in ((pieces.first, 1), (pieces.unit, pieces.count), (pieces.last, 1)):
        for instruction in _instructions(piece.program if piece else None):
            if instruction.operation.contracts:
                dtype = instruction.kinds[0].dtype.name  # type: ignore[union-attr]
                work[dtype] = work.get(dtype, 0) + times * instruction.outputs[0].size
    return max(work, key=lambda dtype: work[dtype]) if work else "float32"


def _instructions(program: Program | None) -> list[Instruction]:
    return program.instructions if program is not None else []
