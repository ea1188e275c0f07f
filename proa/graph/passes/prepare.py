"""Constants computed beforehand.

Instructions that depend on tensors from outside alone (parameters, buffers, constants, tensors made by creation
operations) leave the graph; it gets their results as further tensors from outside. They are computed when the graph first
runs and again whenever one of the tensors they come from has changed (see `proa.graph.optimised.Preparation`).

Invariant: the same values arrive. Random and checked operations, what a run of the graph changes, and whatever depends on an
unknown size stay; so do results much larger than what they are computed from.
"""

from __future__ import annotations

from ...eager.tensor import Tensor
from ...ir.capture import Capturing
from ..capture import placeholder
from .dead_code import dead_code
from .draft import Draft, Node, Value
from .nature import constants
from .registry import FINAL, register_pass

_SMALL = 1 << 20  # bytes that may always be kept
_GROWTH = 2  # how much larger than its sources a large result may be


@register_pass(level=2, order=FINAL + 10)  # behind the passes that pack weights
def prepared_constants(draft: Draft) -> int:
    """Takes what does not depend on the inputs out of the graph."""
    fixed = constants(draft)
    if not draft.native:
        # Weights on a grid go to other engines as the whole numbers they are.
        fixed -= {id(node.output) for node in draft.nodes if node.name == "from_levels"}
    prepared = 0
    for node in list(draft.nodes):
        for value in node.outputs:
            wanted = draft.is_output(value) or any(not _all_fixed(user, fixed) for user in value.users)
            if id(value) in fixed and wanted and _is_worthwhile(value):
                tensor = stand_in(value)
                inside = Value(value.aval, tensor=tensor)
                draft.prepared.append((value, tensor))
                draft.captured.append(inside)
                kept = [user for user in value.users if _all_fixed(user, fixed)]
                _replace_for_others(draft, value, inside, kept)
                prepared += 1
    dead_code(draft)
    return prepared


def _all_fixed(node: Node, fixed: set[int]) -> bool:
    return all(id(value) in fixed for value in node.outputs)


def _replace_for_others(draft: Draft, old: Value, new: Value, kept: list[Node]) -> None:
    """Constants computed from it go on using `old`: they are computed beforehand as well."""
    for node in {id(user): user for user in old.users if not any(user is k for k in kept)}.values():
        count = sum(operand is old for operand in node.operands)
        node.operands = tuple(new if operand is old else operand for operand in node.operands)
        new.users += [node] * count
    old.users = kept
    draft.outputs = [new if output is old else output for output in draft.outputs]


def _is_worthwhile(value: Value) -> bool:
    """Whether it takes work, and its result is not much larger than what it comes from."""
    nodes, sources = cone(value)
    if all(node.operation.traits.free or node.operation.traits.family == "creation" for node in nodes):
        return False
    size = value.aval.size * value.aval.dtype.itemsize
    return size <= max(_SMALL, _GROWTH * sum(s.aval.size * s.aval.dtype.itemsize for s in sources))


def cone(value: Value) -> tuple[list[Node], list[Value]]:
    """The nodes that a value comes from, in no order, and the tensors from outside."""
    nodes: dict[int, Node] = {}
    sources: dict[int, Value] = {}
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if current.maker is None:
            sources[id(current)] = current
        elif id(current.maker) not in nodes:
            nodes[id(current.maker)] = current.maker
            waiting += [o for o in current.maker.operands if isinstance(o, Value)]
    return list(nodes.values()), list(sources.values())


def stand_in(value: Value) -> Tensor:
    """A tensor without a value yet, for what is computed beforehand."""
    with Capturing(value.aval.place) as segment:
        return placeholder(segment, value.aval)
