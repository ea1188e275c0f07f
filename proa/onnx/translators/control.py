"""Conditions and loops: graphs inside the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..builder import Block, Builder, Made, Node
from ..registry import Call, translates

Part = tuple[Any, Sequence[int]]  # a block and where its inputs are among the operands


def _predicate(b: Builder, value: Made) -> Made:
    return b.reshape(b.cast(value, "bool"), ())


def _results(b: Builder, values: list[Made]) -> list[Made]:
    """Values of the block itself: what comes from outside is copied into it."""
    return [b.copied(value) for value in values]


@translates("cond")
def cond(b: Builder, c: Call) -> list[Made]:
    then, otherwise, then_inputs, otherwise_inputs = c.attributes
    parts = (then, then_inputs), (otherwise, otherwise_inputs)
    return branches(b, c, c.operands[0], c.operands[1:], parts)


def branches(b: Builder, c: Call, predicate: Made, operands: Sequence[Any], parts: tuple[Part, Part]) -> list[Made]:
    """The node that takes one of two blocks."""
    decides = _predicate(b, predicate)
    blocks: dict[str, Block] = {}
    for name, (part, positions) in zip(("then_branch", "else_branch"), parts, strict=True):
        with b.inside() as block:
            block.results = _results(b, c.context.translate_block(part, [operands[i] for i in positions]))
        blocks[name] = block
    outputs = [b.made(kind) for kind in c.types]
    b.block.nodes.append(Node("If", [decides], outputs, {}, blocks))
    return outputs


@translates("while_loop")
def while_loop(b: Builder, c: Call) -> list[Made]:
    test, body, count, test_inputs, body_inputs = c.attributes
    operands: list[Any] = c.operands

    def chosen(state: list[Any], positions: tuple[int, ...]) -> list[Any]:
        return [state[i] if i < count else operands[i] for i in positions]

    first = _predicate(b, c.context.translate_block(test, chosen(operands[:count], test_inputs))[0])
    with b.inside() as block:
        rounds, go_on = b.made(("int64", ())), b.made(("bool", ()))
        arguments = [b.made(kind) for kind in c.types]
        state = c.context.translate_block(body, chosen(list(arguments), body_inputs))
        again = _predicate(b, c.context.translate_block(test, chosen(state, test_inputs))[0])
        block.arguments = [rounds, go_on, *arguments]
        block.results = _results(b, [again, *state])
    outputs = [b.made(kind) for kind in c.types]
    b.block.nodes.append(Node("Loop", [None, first, *operands[:count]], outputs, {}, {"body": block}))
    return outputs
