"""Operations of a recorded Program that become one where it is lowered, because that saves passes over memory.

A rule looks at one instruction and at those that made its operands, and gives the instruction that stands in its place: with
the same results, from other operands. Nothing is removed; what is not needed any more XLA leaves out. Rules are declared
beside the operations that they are about (`@joins`), for the kinds of device on which they pay. Recording, tier 0 and
gradients know nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..operation import Operation
from ..program import Instruction, Program


class Surroundings:
    """Who makes and who uses the values of a Program."""

    def __init__(self, program: Program) -> None:
        self._makers: dict[int, Instruction] = {}
        self._users: dict[int, list[Instruction]] = {}
        self._outputs = frozenset(program.outputs)
        for instruction in program.instructions:
            for index in instruction.made:
                self._makers[index] = instruction
            for operand in instruction.used:
                self._users.setdefault(operand, []).append(instruction)

    def maker(self, operand: Any) -> Instruction | None:
        """The instruction that an operand comes from; None for inputs, numbers and what is absent."""
        return self._makers.get(operand) if operand.__class__ is int else None

    def used_only_by(self, value: int, operations: tuple[Operation, ...]) -> bool:
        """Whether nothing but the given operations needs a value."""
        return value not in self._outputs and all(user.operation in operations for user in self._users.get(value, ()))


Rule = Callable[[Instruction, Surroundings], Instruction | None]
_RULES: dict[str, dict[Operation, Rule]] = {}


def joins(kind: str, *operations: Operation) -> Callable[[Rule], Rule]:
    """Declares what takes the place of some operations on a kind of device."""

    def declare(rule: Rule) -> Rule:
        for operation in operations:
            _RULES.setdefault(kind, {})[operation] = rule
        return rule

    return declare


def joined(program: Program, kind: str) -> Program:
    """The Program as it is lowered for a kind of device."""
    rules = _RULES.get(kind)
    if not rules or not any(instruction.operation in rules for instruction in program.instructions):
        return program
    surroundings = Surroundings(program)
    instructions: list[Instruction] = []
    for instruction in program.instructions:
        rule = rules.get(instruction.operation)
        instructions.append((rule and rule(instruction, surroundings)) or instruction)
    return Program(program.inputs, instructions, program.outputs)
