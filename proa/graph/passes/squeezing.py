"""Squeeze-and-excite blocks become one operation, on a CPU.

x * second(first(mean of x)), where both are convolutions that `fusion.py` has packed with what stands behind them; perhaps x
is added again. One by one these are five calls or more, most of which take less time than it takes to begin them, and
threads have nothing to do meanwhile.

Invariant: the same sums, up to their order. Only for images of known sizes: the mean is taken of all of an image.
"""

from __future__ import annotations

from ...core.dtype import FLOAT32
from ...core.place import CPU
from ...kernels.cpu import fused
from .draft import Draft, Node, Value, is_unknown
from .fusion import only_user
from .registry import FINAL, register_pass


@register_pass(level=2, order=FINAL + 2, native=True)  # behind the layers that it is made of
def squeezed_images(draft: Draft) -> int:
    """multiply(x, fused_conv(fused_conv(mean(x))))."""
    if draft.place is not CPU or not fused.is_available():
        return 0
    changes = 0
    for node in [one for one in draft.nodes if one.name == "mean"]:
        block = _block(draft, node)
        if block is not None:
            _join(draft, *block)
            changes += 1
    return changes


def _block(draft: Draft, mean: Node) -> tuple[Node, Node, Node, Node] | None:
    """The mean, both convolutions and the product of a block."""
    x = mean.operands[0]
    if not isinstance(x, Value) or x.aval.ndim < 3 or x.aval.dtype != FLOAT32 or is_unknown(x.aval):
        return None
    axes, rank = mean.attribute("axis"), x.aval.ndim
    axes = axes if isinstance(axes, tuple) else (axes,)
    everywhere = all(isinstance(axis, int) for axis in axes) and sorted(axis % rank for axis in axes) == [
        *range(2, rank)
    ]
    if not everywhere or not mean.attribute("keepdim"):
        return None
    first = _convolution_of(draft, mean)
    second = _convolution_of(draft, first) if first is not None else None
    if second is None or len(second.output.users) != 1 or draft.is_output(second.output):
        return None
    product = second.output.users[0]
    others = [operand for operand in product.operands if operand is not second.output]
    if product.name != "multiply" or others != [x] or product.output.aval is not x.aval:
        return None
    return mean, first, second, product  # type: ignore[return-value]


def _convolution_of(draft: Draft, node: Node) -> Node | None:
    """The convolution of single positions that alone uses a result, with no more behind it than an activation."""
    users = node.output.users
    if len(users) != 1 or draft.is_output(node.output) or users[0].name != "fused_conv":
        return None
    found = users[0]
    x, _, _, residual, after = found.operands
    shape, stride, padding, _, groups = found.attributes[:5]
    of_positions = all(width == 1 for width in (*shape[2:], *stride)) and not any(map(any, padding))
    return found if x is node.output and residual is None and after is None and of_positions and groups == 1 else None


def _join(draft: Draft, mean: Node, first: Node, second: Node, product: Node) -> None:
    x, last, adds = mean.operands[0], product, False
    following = only_user(draft, product)
    if (
        following is not None
        and following.name == "add"
        and [o for o in following.operands if o is not product.output] == [x]
    ):
        last, adds = following, True
    operands = [x, first.operands[1], second.operands[1], first.operands[2], second.operands[2]]
    attributes = (first.attributes[0][0], first.attributes[5:8], second.attributes[5:8], adds, False)
    made = draft.add(last, "squeeze_excite", operands, attributes)
    draft.replace(last.output, made.output)
    draft.remove([last])
    for node in (product, second, first, mean):
        if node is not last:
            draft.remove([node])


__all__ = ["squeezed_images"]
