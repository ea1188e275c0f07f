"""What each operation does with padded axes (see `padding.py`): the axes of its results, and the fills that it needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.symbols import SymbolicSize, same_sizes
from ..ir.program import Instruction
from .padding import Analysis, Axes, Axis, Refused, Size, padded, product_of, rule, sizes_of


def _broadcast(operands: Sequence[Axes]) -> Axes:
    longest = max(len(axes) for axes in operands)
    result: Axes = []
    for position in range(longest):
        found: Axis = (1,)
        for axes in operands:
            index = position - (longest - len(axes))
            if index < 0 or axes[index] == (1,):
                continue
            if found not in ((1,), axes[index]):
                raise Refused("tensors are padded differently", sizes_of([found, axes[index]]))
            found = axes[index]
        result.append(found)
    return result


_ELEMENTWISE = (
    "add subtract multiply divide floor_divide floor_divide_integers remainder remainder_of_integers pow maximum "
    "minimum fmax fmin atan2 copysign equal not_equal less_than less_equal greater_than greater_equal logical_and "
    "logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor bitwise_not isnan isinf isfinite where "
    "clip cast assign scale times fixed neg abs sign floor ceil round trunc sqrt rsqrt square reciprocal exp "
    "expm1 log log2 log10 log1p sigmoid tanh erf erfinv sin cos tan asin acos atan sinh cosh asinh acosh atanh "
    "integer_power relu hardswish leaky_relu exponential_unit gelu silu softplus log_sigmoid dropout "
    "dropout_scale nan_to_num fill gate hypot logaddexp heaviside lgamma digamma logit normalise_by isclose "
    "zero_slope triple_product sigmoid_cross_entropy probability_cross_entropy "
)


@rule(_ELEMENTWISE)
def _elementwise(_analysis: Analysis, instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    present = [axes for axes in operands if axes is not None]
    if instruction.operation.name == "normalise_by":
        present = present[:1]  # the statistics belong to the channels, whose number is known
    return [_broadcast(present) for _ in instruction.outputs]


@rule("full zeros ones arange")
def _created(analysis: Analysis, instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    return [[analysis.axis(size) for size in instruction.outputs[0].shape]]


@rule("linear")
def _linear(_analysis: Analysis, _instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    x, weight = operands[0], operands[1]
    assert x is not None
    assert weight is not None
    if padded(x[-1]) or any(padded(axis) for axis in weight):
        raise Refused("linear: the features are padded", sizes_of([x[-1], *weight]))
    return [[*x[:-1], weight[-1]]]


@rule("matmul")
def _matmul(analysis: Analysis, instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    x, y = operands[0], operands[1]
    assert x is not None
    assert y is not None
    if len(x) < 2 or len(y) < 2:
        raise Refused("matmul of vectors", sizes_of([*x, *y]))
    transpose_x, transpose_y = instruction.attributes
    inner_x, inner_y = (len(x) - 2 if transpose_x else len(x) - 1), (len(y) - 1 if transpose_y else len(y) - 2)
    if x[inner_x] != y[inner_y]:
        raise Refused("matmul: the inner axes are padded differently", sizes_of([x[inner_x], y[inner_y]]))
    if padded(x[inner_x]):
        analysis.fill(instruction, 0, inner_x, x[inner_x], 0)
        analysis.fill(instruction, 1, inner_y, y[inner_y], 0)
    rows, columns = (x[-1] if transpose_x else x[-2]), (y[-2] if transpose_y else y[-1])
    return [[*_broadcast([x[:-2] or [(1,)], y[:-2] or [(1,)]])[: max(len(x), len(y)) - 2], rows, columns]]


_MINUS, _PLUS = float("-inf"), float("inf")


@rule("softmax log_softmax")
def _softmax(analysis: Analysis, instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    x = operands[0]
    assert x is not None
    axis = instruction.attributes[0] % len(x)
    if padded(x[axis]):
        analysis.fill(instruction, 0, axis, x[axis], _MINUS)
    return [x]


_NEUTRAL = {"sum": 0, "max": _MINUS, "min": _PLUS, "prod": 1, "any": 0, "all": 1, "logsumexp": _MINUS, "mean": 0}


@rule(" ".join(_NEUTRAL))
def _reduction(analysis: Analysis, instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    x = operands[0]
    assert x is not None
    name, (axes, keepdim) = instruction.operation.name, instruction.attributes[:2]
    longer = [axis for axis in axes if padded(x[axis])]
    for axis in longer:
        analysis.fill(instruction, 0, axis, x[axis], _NEUTRAL[name])
    if name == "mean" and longer:
        if len(longer) > 1:
            raise Refused("mean over two padded axes", sizes_of(x[axis] for axis in longer))
        analysis.plan.means[instruction.index] = x[longer[0]][0].symbol
    return [[(1,) if i in axes else axis for i, axis in enumerate(x) if keepdim or i not in axes]]


@rule("argmax argmin")
def _position_of_extreme(analysis: Analysis, instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    x = operands[0]
    assert x is not None
    axis, keepdim = instruction.attributes[:2]
    if not isinstance(axis, int):
        raise Refused("argmax over all axes", sizes_of(x))
    axis %= len(x)
    if padded(x[axis]):
        value = _MINUS if instruction.operation.name == "argmax" else _PLUS
        analysis.fill(instruction, 0, axis, x[axis], value)
    return [[(1,) if i == axis else a for i, a in enumerate(x) if keepdim or i != axis]]


@rule("cumsum cumprod")
def _running(_analysis: Analysis, instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    x = operands[0]
    assert x is not None
    if instruction.attributes[-1] and padded(x[instruction.attributes[0] % len(x)]):
        raise Refused(f"{instruction.operation.name} from the end", sizes_of([x[instruction.attributes[0] % len(x)]]))
    return [x]


@rule("sort argsort flip roll shift_along logcumsumexp cumulative_extreme")
def _along(_analysis: Analysis, instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    """Moves things along axes that must not be padded; the others do not matter."""
    x = operands[0]
    assert x is not None
    names = instruction.operation.attribute_names
    given = instruction.attributes[names.index("axes" if "axes" in names else "axis")]
    moved = [x[axis % len(x)] for axis in (given if isinstance(given, tuple) else (given,))]
    if any(padded(axis) for axis in moved):
        raise Refused(f"{instruction.operation.name} runs along a padded axis", sizes_of(moved))
    return [x for _ in instruction.outputs]


@rule("tril triu")
def _triangle(_analysis: Analysis, _instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    assert operands[0] is not None
    return [operands[0]]


@rule("normalise")
def _normalise(analysis: Analysis, instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    x = operands[0]
    assert x is not None
    attributes = dict(zip(instruction.operation.attribute_names, instruction.attributes, strict=True))
    view, axes = attributes["view"], attributes["axes"]
    if view and not same_sizes(analysis.normal(tuple(view)), tuple(product_of(axis) for axis in x)):
        seen = _reshaped(x, analysis.normal(tuple(view)))
    else:
        seen = x
    along = [seen[axis] for axis in axes]
    if any(padded(axis) for axis in along):
        raise Refused("a normalisation runs along a padded axis", sizes_of(along))
    return [x]


@rule("transpose")
def _transpose(_analysis: Analysis, instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    x = operands[0]
    assert x is not None
    return [[x[axis] for axis in instruction.attributes[0]]]


@rule("reshape")
def _reshape(analysis: Analysis, instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    assert operands[0] is not None
    return [_reshaped(operands[0], analysis.normal(instruction.outputs[0].shape))]


def _reshaped(x: Axes, shape: Sequence[int]) -> Axes:
    """The axes of a reshape: the same factors in the same order, grouped otherwise; known ones may be split."""
    factors = [factor for axis in x for factor in axis if factor != 1]
    result: Axes = []
    for wanted in shape:
        taken: list[Any] = []
        rest = wanted
        while isinstance(rest, SymbolicSize) or rest != 1:
            if not factors:
                raise Refused("a reshape mixes padded axes with others", sizes_of(x))
            factor = factors.pop(0)
            number = factor.number if isinstance(factor, Size) else factor
            if _divides(number, rest):
                taken.append(factor)
                rest //= number
            elif not isinstance(factor, Size) and not isinstance(rest, SymbolicSize) and _divides(rest, number):
                taken.append(rest)
                factors.insert(0, number // rest)
                rest = 1
            else:
                raise Refused("a reshape mixes padded axes with others", sizes_of(x))
        result.append(_joined(taken))
    return result


def _divides(divisor: int, number: int) -> bool:
    """Whether a number can be divided, whatever the unknown sizes are."""
    rest = number % divisor if not isinstance(divisor, int) or isinstance(divisor, SymbolicSize) or divisor else 1
    return rest.__class__ is int and rest == 0


def _joined(factors: list[Any]) -> Axis:
    """Factors with neighbouring numbers multiplied."""
    result: list[Any] = []
    for factor in factors:
        if result and not isinstance(factor, Size) and not isinstance(result[-1], Size):
            result[-1] *= factor
        else:
            result.append(factor)
    return tuple(result) or (1,)


@rule("expand")
def _expand(analysis: Analysis, instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    x = operands[0]
    assert x is not None
    shape = instruction.outputs[0].shape
    given = [(1,)] * (len(shape) - len(x)) + list(x)
    return [[analysis.axis(size) if axis == (1,) else axis for axis, size in zip(given, shape, strict=True)]]


@rule("getitem")
def _getitem(analysis: Analysis, instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    x = operands[0]
    assert x is not None
    result: Axes = []
    position = 0
    moving = [
        entry for entry in instruction.attributes[0] if entry is not None and (entry == "position" or len(entry) == 1)
    ]
    if len(moving) > 1:
        # Where they are is one number, whose digits depend on the sizes of these axes.
        raise Refused("several axes are indexed at once", sizes_of(x))
    for entry in instruction.attributes[0]:
        if entry is None:
            result.append((1,))
            continue
        axis = x[position]
        position += 1
        if entry == "position":
            continue
        if len(entry) == 1:
            if isinstance(entry[0], SymbolicSize):
                raise Refused("a slice whose length depends on a padded axis", sizes_of([axis]))
            result.append((entry[0],))
        elif same_sizes(analysis.normal(entry), (0, product_of(axis), 1)):
            result.append(axis)
        elif padded(axis):
            raise Refused("a slice of a padded axis", sizes_of([axis]))
        elif isinstance(analysis.normal(entry[0]), SymbolicSize):
            raise Refused("a slice that begins at a padded size", sizes_of([analysis.axis(entry[0])]))
        else:
            result.append(analysis.axis(entry[1]))
    return [[*result, *x[position:]]]


@rule("embedding")
def _embedding(_analysis: Analysis, _instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    x, weight = operands[0], operands[1]
    assert x is not None
    assert weight is not None
    if any(padded(axis) for axis in weight):
        raise Refused("embedding: the table is padded", sizes_of(weight))
    return [[*x, *weight[1:]]]


@rule("one_hot")
def _one_hot(analysis: Analysis, instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    assert operands[0] is not None
    return [[*operands[0], analysis.axis(instruction.outputs[0].shape[-1])]]


@rule("concat")
def _concat(_analysis: Analysis, instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    parts = [axes for axes in operands if axes is not None]
    axis = instruction.attributes[0] % len(parts[0])
    along = [part[axis] for part in parts]
    if any(padded(a) for a in along):
        raise Refused("concat along a padded axis", sizes_of(along))
    others = _broadcast([[(1,) if i == axis else a for i, a in enumerate(part)] for part in parts])
    others[axis] = (sum(product_of(a) for a in along),)
    return [others]


@rule("stack")
def _stack(_analysis: Analysis, instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    parts = [axes for axes in operands if axes is not None]
    axis = instruction.attributes[0] % (len(parts[0]) + 1)
    merged = _broadcast(parts)
    return [[*merged[:axis], (len(parts),), *merged[axis:]]]


@rule("split unbind")
def _split(_analysis: Analysis, instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    x = operands[0]
    assert x is not None
    axis = instruction.attributes[-1] % len(x)
    if padded(x[axis]):
        raise Refused(f"{instruction.operation.name} along a padded axis", sizes_of([x[axis]]))
    if instruction.operation.name == "unbind":
        return [[*x[:axis], *x[axis + 1 :]] for _ in instruction.outputs]
    return [[*x[:axis], (aval.shape[axis],), *x[axis + 1 :]] for aval in instruction.outputs]


@rule("conv max_pool avg_pool adaptive_average")
def _batchwise(analysis: Analysis, instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    x = operands[0]
    assert x is not None
    others = [axis for axes in operands if axes is not None and axes is not x for axis in axes]
    if any(padded(axis) for axis in (*x[1:], *others)):
        raise Refused(f"{instruction.operation.name} runs along a padded axis", sizes_of([*x[1:], *others]))
    return [[x[0], *((size,) for size in aval.shape[1:])] for aval in instruction.outputs]


@rule("attention")
def _attention(analysis: Analysis, instruction: Instruction, operands: list[Axes | None]) -> list[Axes]:
    """[batch, length, heads, size]; keys beyond the real ones get a score of -inf."""
    query, keys, values, mask = operands[:4]
    causal = instruction.attributes[instruction.operation.attribute_names.index("causal")]
    assert query is not None
    assert keys is not None
    assert values is not None
    length = keys[1]
    if any(padded(axis) for axis in (*query[2:], *keys[2:], *values[2:])):
        raise Refused("attention: the heads or features are padded", sizes_of([*query[2:], *keys[2:]]))
    if padded(length):
        analysis.fill(instruction, 2, 1, length, 0)
        if mask is not None:
            if mask[-1] != length:
                raise Refused("attention: the mask is the same for all keys", sizes_of([length]))
            value = 0 if instruction.kinds[3].dtype.kind == "b" else _MINUS  # type: ignore[union-attr]
            analysis.fill(instruction, 3, len(mask) - 1, length, value)
        elif not (causal and query[1] == length):
            analysis.plan.masks[instruction.index] = length[0].symbol
    if causal and query[1] != length:
        raise Refused(
            "attention: queries and keys of different lengths with a causal mask", sizes_of([query[1], length])
        )
    return [[query[0], query[1], query[2], values[3]]]
