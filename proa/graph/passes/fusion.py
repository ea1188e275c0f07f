"""Linear layers and convolutions with what stands behind them become one operation with packed weights, on a CPU.

activation(layer(x) + residual) in one call: the sums are in registers when bias, residual and activation come, instead of
in memory. Behind a convolution's activation there may be a factor and a number to add for each channel. The weight is packed
into the order in which the native kernel reads it, as an expression that is computed beforehand (prepare.py), so that no
run packs it. It takes the place of the weight among what a run needs; the parameter itself stays, so memory grows by the
weights.

Where the graph may multiply in bfloat16 (`Graph.low_products`), the weights are packed as such, two channels side by side;
what only convolutions read is bfloat16 in memory, too, and everything else between the layers stays as it is.

Invariant: the same sums, up to their order (and to the rounding of their operands that was asked for); the same function
behind them. Only where weights are constants of the graph, in float32, and nobody else looks at what lies between.
"""

from __future__ import annotations

import math
from typing import Any

from ...core.place import CPU
from ...kernels.cpu import fused
from ...kernels.cpu.fused import ACTIVATIONS
from ...ops.create.creation import full
from ...ops.shape.joining import stack
from .draft import Draft, Node, Scalar, Value
from .folding import is_per_channel
from .nature import constants
from .registry import FINAL, register_pass

_LEAST = 1024  # elements of a weight
_LEAST_FILTERS = 256
_MOST = 1 << 24
_MOST_BEHIND = 4  # products and sums behind an activation
_LEAST_COLUMNS = 16  # a packed panel has 32: of fewer columns most would be zeros


@register_pass(level=2, order=FINAL + 1, native=True)  # behind layers of bytes
def fused_layers(draft: Draft) -> int:
    """conv, linear or matmul with a constant weight, then perhaps a sum, then perhaps an activation."""
    candidates = [n for n in draft.nodes if n.name in ("conv", "linear", "matmul")]
    if draft.place is not CPU or not candidates or not fused.is_available():
        return 0
    fixed, changes = constants(draft), 0
    for node in candidates:
        suits = _suits_conv(node, fixed) if node.name == "conv" else _suits_product(node, fixed)
        if suits:
            _fuse(draft, node, fixed)
            changes += 1
    return changes


def _is_float(value: Any) -> bool:
    return isinstance(value, Value) and value.aval.dtype.name == "float32"


def _suits_conv(node: Node, fixed: set[int]) -> bool:
    x, weight, _ = node.operands
    if not _is_float(x) or not _is_float(weight) or id(weight) not in fixed or node.attribute("channels_last"):
        return False
    assert isinstance(weight, Value)
    if len(node.attribute("stride")) > 3 or not weight.aval.size or weight.aval.size > _MOST:
        return False
    groups, shape = node.attribute("groups"), weight.aval.shape
    own = shape[0] // groups
    if shape[1] > 1 and weight.aval.size < _LEAST_FILTERS:
        return False
    # Of few filters a group there is no tile to fill; with a channel each they are not multiplied as matrices.
    return own >= 4 or (shape[1] == 1 and groups > 1)


def _suits_product(node: Node, fixed: set[int]) -> bool:
    x, weight, *rest = node.operands
    if not _is_float(x) or not _is_float(weight) or id(weight) not in fixed or id(x) in fixed:
        return False
    assert isinstance(weight, Value)
    assert isinstance(x, Value)
    if weight.aval.ndim != 2 or x.aval.ndim < 2 or not _LEAST <= weight.aval.size <= _MOST:
        return False
    if node.name == "matmul":
        columns = weight.aval.shape[0 if node.attribute("transpose_y") else 1]
    else:
        columns = weight.aval.shape[1]
        bias = rest[0] if rest else None
        if bias is not None and (not _is_float(bias) or bias.aval.shape != (columns,)):  # type: ignore[union-attr]
            return False
    return columns >= _LEAST_COLUMNS


def _fuse(draft: Draft, node: Node, fixed: set[int]) -> None:
    """Puts the operation in the place of a layer and of what can be done with it."""
    gone, residual, bias = [node], None, None
    following = only_user(draft, node)
    if following is not None and node.name == "matmul" and following.name == "add":
        bias = _row_behind(node, following, fixed)
        if bias is not None:
            gone.append(following)
            following = only_user(draft, following)
    if following is not None and following.name == "add":
        other = [o for o in following.operands if o is not gone[-1].output]
        if len(other) == 1 and isinstance(other[0], Value) and other[0].aval is node.output.aval:
            residual = other[0]
            gone.append(following)
            following = only_user(draft, following)
    epilogue = activation_of(following) if following is not None else None
    if epilogue is not None and following is not None:
        gone.append(following)
    if node.name == "conv":
        behind = _affine_behind(draft, gone[-1], fixed)
        gone += [one for one, _ in behind]
        new = _conv(draft, node, gone[-1], residual, behind, epilogue or ("", 0.0, 0.0))
    else:
        new = _product(draft, node, gone[-1], bias, residual, epilogue or ("", 0.0, 0.0))
    draft.replace(gone[-1].output, new)
    for old in reversed(gone):
        draft.remove([old])


def only_user(draft: Draft, node: Node) -> Node | None:
    """The one node that uses a result, if nobody else looks at it and the shape stays."""
    users = node.output.users
    if len(users) != 1 or draft.is_output(node.output) or users[0].output.aval is not node.output.aval:
        return None
    return users[0]


def _affine_behind(draft: Draft, node: Node, fixed: set[int]) -> list[tuple[Node, Value]]:
    """Products and sums behind an activation, one after the other, with constants that have a number for each channel or
    one for all, and those constants."""
    found: list[tuple[Node, Value]] = []
    channels = node.output.aval.shape[1]
    following = only_user(draft, node)
    while following is not None and following.name in ("multiply", "add") and len(found) < _MOST_BEHIND:
        before = found[-1][0] if found else node
        others = [o for o in following.operands if o is not before.output]
        if len(others) != 1 or not _is_float(others[0]) or id(others[0]) not in fixed:
            break
        assert isinstance(others[0], Value)
        if not is_per_channel(others[0].aval.shape, node.output.aval.ndim, 1, channels):
            break
        found.append((following, others[0]))
        following = only_user(draft, following)
    return found


def _joined(steps: list[str], channels: int) -> Any:
    """What makes one factor and one number to add of the constants of such steps."""

    def join(*constants: Any) -> Any:
        factor = shift = None
        for name, constant in zip(steps, constants, strict=True):
            vector = constant.reshape([-1]).expand([channels])
            if name == "add":
                shift = vector if shift is None else shift + vector
            else:
                factor = vector if factor is None else factor * vector
                shift = None if shift is None else shift * vector
        factor = full([channels], 1.0, "float32") if factor is None else factor
        return stack([factor, full([channels], 0.0, "float32") if shift is None else shift])

    return join


def activation_of(node: Node) -> tuple[str, float, float] | None:
    if node.name in ACTIVATIONS and len(node.operands) == 1 and not node.attributes:
        return node.name, 0.0, 0.0
    if node.name == "gelu":
        return ("gelu_tanh" if node.attribute("approximate") else "gelu"), 0.0, 0.0
    if node.name == "clip":
        bounds = node.operands[1:3]
        if not all(isinstance(b, Scalar) and not b.is_live and isinstance(b.value, (int, float)) for b in bounds):
            return None
        low, high = (float(b.value) for b in bounds)  # type: ignore[union-attr]
        low = low if node.attribute("has_min") else -math.inf
        high = high if node.attribute("has_max") else math.inf
        return ("clip", low, high) if low <= high else None
    return None


# Operations whose result may be bfloat16: the place of the attribute that says so.
_ROUNDED = {"fused_conv": 8, "squeeze_excite": 4}


@register_pass(level=2, order=FINAL + 3, native=True)  # behind all that makes such operations
def rounded_images(draft: Draft) -> int:
    """What only convolutions read is kept as bfloat16: half the memory to write and to read."""
    if draft.place is not CPU or not _low(draft):
        return 0
    changes = 0
    for node in [one for one in draft.nodes if one.name in _ROUNDED]:
        users = node.output.users
        if users and not draft.is_output(node.output) and all(_reads_rounded(user, node.output) for user in users):
            made = draft.add(node, node.name, node.operands, (*node.attributes[: _ROUNDED[node.name]], True))
            draft.exchange(node.output, made.output)
            draft.remove([node])
            changes += 1
    return changes


def _reads_rounded(user: Node, value: Value) -> bool:
    """Whether a node takes a value as an image or as a residual that may be bfloat16."""
    if user.name != "fused_conv" or any(user.operands[i] is value for i in (1, 2, 4)):
        return False
    filters = user.operands[1]
    assert isinstance(filters, Value)
    is_pairs, is_depthwise = filters.aval.ndim == 5, fused.is_depthwise(user.attributes[0], user.attributes[4])
    return user.operands[0] is not value or is_pairs or is_depthwise


def _low(draft: Draft) -> bool:
    return draft.low_products and fused.is_low_available()


def _row_behind(product: Node, following: Node, fixed: set[int]) -> Value | None:
    """A constant with a number for each column that is added to a product: its bias."""
    others = [o for o in following.operands if o is not product.output]
    if len(others) != 1 or not _is_float(others[0]) or id(others[0]) not in fixed:
        return None
    assert isinstance(others[0], Value)
    return others[0] if others[0].aval.shape == product.output.aval.shape[-1:] else None


def _product(
    draft: Draft,
    node: Node,
    last: Node,
    bias: Any,
    residual: Value | None,
    epilogue: tuple[str, float, float],
) -> Value:
    x, weight, *rest = node.operands
    assert isinstance(weight, Value)
    assert isinstance(x, Value)
    if node.name == "matmul" and node.attribute("transpose_y"):
        weight = draft.add(last, "transpose", [weight], ((1, 0),)).output
    if node.name == "matmul" and node.attribute("transpose_x"):
        axes = tuple(range(x.aval.ndim))
        x = draft.add(last, "transpose", [x], ((*axes[:-2], axes[-1], axes[-2]),)).output
    if node.name == "linear" and rest:
        bias = rest[0]
    panels = draft.add(last, "packed_panels", [weight], (_low(draft),)).output
    made = draft.add(last, "fused_linear", [x, panels, bias, residual], (weight.aval.shape[1], *epilogue))
    return made.output


def _conv(
    draft: Draft,
    node: Node,
    last: Node,
    residual: Value | None,
    behind: list[tuple[Node, Value]],
    epilogue: tuple[str, float, float],
) -> Value:
    x, weight, bias = node.operands
    assert isinstance(weight, Value)
    shape, groups = weight.aval.shape, node.attribute("groups")
    low = _low(draft) and shape[1] % 2 == 0
    filters = draft.add(last, "packed_filters", [weight], (groups, low)).output
    after = None
    if behind:
        steps = [one.name for one, _ in behind]
        (after,) = draft.record(last, _joined(steps, shape[0]), *(constant for _, constant in behind))
    window = tuple(node.attribute(name) for name in ("stride", "padding", "dilation"))
    made = draft.add(
        last, "fused_conv", [x, filters, bias, residual, after], (shape, *window, groups, *epilogue, False)
    )
    return made.output


__all__ = ["fused_layers", "only_user", "rounded_images"]
