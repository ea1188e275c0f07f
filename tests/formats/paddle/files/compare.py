"""Models compared by structure: values by the order in which they appear, not by name."""

from __future__ import annotations

from typing import Any

from proa.formats.paddle.model import Block, Model, Value


def canonical(model: Model, skip: tuple[str, ...] = ("place",)) -> Any:
    numbers: dict[int, int] = {}

    def number(item: Any) -> Any:
        if isinstance(item, Value):
            key = numbers.setdefault(id(item), len(numbers))
            return key, item.dtype, item.shape
        if isinstance(item, list):
            return [number(element) for element in item]
        return item

    def block(item: Block) -> Any:
        arguments = number(item.arguments)
        ops = []
        for op in item.ops:
            inputs = number(op.inputs)
            blocks = [block(inner) for inner in op.blocks]
            attributes = {name: value for name, value in op.attributes.items() if name not in skip}
            ops.append((op.name, inputs, attributes, blocks, number(op.outputs)))
        return arguments, ops, number(item.results)

    parameters = [(name, number(model.parameter_values[name])) for name in sorted(model.parameter_values)]
    inputs = [(value.name, number(value)) for value in model.inputs]
    return parameters, inputs, block(model.block), number(model.outputs)


def names(block: Block) -> list[str]:
    """The operations of a block without constants, those of inner blocks in brackets."""
    found: list[Any] = []
    for op in block.ops:
        if op.name in ("full", "full_int_array"):
            continue
        found.append(op.name)
        found += [names(inner) for inner in op.blocks]
    return found
