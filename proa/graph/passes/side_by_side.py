"""Products of a few rows with several weights become one product with the weights side by side, on a GPU.

A token's queries, keys and values are three products of one row, gate and inner of its MLP two more. Reading the weights is
all their work, and the device reads one large weight faster than three, in one kernel that the host has to start. XLA would
join them as well, but copy the weights at each run (`WEIGHTS_APART` in ir/tiers/compiler_options.py keeps it from it); here
they are joined once (see prepare.py).

Invariant: the same sums of products. The copies stay beside the weights, so they are made only where they fit easily, and
only of weights that the graph does not change and that lie on one device: parts of a weight that is divided among several
would have to be sent around.
"""

from __future__ import annotations

import math
from typing import Any

from ...core.place import jax_device
from ...ir.recording.mode import Mode
from ...ops.quantised.blocks import PANEL
from ...ops.shape.joining import concat, split
from .draft import Draft, Node, Value
from .nature import constants
from .prepare import cone
from .registry import FINAL, register_pass

_FEW = 64  # rows; with more of them computing is the work
_PART = 0.25  # of the device's memory that copies of weights may take


@register_pass(level=2, order=FINAL + 5)  # behind what packs weights, before they are prepared
def products_side_by_side(draft: Draft) -> int:
    """linear(x, first), linear(x, second) are parts of linear(x, [first, second]); weights in blocks likewise."""
    if draft.place.kind != "gpu" or not draft.native or Mode.sharded:
        return 0
    memory = (jax_device(draft.place).memory_stats() or {}).get("bytes_limit", 0)
    return join_products(draft, _PART * memory)


def join_products(draft: Draft, room: float) -> int:
    """Joins what can be joined, if the copies of all its weights take no more than `room` bytes."""
    fixed, beside = constants(draft), dict[Any, list[Node]]()
    for node in draft.nodes:
        if _can_be_joined(node, fixed):
            beside.setdefault(_kind_of(node), []).append(node)
    groups = [nodes for nodes in beside.values() if len(nodes) > 1]
    if sum(_bytes_of(node) for nodes in groups for node in nodes) > room:
        return 0
    for nodes in groups:
        _join(draft, nodes)
    return len(groups)


def _can_be_joined(node: Node, fixed: set[int]) -> bool:
    if node.name not in ("linear", "block_product"):
        return False
    x, weight, bias = node.operands
    if not isinstance(x, Value) or x.aval.symbolic or not 0 < math.prod(x.aval.shape[:-1]) <= _FEW:
        return False
    if node.name == "block_product" and node.attribute("outputs") % PANEL:
        return False  # what fills its last panel up would stand between two weights
    return all(one is None or id(one) in fixed for one in (weight, bias))


def _kind_of(node: Node) -> tuple[Any, ...]:
    """What must be the same for two products to be joined."""
    x, weight, bias = node.operands
    assert isinstance(weight, Value)
    form = (weight.aval.shape[1:], *node.attributes[1:]) if node.name == "block_product" else ()
    return node.name, id(x), weight.aval.dtype, bias is None, form


def _bytes_of(node: Node) -> int:
    aval = node.operands[1].aval  # type: ignore[union-attr]
    return aval.size * aval.dtype.itemsize


def _join(draft: Draft, nodes: list[Node]) -> None:
    first, weights = nodes[0], [node.operands[1] for node in nodes]
    biases = [node.operands[2] for node in nodes if node.operands[2] is not None]
    sizes = [node.output.aval.shape[-1] for node in nodes]
    in_blocks = first.name == "block_product"
    _bring_forward(draft, [*weights, *biases], first)
    (weight,) = draft.record(first, lambda *parts: concat(parts, 0 if in_blocks else 1), *weights)
    bias = draft.record(first, lambda *parts: concat(parts, 0), *biases)[0] if biases else None
    attributes = (sum(sizes), *first.attributes[1:]) if in_blocks else first.attributes
    whole = draft.add(first, first.operation, [first.operands[0], weight, bias], attributes)
    parts = draft.record(first, lambda joined: split(joined, sizes, -1), whole.output)
    for node, part in zip(nodes, parts, strict=True):
        draft.replace(node.output, part)
    draft.remove(nodes)


def _bring_forward(draft: Draft, values: list[Any], before: Node) -> None:
    """Moves what constants come from in front of a node, as far as it stands behind."""
    makers = {id(node) for value in values for node in cone(value)[0]}
    place = draft.nodes.index(before)
    behind = draft.nodes[place:]
    moved = [node for node in behind if id(node) in makers]
    draft.nodes[place:] = [*moved, *(node for node in behind if id(node) not in makers)]


__all__ = ["join_products", "products_side_by_side"]
