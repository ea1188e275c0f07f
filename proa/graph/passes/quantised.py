"""Layers between quantize_linear and dequantize_linear become products of bytes, on a CPU.

What such a model says is: round x to a grid, make floats of that, multiply with floats made from an int8 weight, round
again. The same in bytes: x becomes uint8 (its whole number + 128), the int8 weight is packed beforehand (prepare.py), sums
are exact in 32 bits; scales, bias, residual and activation come while a sum is at hand, and where only the next grid looks
at the result, it is written as bytes.

Invariant: every number on a grid is within one step of what the model says, since scales are multiplied in another order.
Only with 8 bits, one scale for activations, weights that are constants and whole numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.place import CPU
from ...kernels.cpu.low_precision import quantised
from ...ops.basic import cast_to
from ...ops.quantised.layers import dequantise, is_depthwise, packed_bytes
from .common_subexpressions import common_subexpressions
from .draft import Draft, Node, Scalar, Value
from .fusion import activation_of, only_user
from .nature import constants
from .registry import FINAL, register_pass

_LEVELS, _LOW, _HIGH = 127, -128, 127
_ZERO = 128  # of whole numbers from -128 to 127 as uint8
_NO_EPILOGUE = ("", 0.0, 0.0)
_LAYERS = ("conv", "linear", "matmul")


@register_pass(level=2, order=4)  # in front of common subexpressions
def equal_scales(draft: Draft) -> int:
    """Scales of grids that are equal numbers become one, so that numbers on the same grid are seen to be the same.

    Invariant: only tensors whose present values are equal, bit by bit; when one of them changes, the passes run again.
    """
    first: dict[bytes, Value] = {}
    changes = 0
    for node in draft.nodes:
        scale = node.operands[1] if node.name in ("to_levels", "from_levels") else None
        if not isinstance(scale, Value) or scale.tensor is None or scale.aval.size != 1:
            continue
        if id(scale.tensor) in draft.updated:
            continue
        array = np.asarray(scale.tensor._data())
        known = first.setdefault(array.dtype.str.encode() + str(array.shape).encode() + array.tobytes(), scale)
        if known is not scale:
            assert known.tensor is not None
            draft.assumed.update({id(t): t for t in (scale.tensor, known.tensor)})
            draft.replace(scale, known)
            changes += 1
    return changes


@register_pass(level=2, order=65)  # behind the passes that fold batch norms into weights
def scales_of_weights(draft: Draft) -> int:
    """A factor of each output that was multiplied into a weight on a grid is multiplied into its scales instead.

    Invariant: the same weights, up to rounding of float32; the whole numbers stay what they are, for our kernels and for
    engines that a graph is exported to.
    """
    changes, fixed = 0, constants(draft)
    for node in [n for n in draft.nodes if n.name == "multiply"]:
        first, factor = node.operands
        back = first.maker if isinstance(first, Value) else None
        if back is None or back.name != "from_levels" or not isinstance(factor, Value) or id(factor) not in fixed:
            continue
        numbers, scale = back.operands
        if id(numbers) not in fixed or id(scale) not in fixed or back.output.aval is not node.output.aval:
            continue
        axis = _axis_of_factor(node.output.aval.shape, factor.aval.shape)
        if axis is None or (scale.aval.size != 1 and back.attribute("axis") != axis):  # type: ignore[union-attr]
            continue
        size = node.output.aval.shape[axis]
        scales = draft.record(
            node, lambda s, f, size=size: s.reshape([-1]).expand([size]) * f.reshape([size]), scale, factor
        )[0]
        made = draft.add(node, "from_levels", [numbers, scales], (axis, back.attribute("levels")))
        draft.replace(node.output, made.output)
        draft.remove([node])
        changes += 1
    return changes


def _axis_of_factor(shape: tuple[int, ...], factor: tuple[int, ...]) -> int | None:
    """The only axis along which a factor differs: one for each output."""
    full = (1,) * (len(shape) - len(factor)) + factor
    axes = [axis for axis, size in enumerate(full) if size != 1]
    return axes[0] if len(full) == len(shape) and len(axes) == 1 and full[axes[0]] == shape[axes[0]] else None


@register_pass(level=2, order=FINAL, native=True)  # when everything is folded that can be
def quantised_layers(draft: Draft) -> int:
    """conv, linear or matmul of numbers on a grid, with what stands behind them."""
    if draft.place is not CPU or not any(n.name == "from_levels" for n in draft.nodes) or not quantised.is_available():
        return 0
    grids, fixed, changes = _grids(draft), constants(draft), 0
    for node in [n for n in draft.nodes if n.name in _LAYERS]:
        weight = _weight_of(draft, node, fixed) if id(node.operands[0]) in grids else None
        if weight is not None:
            _put(draft, node, weight, grids)
            changes += 1
    if changes:
        _use_bytes(draft, grids)
        common_subexpressions(draft)  # zero points and steps of the same grid
    return changes


class _Grid:
    """A value that stands on a grid: the pair of nodes that puts it there, and the bytes once they are made."""

    def __init__(self, draft: Draft, rounding: Node, back: Node) -> None:
        self.draft = draft
        self.rounding = rounding
        self.back = back
        self.numbers: Value | None = None
        self.scale: Value | None = None
        self.zero: Value | None = None

    def bytes(self) -> tuple[Value, Value, Value]:
        """The bytes, their scale and their zero point; they are made where the model rounds."""
        if self.numbers is None:
            x, scale = self.rounding.operands
            self.scale, self.zero = _step(self.draft, self.rounding, scale), _zero(self.draft, self.rounding)
            made = self.draft.add(self.rounding, "quantise", [x, self.scale, self.zero], ("uint8",))
            self.numbers = made.output
        assert self.scale is not None
        assert self.zero is not None
        return self.numbers, self.scale, self.zero


def _step(draft: Draft, before: Node, scale: Any) -> Value:
    """How far apart the numbers of a grid lie."""
    return draft.record(before, lambda s: s.reshape([1]) * (1.0 / _LEVELS), scale)[0]


def _zero(draft: Draft, before: Node) -> Value:
    return draft.add(before, "full", [Scalar(_ZERO)], ((1,), np.dtype("int32"))).output


def _grids(draft: Draft) -> dict[int, _Grid]:
    """Values that were rounded to a grid of 8 bits and made floats again, by their ids."""
    found, shared = {}, {}
    for back in draft.nodes:
        rounding = back.operands[0].maker if back.name == "from_levels" else None  # type: ignore[union-attr]
        if rounding is None or rounding.name != "to_levels" or rounding.operands[1] is not back.operands[1]:
            continue
        x, scale = rounding.operands
        assert isinstance(x, Value)
        assert isinstance(scale, Value)
        bounds = tuple(rounding.attribute(name) for name in ("levels", "low", "high"))
        if bounds != (_LEVELS, _LOW, _HIGH) or back.attribute("levels") != _LEVELS or scale.aval.size != 1:
            continue
        if x.aval.dtype.name == scale.aval.dtype.name == "float32":
            grid = shared.setdefault(id(rounding), _Grid(draft, rounding, back))
            found[id(back.output)] = grid
    return found


class _Weight:
    """An int8 weight: the constant, and its scales."""

    def __init__(self, numbers: Value, scale: Value) -> None:
        self.numbers = numbers
        self.scale = scale


def _weight_of(draft: Draft, node: Node, fixed: set[int]) -> _Weight | None:
    """The quantised weight of a layer that can be done in bytes."""
    x, weight = node.operands[:2]
    if not isinstance(weight, Value) or weight.maker is None or weight.aval.dtype.name != "float32":
        return None
    assert isinstance(x, Value)
    if node.name == "conv":
        if node.attribute("channels_last") or len(node.attribute("stride")) > 3:
            return None
        axis = 0
    else:
        turned = node.name == "matmul" and node.attribute("transpose_y")
        if weight.aval.ndim != 2 or x.aval.ndim < 2 or (node.name == "matmul" and node.attribute("transpose_x")):
            return None
        axis = 0 if turned else 1
    if any(o is not None and o.aval.shape != weight.aval.shape[axis : axis + 1] for o in node.operands[2:]):  # type: ignore[union-attr]
        return None
    back = weight.maker
    if back.name != "from_levels" or back.attribute("levels") != _LEVELS:
        return None
    numbers, scale = back.operands
    assert isinstance(numbers, Value)
    assert isinstance(scale, Value)
    if id(numbers) not in fixed or id(scale) not in fixed or not _is_whole(draft, numbers):
        return None
    if scale.aval.size != 1 and back.attribute("axis") != axis:
        return None
    depth = weight.aval.size // max(weight.aval.shape[axis], 1)
    return _Weight(numbers, scale) if weight.aval.size and depth <= 1 << 16 else None


def _is_whole(draft: Draft, numbers: Value) -> bool:
    """Whether a constant is whole numbers of 8 bits; that floats are is looked up, and again when they change."""
    if numbers.aval.dtype.name == "int8":
        return True
    maker = numbers.maker
    if maker is not None and maker.name == "cast":
        return isinstance(maker.operands[0], Value) and _is_whole(draft, maker.operands[0])
    if maker is not None and maker.name == "to_levels":
        return maker.attribute("low") >= _LOW and maker.attribute("high") <= _HIGH
    if numbers.tensor is None or numbers.aval.dtype.name != "float32":
        return False
    values = np.asarray(numbers.tensor._data())
    draft.assumed[id(numbers.tensor)] = numbers.tensor
    return bool(((values == np.rint(values)) & (values >= _LOW) & (values <= _HIGH)).all())


# ---- putting a layer in --------------------------------------------------------------------------


def _put(draft: Draft, node: Node, weight: _Weight, grids: dict[int, _Grid]) -> None:
    """Puts the operation on bytes in the place of a layer and of what can be done with it."""
    gone: list[Node] = [node]
    residual: Value | None = None
    x, _, *rest = node.operands
    bias = rest[0] if rest else None
    shape, rank = node.output.aval.shape, node.output.aval.ndim
    following = only_user(draft, node)
    other = _summand(following, node.output)
    if node.name == "matmul" and other is not None and other.aval.shape == shape[-1:] and rank > 1:
        bias = other
        gone.append(following)  # type: ignore[arg-type]
        following = only_user(draft, following)  # type: ignore[arg-type]
        other = _summand(following, gone[-1].output)
    if other is not None and other.aval is node.output.aval:
        residual = other
        gone.append(following)  # type: ignore[arg-type]
        following = only_user(draft, following)  # type: ignore[arg-type]
    epilogue = activation_of(following) if following is not None else None
    if epilogue is not None and following is not None:
        gone.append(following)
    last = gone[-1]
    numbers, scale, zero = grids[id(x)].bytes()
    packed, scales = _packed(draft, node, last, weight)
    behind: list[Any] = [scales, bias, residual, None, None, None, None]
    if residual is not None and id(residual) in grids:
        behind[2:5] = grids[id(residual)].bytes()
    attributes: tuple[Any, ...] = ("float32", *(epilogue or _NO_EPILOGUE))
    if node.name == "conv":
        window = tuple(node.attribute(name) for name in ("stride", "padding", "dilation", "groups"))
        attributes = (node.operands[1].aval.shape, *window, *attributes)  # type: ignore[union-attr]
        made = draft.add(last, "quantised_conv", [numbers, packed, scale, zero, *behind], attributes)
    else:
        attributes = (shape[-1], *attributes)
        made = draft.add(last, "quantised_linear", [numbers, packed, scale, zero, *behind], attributes)
    draft.replace(last.output, made.output)
    for old in reversed(gone):
        draft.remove([old])


def _summand(node: Node | None, x: Value) -> Value | None:
    """What a node adds to x, in float32."""
    if node is None or node.name != "add":
        return None
    others = [o for o in node.operands if o is not x]
    if len(others) != 1 or not isinstance(others[0], Value) or others[0].aval.dtype.name != "float32":
        return None
    return others[0]


def _packed(draft: Draft, node: Node, before: Node, weight: _Weight) -> tuple[Value, Value]:
    """The weight in the order that the kernel reads, and a scale for each output."""
    shape = weight.numbers.aval.shape
    groups = node.attribute("groups") if node.name == "conv" else 1
    turned = node.name == "linear" or (node.name == "matmul" and not node.attribute("transpose_y"))
    outputs = shape[1] if turned else shape[0]

    def pack(numbers: Any) -> Any:
        numbers = cast_to(numbers, np.dtype("int8"))
        if turned:
            numbers = numbers.transpose([1, 0])
        if node.name == "conv" and is_depthwise(shape, groups):
            return numbers.reshape([outputs, -1]).transpose([1, 0])
        return packed_bytes(numbers, groups)

    def scales(scale: Any) -> Any:
        return cast_to(scale, np.dtype("float32")).reshape([-1]).expand([outputs]) * (1.0 / _LEVELS)

    return draft.record(before, pack, weight.numbers)[0], draft.record(before, scales, weight.scale)[0]


# ---- results as bytes ----------------------------------------------------------------------------


def _use_bytes(draft: Draft, grids: dict[int, _Grid]) -> None:
    """What else looks at numbers on a grid gets them from the bytes; layers that only a grid looks at write bytes."""
    for grid in {id(grid): grid for grid in grids.values() if grid.numbers is not None}.values():
        for back in [n for n in draft.nodes if n.name == "from_levels" and n.operands[0] is grid.rounding.output]:
            if back.output.users or draft.is_output(back.output):
                draft.replace(back.output, draft.record(back, dequantise, *grid.bytes())[0])
            draft.remove([back])
        if not grid.rounding.output.users and not draft.is_output(grid.rounding.output):
            draft.remove([grid.rounding])
        _write_bytes(draft, grid)


def _write_bytes(draft: Draft, grid: _Grid) -> None:
    assert grid.numbers is not None
    rounding = grid.numbers.maker
    assert rounding is not None
    x, scale, zero = rounding.operands
    assert isinstance(x, Value)
    layer = x.maker
    if (
        layer is None
        or layer.name not in ("quantised_conv", "quantised_linear")
        or not draft.used_only_by(x, [rounding])
    ):
        return
    place = layer.operation.attribute_names.index("out_dtype")
    attributes = (*layer.attributes[:place], "uint8", *layer.attributes[place + 1 :])
    made = draft.add(rounding, layer.operation, [*layer.operands[:-2], scale, zero], attributes)
    draft.replace(grid.numbers, made.output)
    draft.remove([rounding])
    draft.remove([layer])
    grid.numbers = made.output


__all__ = ["quantised_layers"]
