"""Loops and conditions to `.pdmodel`, the inverse of control.py.

A loop's block gets no arguments there: before the loop its variables are made by copies, and the block ends with copies
into them. A condition is two conditional blocks and a choice for each result.
"""

from __future__ import annotations

from proa.formats.paddle.files import dtypes
from proa.formats.paddle.files.legacy.special_write import copy
from proa.formats.paddle.files.legacy.writer import Blocks, Writer, attribute
from proa.formats.paddle.model import Block, Op


def _outside(writer: Writer, inner: Blocks) -> list[str]:
    """Variables of the surrounding blocks that a block reads, itself or in blocks within it."""
    within = [block for block in writer.blocks if _is_within(writer, block, inner)]
    own = {name for block in within for name in block.variables}
    read = [
        name
        for block in within
        for operation in block.operations
        for slot in operation["inputs"]
        for name in slot["arguments"]
        if name not in own
    ]
    return list(dict.fromkeys(read))


def _is_within(writer: Writer, block: Blocks, outer: Blocks) -> bool:
    index = block.index
    while index > outer.index:
        index = writer.blocks[index].parent
    return index == outer.index


def write_while(writer: Writer, block: Blocks, op: Op) -> None:
    body: Block = op.blocks[0]
    test = op.inputs[0]
    condition = writer.declare(block, writer.fresh(test.name + ".loop"), "bool", test.shape)
    copy(writer, block, writer.name(op.name, test), condition)
    targets = []
    for argument, start in zip(body.arguments, op.inputs[1:], strict=True):
        source = writer.name(op.name, start)
        if argument.dtype.endswith(dtypes.ARRAY):
            writer.alias(argument, source)
            targets.append(source)
        else:
            targets.append(writer.define(block, argument))
            copy(writer, block, source, targets[-1])
    inner = writer.new_block(block)
    for nested in body.ops:
        writer.operation(inner, nested)
    ends = [writer.name("the end of a loop", value) for value in body.results]
    for position, value in enumerate(body.results[1:], 1):
        if ends[position] in targets and ends[position] != targets[position - 1]:  # would be overwritten too early
            ends[position] = writer.declare(inner, writer.fresh(ends[position] + ".next"), value.dtype, value.shape)
            copy(writer, inner, writer.name("the end of a loop", value), ends[position])
    for source, target in zip(ends[1:], targets, strict=True):
        if source != target:
            copy(writer, inner, source, target)
    copy(writer, inner, ends[0], condition)
    inputs = {"Condition": [condition], "X": list(dict.fromkeys([*targets, *_outside(writer, inner)]))}
    inputs["X"] = [name for name in inputs["X"] if name != condition]
    outputs = {"Out": list(dict.fromkeys([*targets, condition])), "StepScopes": [writer.scope(block)]}
    attributes = [attribute("sub_block", "block", inner.index), attribute("is_test", "bool", True)]
    writer.emit(block, "while", inputs, outputs, attributes)
    for result, target in zip(op.outputs, targets, strict=True):
        writer.alias(result, target)


def write_if(writer: Writer, block: Blocks, op: Op) -> None:
    condition = writer.name(op.name, op.inputs[0])
    shape = op.inputs[0].shape
    negated = writer.declare(block, writer.fresh("otherwise"), "bool", shape)
    mask = writer.declare(block, writer.fresh("branch"), "int32", shape)
    chosen: list[list[str]] = []
    for side, branch in enumerate(op.blocks):
        if side == 1:
            writer.emit(block, "logical_not", {"X": [condition]}, {"Out": [negated]}, [])
        inner = writer.new_block(block)
        for nested in branch.ops:
            writer.operation(inner, nested)
        names = []
        for value in branch.results:
            source = writer.name("the end of a branch", value)
            if value.dtype.endswith(dtypes.ARRAY):
                names.append(source)
                continue
            names.append(writer.declare(block, writer.fresh(value.name + ".branch"), value.dtype, value.shape))
            copy(writer, inner, source, names[-1])
        inputs = {"Cond": [negated if side else condition], "Input": _outside(writer, inner)}
        attributes = [attribute("sub_block", "block", inner.index), attribute("is_scalar_condition", "bool", True)]
        writer.emit(block, "conditional_block", inputs, {"Out": names, "Scope": [writer.scope(block)]}, attributes)
        chosen.append(names)
    kinds = [attribute("in_dtype", "dtype", "bool"), attribute("out_dtype", "dtype", "int32")]
    writer.emit(block, "cast", {"X": [condition]}, {"Out": [mask]}, kinds)
    for yes, no, result in zip(chosen[0], chosen[1], op.outputs, strict=True):
        if yes == no:
            writer.alias(result, yes)
            continue
        outputs = {"Out": [writer.define(block, result)]}
        writer.emit(block, "select_input", {"X": [no, yes], "Mask": [mask]}, outputs, [])


WRITERS = {"while": write_while, "if": write_if}
