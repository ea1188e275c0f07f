"""Copies, and chains of reshapes, transposes and casts.

Invariant: the elements that arrive at the end of a chain are the same, bit for bit, in the same order. A cast in the middle
goes only if it loses nothing.
"""

from __future__ import annotations

import numpy as np

from .draft import Draft, Node, Value, is_unknown
from .registry import register_pass


@register_pass(level=1, order=10)
def copies(draft: Draft) -> int:
    """Uses the original where a copy was made: values of a graph are never overwritten."""
    gone = [n for n in draft.nodes if n.name == "assign" and not _is_passed_through(draft, n)]
    for node in gone:
        draft.replace(node.output, _source(node))
    draft.remove(gone)
    return len(gone)


def _is_passed_through(draft: Draft, node: Node) -> bool:
    """Whether it only makes an input a result, which takes an instruction."""
    return _source(node).maker is None and draft.is_output(node.output) and not node.output.users


@register_pass(level=1, order=11)
def reshapes(draft: Draft) -> int:
    """A reshape of a reshape is one; one to the shape that is there already is none."""
    changes = 0
    for node in list(draft.nodes):
        if node.name != "reshape":
            continue
        source = _source(node)
        if source.aval is node.output.aval:
            changes += _drop(draft, node, source)
        elif source.maker is not None and source.maker.name == "reshape":
            changes += _merge(draft, node, _source(source.maker), node.attributes)
    return changes


@register_pass(level=1, order=12)
def transposes(draft: Draft) -> int:
    """Two transposes are one, and none where they cancel."""
    changes = 0
    for node in list(draft.nodes):
        if node.name != "transpose":
            continue
        source, order = _source(node), node.attribute("perm")
        if order == tuple(range(len(order))):
            changes += _drop(draft, node, source)
        elif source.maker is not None and source.maker.name == "transpose":
            inner = source.maker.attribute("perm")
            merged = tuple(inner[axis] for axis in order)
            if merged == tuple(range(len(merged))):
                changes += _drop(draft, node, _source(source.maker))
            else:
                changes += _merge(draft, node, _source(source.maker), (merged,))
    return changes


@register_pass(level=1, order=13)
def casts(draft: Draft) -> int:
    """Casts to the same dtype go, and those on the way to another dtype that lose nothing."""
    changes = 0
    for node in list(draft.nodes):
        if node.name != "cast":
            continue
        source = _source(node)
        if source.aval is node.output.aval:
            changes += _drop(draft, node, source)
        elif source.maker is not None and source.maker.name == "cast":
            first = _source(source.maker)
            if loses_nothing(first.aval.dtype, source.aval.dtype):
                if first.aval is node.output.aval:
                    changes += _drop(draft, node, first)
                else:
                    changes += _merge(draft, node, first, node.attributes)
    return changes


@register_pass(level=1, order=14)
def expansions(draft: Draft) -> int:
    """An expansion to the shape that is there already goes."""
    changes = 0
    for node in list(draft.nodes):
        # With unknown sizes two inputs may share a number and still differ, one of them being 1.
        if node.name == "expand" and _source(node).aval is node.output.aval and not is_unknown(node.output.aval):
            changes += _drop(draft, node, _source(node))
    return changes


_DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
_RANGES = {"float16": 5, "bfloat16": 8, "float32": 8, "float64": 11}  # bits of the exponent


def loses_nothing(one: np.dtype, other: np.dtype) -> bool:
    """Whether every value of a dtype is one of another, too."""
    if one == other or one.kind == "b":
        return True
    if one.name in _DIGITS and other.name in _DIGITS:
        return _DIGITS[one.name] <= _DIGITS[other.name] and _RANGES[one.name] <= _RANGES[other.name]
    if one.kind in "iu" and other.name in _DIGITS:
        bits = one.itemsize * 8 - (one.kind == "i")
        return bits <= _DIGITS[other.name] and other.name != "float16"
    return one.kind in "iuc" and other.kind in "iuc" and bool(np.can_cast(one, other, "safe"))


def _source(node: Node) -> Value:
    operand = node.operands[0]
    assert isinstance(operand, Value)
    return operand


def _drop(draft: Draft, node: Node, source: Value) -> int:
    draft.replace(node.output, source)
    draft.remove([node])
    return 1


def _merge(draft: Draft, node: Node, source: Value, attributes: tuple[object, ...]) -> int:
    """Applies a node to the source of what it was applied to; its operand may go, or serve others."""
    new = draft.add(node, node.operation, [source], attributes)
    draft.replace(node.output, new.output)
    draft.remove([node])
    return 1
