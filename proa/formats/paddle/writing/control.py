"""Conditions and loops: blocks inside the Model."""

from __future__ import annotations

from typing import Any

from ..model import Block, Op
from .builder import Builder, Made
from .registry import Call, translates


def _predicate(b: Builder, value: Made) -> Made:
    return b.reshape(b.cast(value, "bool"), ())


@translates("cond")
def cond(b: Builder, c: Call) -> list[Made]:
    then, otherwise, then_inputs, otherwise_inputs = c.attributes
    predicate, operands = _predicate(b, c.operands[0]), c.operands[1:]
    blocks: list[Block] = []
    for part, positions in ((then, then_inputs), (otherwise, otherwise_inputs)):
        with b.inside() as block:
            block.results = c.context.translate_block(part, [operands[i] for i in positions])
        blocks.append(block)
    outputs = [b.made(kind) for kind in c.types]
    b.block.ops.append(Op("if", [predicate], {}, list(outputs), blocks))
    return outputs


@translates("while_loop")
def while_loop(b: Builder, c: Call) -> list[Made]:
    test, body, count, test_inputs, body_inputs = c.attributes
    operands: list[Any] = c.operands

    def chosen(state: list[Any], positions: tuple[int, ...]) -> list[Any]:
        return [state[i] if i < count else operands[i] for i in positions]

    first = _predicate(b, c.context.translate_block(test, chosen(operands[:count], test_inputs))[0])
    with b.inside() as block:
        arguments = [b.made(kind) for kind in c.types]
        state = c.context.translate_block(body, chosen(list(arguments), body_inputs))
        again = _predicate(b, c.context.translate_block(test, chosen(state, test_inputs))[0])
        block.arguments = list(arguments)
        block.results = [again, *state]
    outputs = [b.made(kind) for kind in c.types]
    b.block.ops.append(Op("while", [first, *operands[:count]], {}, list(outputs), [block]))
    return outputs
