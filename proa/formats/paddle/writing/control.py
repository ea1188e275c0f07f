"""Conditions and loops: blocks inside the Model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.dtype import name_of
from ..model import Block, Op
from .builder import Builder, Made
from .registry import Call, translates

Part = tuple[Any, tuple[int, ...]]  # a block, and which of the operands it takes


def _predicate(b: Builder, value: Made) -> Made:
    return b.reshape(b.cast(value, "bool"), ())


@translates("cond")
def cond(b: Builder, c: Call) -> list[Made]:
    then, otherwise, then_inputs, otherwise_inputs = c.attributes
    return branches(b, c, c.operands[0], c.operands[1:], ((then, then_inputs), (otherwise, otherwise_inputs)))


def branches(b: Builder, c: Call, predicate: Made, operands: Sequence[Any], parts: tuple[Part, Part]) -> list[Made]:
    """The operation that takes one of two blocks."""
    decides = _predicate(b, predicate)
    blocks: list[Block] = []
    for part, positions in parts:
        with b.inside() as block:
            block.results = c.context.translate_block(part, [operands[i] for i in positions])
        blocks.append(block)
    outputs = [b.made(kind) for kind in c.types]
    b.block.ops.append(Op("if", [decides], {}, list(outputs), blocks))
    return outputs


@translates("while_loop")
def while_loop(b: Builder, c: Call) -> list[Made]:
    test, body, count, test_inputs, body_inputs = c.attributes
    return rounds(b, c, c.operands, count, (test, test_inputs), (body, body_inputs))


def rounds(b: Builder, c: Call, operands: Sequence[Any], count: int, test: Part, body: Part) -> list[Made]:
    """The operation that runs a block again and again; the first `count` operands are the loop variables."""

    def results(part: Part, state: Sequence[Any]) -> list[Made]:
        block, positions = part
        return c.context.translate_block(block, [state[i] if i < count else operands[i] for i in positions])

    # A size that changes from round to round is a symbol of the body's, read off the variable there.
    kinds = list(c.types)
    for aval, position in zip(body[0].program.inputs, body[1], strict=True):
        if position < count:
            kinds[position] = (name_of(aval.dtype), aval.shape)
    shapes = [sizes for _, sizes in kinds]
    b.show(shapes, operands[:count])
    first = _predicate(b, results(test, operands)[0])
    with b.inside() as block:
        arguments = [b.made(kind) for kind in kinds]
        b.show(shapes, arguments)
        state = results(body, arguments)
        b.show(shapes, state)
        again = _predicate(b, results(test, state)[0])
        block.arguments = list(arguments)
        block.results = [again, *state]
    outputs = [b.made(kind) for kind in c.types]
    b.block.ops.append(Op("while", [first, *operands[:count]], {}, list(outputs), [block]))
    return outputs
