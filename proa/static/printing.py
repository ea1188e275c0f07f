"""The text of a Program: its variables, then its operations, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..core.dtype import name_of as dtype_name
from ..core.symbols import is_stated, is_symbolic, plain
from ..ir.program import Instruction

if TYPE_CHECKING:
    from .block import Block
    from .program import Program

_LONGEST_ATTRIBUTE = 60


def program_text(program: Program) -> str:
    """Every block of a program; for a startup program, what it initialises."""
    parts = [block_text(block) for block in program.blocks]
    if program.initialisations:
        lines = [
            f"    {i.tensor.name}: {shape_text(i.tensor._aval, i.tensor._aval.shape)} = "
            f"{'constant' if not hasattr(i.initializer, 'draw') else type(i.initializer).__name__}"
            for i in program.initialisations
        ]
        parts.append("\n".join(["initialise {", *lines, "}"]))
    return "\n".join(parts) + "\n"


def block_text(block: Block) -> str:
    lines = [f"block {block.idx} {{" + (f" // inside block {block.parent_idx}" if block.parent_idx >= 0 else "")]
    program = block.program
    shape_of = program.segment.shape_of
    if block.idx == 0:
        for name, tensor in program.data.items():
            lines.append(f"    data {name}: {shape_text(tensor._aval, shape_of(tensor._aval))}")
        for name, tensor in program.persistables().items():
            trained = "parameter" if name in program.parameters and not tensor.stop_gradient else "persistable"
            lines.append(f"    {trained} {name}: {shape_text(tensor._aval, tensor._aval.shape)}")
    else:
        for number, aval in enumerate(block.instructions.inputs):
            lines.append(f"    in{number}: {shape_text(aval, shape_of(aval))}")
    for instruction in block.instructions.instructions:
        lines.append(f"    {instruction_text(instruction, block.name_of, shape_of)}")
    if block.idx:
        lines.append(f"    return {', '.join(block.name_of(number) for number in block.instructions.outputs)}")
    lines += [f"    update {name}" for name in _updated(block)] if block.idx == 0 else []
    return "\n".join([*lines, "}"])


def _updated(block: Block) -> list[str]:
    segment = block.program.segment
    return [tensor.name for tensor, _ in (*segment.remembered.values(), *segment.inside.values())]


def _shown(value: Any) -> Any:
    """An attribute with -1 for sizes that are not known yet."""
    if is_symbolic(value):
        return plain(value) if is_stated(value) else -1
    return tuple(map(_shown, value)) if value.__class__ is tuple else value


def shape_text(aval: Any, shape: Iterable[int]) -> str:
    return f"{dtype_name(aval.dtype)}[{', '.join(map(str, shape))}]"


def instruction_text(
    instruction: Instruction, name_of: Callable[[int], str], shape_of: Callable[[Any], Iterable[int]]
) -> str:
    """`y: float32[-1, 10] = linear(x, w, b)`"""
    results = ", ".join(
        f"{name_of(instruction.index + n)}: {shape_text(aval, shape_of(aval))}"
        for n, aval in enumerate(instruction.outputs)
    )
    arguments = [
        name_of(operand) if operand.__class__ is int else "none" if operand is None else f"<{operand.kind.__name__}>"
        for operand in instruction.operands
    ]
    attributes = instruction.attributes
    # Names of an operation with many operands begin with that of their list.
    names = instruction.operation.attribute_names[-len(attributes) :] if attributes else ()
    for name, value in zip(names, attributes, strict=False):
        text = repr(_shown(value))
        arguments.append(f"{name}={text if len(text) <= _LONGEST_ATTRIBUTE else text[:_LONGEST_ATTRIBUTE] + '…'}")
    return f"{results} = {instruction.operation.name}({', '.join(arguments)})"
