"""The order of an image's axes inside a graph: channels in the second, where convolutions run on a CPU.

Other passes (fused layers, folded norms) then need to know one order only. It says nothing about memory: there native
kernels have channels side by side in either case (`kernels/cpu/library.Image`), so a transpose between two of them costs
nothing. A convolution with channels last becomes one with channels first between transposes, transposes move behind what
works element by element and behind pooling, and meet their reverse there.

Invariant: the same elements in the same places at the ends; sums of a convolution in the order of its kernel.
"""

from __future__ import annotations

from ...core.place import CPU
from .draft import Draft, Node, Scalar, Value
from .registry import register_pass


@register_pass(level=2, order=70)
def channels_first(draft: Draft) -> int:
    """Channels first inside, for graphs with convolutions that have them last."""
    if draft.place is not CPU:
        return 0
    turned = 0
    for node in [n for n in draft.nodes if n.name == "conv" and n.attribute("channels_last")]:
        turned += _turn(draft, node)
    if not turned and not any(node.name == "conv" for node in draft.nodes):
        return 0
    moved = 0
    for node in list(draft.nodes):
        if node.operation.elementwise:  # the place of an element does not matter
            moved += _sink(draft, node)
        elif _is_pool(node) and node.attribute("channels_last"):
            moved += _turn(draft, node) if _is_turned(node.operands[0]) else 0
    return turned + moved


def _is_pool(node: Node) -> bool:
    operation = node.operation
    return operation.traits.family == "pooling" and "channels_last" in operation.attribute_names


def _to_first(rank: int) -> tuple[int, ...]:
    return (0, rank - 1, *range(1, rank - 1))


def _to_last(rank: int) -> tuple[int, ...]:
    return (0, *range(2, rank), 1)


def _is_turned(value: object) -> bool:
    """Whether a value is a transpose to channels last, of one that has them first."""
    return (
        isinstance(value, Value)
        and value.maker is not None
        and value.maker.name == "transpose"
        and value.aval.ndim >= 3
        and value.maker.attribute("perm") == _to_last(value.aval.ndim)
    )


def _turn(draft: Draft, node: Node) -> int:
    """A node with channels last becomes one with channels first between two transposes."""
    x = node.operands[0]
    assert isinstance(x, Value)
    rank = x.aval.ndim
    names = node.operation.attribute_names
    attributes = tuple(False if name == "channels_last" else a for name, a in zip(names, node.attributes, strict=True))
    first = _untransposed(draft, node, x)
    inside = draft.add(node, node.operation, [first, *node.operands[1:]], attributes)
    back = draft.add(node, "transpose", [inside.output], (_to_last(rank),))
    draft.replace(node.output, back.output)
    draft.remove([node])
    return 1


def _untransposed(draft: Draft, before: Node, value: Value) -> Value:
    if _is_turned(value):
        assert value.maker is not None
        source = value.maker.operands[0]
        assert isinstance(source, Value)
        return source
    return draft.add(before, "transpose", [value], (_to_first(value.aval.ndim),)).output


def _sink(draft: Draft, node: Node) -> int:
    """f(transpose(x)) becomes transpose(f(x)), if all its tensors are turned."""
    tensors = [o for o in node.operands if isinstance(o, Value)]
    if not tensors or len(node.outputs) != 1:
        return 0
    shape = node.output.aval.shape
    if not all(_is_turned(t) and t.aval.shape == shape for t in tensors):
        return 0
    if not any(draft.used_only_by(t, [node]) for t in tensors):
        return 0  # it would add a transpose and take none away
    operands = [o if o is None or isinstance(o, Scalar) else _untransposed(draft, node, o) for o in node.operands]
    inside = draft.add(node, node.operation, operands, node.attributes)
    back = draft.add(node, "transpose", [inside.output], (_to_last(len(shape)),))
    draft.replace(node.output, back.output)
    draft.remove([node])
    return 1
