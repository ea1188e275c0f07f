"""Matrix products: transposes become flags of the product, a bias behind a product becomes part of `linear`.

Invariant: the same sums of products; the bias is added in the same precision. It pays because products are calls of a
library that XLA cannot see into: what stands before and behind them would be done in passes over memory of its own.
"""

from __future__ import annotations

from .draft import Draft, Node, Value
from .registry import register_pass


@register_pass(level=2, order=21)
def transposed_products(draft: Draft) -> int:
    """matmul(x, transpose(y)) is matmul(x, y, transpose_y=True)."""
    changes = 0
    for node in list(draft.nodes):
        if node.name != "matmul":
            continue
        operands, flags, found = list(node.operands), list(node.attributes), False
        for side in (0, 1):
            maker = operands[side].maker if isinstance(operands[side], Value) else None  # type: ignore[union-attr]
            if maker is not None and maker.name == "transpose" and _swaps_last(maker.attribute("perm")):
                operands[side], flags[side], found = maker.operands[0], not flags[side], True
        if found:
            new = draft.add(node, node.operation, operands, tuple(flags))
            draft.replace(node.output, new.output)
            draft.remove([node])
            changes += 1
    return changes


def _swaps_last(order: tuple[int, ...]) -> bool:
    rank = len(order)
    return rank >= 2 and order == (*range(rank - 2), rank - 1, rank - 2)


@register_pass(level=2, order=22)
def linear_with_bias(draft: Draft) -> int:
    """matmul(x, weight) + bias, and linear(x, weight) + bias, are linear(x, weight, bias)."""
    changes = 0
    for node in list(draft.nodes):
        if node.name != "add" or not all(isinstance(o, Value) for o in node.operands):
            continue
        for product, bias in (node.operands, node.operands[::-1]):
            assert isinstance(product, Value)
            assert isinstance(bias, Value)
            maker = product.maker
            if maker is None or not _is_product(maker) or not draft.used_only_by(product, [node]):
                continue
            weight = maker.operands[1]
            assert isinstance(weight, Value)
            if bias.aval.shape != weight.aval.shape[1:] or len({v.aval.dtype for v in (product, bias, weight)}) > 1:
                continue
            new = draft.add(node, "linear", [maker.operands[0], weight, bias])
            draft.replace(node.output, new.output)
            draft.remove([node, maker])
            changes += 1
            break
    return changes


def _is_product(node: Node) -> bool:
    if node.name == "linear":
        return node.operands[2] is None
    if node.name != "matmul" or any(node.attributes):
        return False
    x, weight = node.operands
    return isinstance(x, Value) and isinstance(weight, Value) and x.aval.ndim >= 2 and weight.aval.ndim == 2
