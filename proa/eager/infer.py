"""Shape rules shared by many operations: `rule(operation, operands, attributes, place)` gives abstract values.

`operands` holds an abstract value for each tensor, a Python type for a dynamic scalar, None for an absent one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ..core.aval import Aval, make_aval
from ..core.dtype import BOOL, FLOAT32, is_differentiable
from ..core.errors import AxisOutOfRange
from ..core.promotion import promote_scalar, promote_tensors
from ..ir.operation import NeedsPromotion, Operation

Kinds = Sequence[Any]
Rule = TypeVar("Rule", bound=Callable[..., Any])


def elementwise(rule: Rule) -> Rule:
    """Marks a shape rule of operations that work element by element: an element of a result comes from the elements at its
    place of the operands, which are broadcast. Whoever moves or cuts data relies on that (`ir/padding`)."""
    rule.elementwise = True
    return rule


def implies(**traits: Any) -> Callable[[Rule], Rule]:
    """The traits of operations with this shape rule, unless their declaration says otherwise (`ir/traits.py`)."""

    def mark(rule: Rule) -> Rule:
        rule.traits = traits
        return rule

    return mark


def broadcast_shapes(operation: Operation, operands: Kinds, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The common shape, or ValueError."""
    result: tuple[int, ...] = ()
    for shape in shapes:
        if shape == result or not shape:
            continue
        longer, shorter = (result, shape) if len(result) >= len(shape) else (shape, result)
        merged = list(longer)
        offset = len(longer) - len(shorter)
        for axis, extent in enumerate(shorter):
            here = merged[offset + axis]
            if here == extent or extent == 1:
                continue
            if here != 1:
                raise operation.error(
                    ValueError, f"the shapes {', '.join(str(list(s)) for s in shapes)} cannot be broadcast together",
                    operands, fix="make the dimensions equal or 1",
                )  # fmt: skip
            merged[offset + axis] = extent
        result = tuple(merged)
    return result


def common_dtype(operation: Operation, operands: Kinds) -> np.dtype:
    """The dtype that all tensors have; asks for promotion (or raises) when they differ."""
    tensors = [k for k in operands if isinstance(k, Aval)]
    first = tensors[0].dtype
    if operation.promote and len(tensors) == 2:
        a, b = tensors
        common = promote_tensors(
            operation.name, a.dtype, b.dtype, operation.promotion, a_is_0d=not a.shape, b_is_0d=not b.shape
        )
        if a.dtype != common or b.dtype != common:
            raise NeedsPromotion
        return common
    for other in tensors[1:]:
        if other.dtype != first:
            raise operation.error(
                TypeError, "the tensors have different data types", operands, fix="convert one with astype()"
            )
    return first


@elementwise
def broadcast(operation: Operation, operands: Kinds, attributes: tuple[Any, ...], place: Any) -> Aval:
    """Elementwise over broadcast operands of one dtype."""
    if operation.promote and any(isinstance(k, type) for k in operands):
        _check_scalar(operation, operands)
    dtype = common_dtype(operation, operands)
    return make_aval(
        broadcast_shapes(operation, operands, [k.shape for k in operands if isinstance(k, Aval)]), dtype, place
    )


def _check_scalar(operation: Operation, operands: Kinds) -> None:
    tensor = next(k for k in operands if isinstance(k, Aval))
    scalar = next(k for k in operands if isinstance(k, type))
    if promote_scalar(operation.name, tensor.dtype, scalar, operation.promotion) != tensor.dtype:
        raise NeedsPromotion


@elementwise
def broadcast_to_bool(operation: Operation, operands: Kinds, attributes: tuple[Any, ...], place: Any) -> Aval:
    return broadcast(operation, operands, attributes, place).with_dtype(BOOL)


@elementwise
def same(operation: Operation, operands: Kinds, attributes: tuple[Any, ...], place: Any) -> Aval:
    """Elementwise, with the first operand's shape and dtype."""
    return operands[0]


def same_shape(operation: Operation, operands: Kinds, attributes: tuple[Any, ...], place: Any) -> Aval:
    """The first operand's shape and dtype, but elements do not stay at their places."""
    return operands[0]


@elementwise
def same_to_bool(operation: Operation, operands: Kinds, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0].with_dtype(BOOL)


@elementwise
def floating(operation: Operation, operands: Kinds, attributes: tuple[Any, ...], place: Any) -> Aval:
    """Elementwise; integers give float32, whatever the default dtype."""
    aval: Aval = operands[0]
    return aval if is_differentiable(aval.dtype) else aval.with_dtype(FLOAT32)


def normalise_axis(operation_name: str, axis: int, ndim: int, extra: int = 0) -> int:
    """A non-negative axis, or an error naming the range; a tensor without dimensions counts as having one."""
    limit = ndim + extra or 1
    if not -limit <= axis < limit:
        raise AxisOutOfRange(
            f"({operation_name}) axis {axis} is out of range; expected {-limit} to {limit - 1} for a tensor with "
            f"{ndim} dimension(s)."
        )
    return axis + limit if axis < 0 else axis


@implies(family="reduction")
def reduce(operation: Operation, operands: Kinds, attributes: tuple[Any, ...], place: Any) -> Aval:
    """Reduction over `axis` (a tuple of non-negative axes) with `keepdim`, the first two attributes."""
    axes, keepdim = attributes[0], attributes[1]
    aval: Aval = operands[0]
    if keepdim:
        return aval.with_shape(tuple(1 if i in axes else n for i, n in enumerate(aval.shape)))
    return aval.with_shape(tuple(n for i, n in enumerate(aval.shape) if i not in axes))
