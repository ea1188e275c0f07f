"""What passes may do with an operation, and which values of a graph are constants."""

from __future__ import annotations

from typing import Any

from ...ir.block import blocks_in, has_effect
from ...ir.sizes.dimensions import has_symbols
from ...ir.sizes.known import sizes_held
from .draft import Draft, Node, Operand, Scalar, Value, is_unknown


def is_random(node: Node) -> bool:
    """Whether each run draws new numbers for it."""
    return "seed" in node.operation.operand_names and "offset" in node.operation.operand_names


def is_pure(node: Node) -> bool:
    """Whether equal operands always give equal results, and nothing else happens."""
    return not (is_random(node) or has_effect(node) or has_blocks(node))


def has_blocks(node: Node) -> bool:
    """Whether it is a condition or a loop: its attributes hold Programs."""
    return bool(blocks_in(node.attributes))


def constants(draft: Draft) -> set[int]:
    """Ids of the values that depend on tensors from outside alone, not on inputs, sizes of inputs or chance.

    Tensors that a run of the graph changes are no constants; parameters are, until somebody changes them.
    """
    unknown = draft.has_unknown_sizes
    found = {id(value) for value in draft.captured if value.tensor is not None and _is_constant(draft, value, unknown)}
    for node in draft.nodes:
        if not is_pure(node):
            continue
        if all(_is_fixed(o, found, unknown) for o in node.operands):
            if unknown and (any(is_unknown(v.aval) for v in node.outputs) or _is_size(node.attributes, True)):
                continue
            found.update(map(id, node.outputs))
    return found


def _is_fixed(operand: Operand, found: set[int], unknown: bool) -> bool:
    if isinstance(operand, Scalar):
        return not operand.is_live and not _is_size(operand.value, unknown)
    return operand is None or id(operand) in found


def _is_constant(draft: Draft, value: Value, unknown: bool) -> bool:
    tensor = value.tensor
    if tensor is None or id(tensor) in draft.updated or (unknown and is_unknown(value.aval)):
        return False
    return sizes_held(tensor) is None


def _is_size(value: Any, unknown: bool) -> bool:
    """Whether a number, or one inside attributes, depends on an unknown dimension."""
    return unknown and has_symbols(value)
