"""Tensors put together and taken apart: concat, stack, split, chunk, unbind, unstack.

Taking apart is one operation with many results, whose gradient puts the pieces together again: so a
loop over all rows costs one pass over the data in either direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.errors import type_error, value_error
from ...core.symbols import fixed
from ...eager import series
from ...eager.annotations import AxisLike
from ...eager.declare import op, public
from ...eager.infer import common_dtype
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...eager.views import assign_in_place
from ...ir.padding import rules
from ..arguments import integer, integers, one_axis, require_tensor
from ..basic import full_of


def _tensors(where: str, x: Any) -> list[Tensor]:
    """The tensors of a list; ValueError for what Paddle refuses as well: no list, an empty one,
    other things in it."""
    if isinstance(x, Tensor) or not isinstance(x, (list, tuple)):
        raise value_error(where, "x must be a list of tensors", type(x).__name__, "put the tensors into a list")
    if not x:
        raise value_error(where, "the list of tensors is empty")
    for position, item in enumerate(x):
        if not isinstance(item, Tensor):
            raise value_error(where, "x must be a list of tensors", f"x[{position}]: {type(item).__name__}")
    return list(x)


def _same_types(operation: Any, operands: Sequence[Aval]) -> None:
    try:
        common_dtype(operation, operands)
    except TypeError as error:
        raise ValueError(str(error)) from None  # the type that Paddle raises here


# ---- concat --------------------------------------------------------------------------------------


def _infer_concat(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    (axis,) = attributes
    _same_types(operation, operands)
    first = operands[0]
    for other in operands[1:]:
        if other.ndim != first.ndim or other.shape[:axis] + other.shape[axis + 1 :] != (
            first.shape[:axis] + first.shape[axis + 1 :]
        ):
            raise operation.error(
                ValueError,
                f"the shapes may differ along axis {axis} only",
                operands,
                fix="reshape, pad or slice the odd one",
            )
    extent = sum(aval.shape[axis] for aval in operands)
    return first.with_shape((*first.shape[:axis], extent, *first.shape[axis + 1 :]))


def _grad_concat(g: Tensor, avals: Sequence[Aval], attributes: tuple[Any, ...], needed: list[bool]) -> Any:
    (axis,) = attributes
    return split_at([g], tuple(aval.shape[axis] for aval in avals), axis)


@op(
    variadic=True,
    infer=_infer_concat,
    grad=_grad_concat,
    name="concat",
    family="movement",
    padding=rules.moving.concat,
    series=series.algebra.joined,
)
def concat_along(xp: Any, x: list[Any], axis: int) -> Any:
    return xp.concatenate(x, axis=axis)


@samples(
    S([A(2, 3), A(1, 3)]),
    S([A(2, 3), A(2, 2)], axis=-1),
    S([A(0, 3), A(2, 3)], 0),
    S([A(2)]),
    S([A(2, dtype="int64"), A(1, dtype="int64")]),
    reference=lambda x, axis=0: np.concatenate(x, axis),
)
@public(name="concat cat concatenate", method="concat", aliases="x=tensors")
def concat(x: Sequence[Tensor], axis: AxisLike = 0, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Tensors joined along an existing axis.

    Args:
        x: a list of tensors; their other dimensions are equal.
        axis: the axis.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Raises:
        ValueError: other dimensions differ.

    Examples:
        >>> paddle.concat([paddle.ones([1, 2]), paddle.zeros([2, 2])], axis=0).tolist()
        [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    """
    tensors = _tensors("concat", x)
    ndim = tensors[0]._aval.ndim
    if ndim == 0:
        raise value_error(
            "concat",
            "tensors without dimensions have no axis to join",
            f"x[0]: {tensors[0]._aval}",
            "use stack()",
        )
    joined = concat_along(tensors, one_axis("concat", axis, ndim))
    return joined if out is None else assign_in_place(out, joined, "concat")


# ---- stack ---------------------------------------------------------------------------------------


def _infer_stack(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    (axis,) = attributes
    _same_types(operation, operands)
    shape = operands[0].shape
    if any(aval.shape != shape for aval in operands):
        raise operation.error(ValueError, "the tensors must have the same shape", operands)
    return operands[0].with_shape((*shape[:axis], len(operands), *shape[axis:]))


def _grad_stack(g: Tensor, avals: Sequence[Aval], attributes: tuple[Any, ...], needed: list[bool]) -> Any:
    return rows_of([g], attributes[0])


@op(
    variadic=True,
    infer=_infer_stack,
    grad=_grad_stack,
    name="stack",
    family="movement",
    padding=rules.shapes.stack,
    series=series.algebra.joined,
)
def stack_along(xp: Any, x: list[Any], axis: int) -> Any:
    return xp.stack(x, axis=axis)


@samples(
    S([A(2, 3), A(2, 3)]),
    S([A(2, 3), A(2, 3)], axis=-1),
    S([A(), A(), A()]),
    S([A(0, 2)], 1),
    reference=lambda x, axis=0: np.stack(x, axis),
)
@public(method=True, aliases="x=tensors")
def stack(x: Sequence[Tensor], axis: AxisLike = 0, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Tensors of one shape joined along a new axis.

    Args:
        x: a list of tensors.
        axis: where the new axis is.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.stack([paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])], axis=1).tolist()
        [[1, 3], [2, 4]]
    """
    tensors = _tensors("stack", x)
    joined = stack_along(tensors, one_axis("stack", axis, tensors[0]._aval.ndim, extra=1))
    return joined if out is None else assign_in_place(out, joined, "stack")


# ---- split ---------------------------------------------------------------------------------------


def _present(grads: Sequence[Tensor | None], shapes: Sequence[tuple[int, ...]]) -> list[Tensor]:
    """The gradients of several results, zeros where a result was not used."""
    dtype = next(g._aval.dtype for g in grads if g is not None)
    return [full_of(0, shape, dtype) if g is None else g for g, shape in zip(grads, shapes)]


def _infer_split(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Aval, ...]:
    sections, axis = attributes
    aval = operands[0]
    return tuple(aval.with_shape((*aval.shape[:axis], n, *aval.shape[axis + 1 :])) for n in sections)


def _grad_split(grads: Any, avals: Sequence[Aval], attributes: tuple[Any, ...], needed: list[bool]) -> Any:
    sections, axis = attributes
    shape = avals[0].shape
    shapes = [(*shape[:axis], n, *shape[axis + 1 :]) for n in sections]
    return (concat_along(_present(grads, shapes), axis),)


@op(
    variadic=True,
    outputs="list",
    infer=_infer_split,
    grad=_grad_split,
    name="split",
    family="movement",
    paddle_name="split_with_num",
    padding=rules.moving.split,
    series=series.algebra.parted,
)
def split_at(xp: Any, x: list[Any], sections: tuple[int, ...], axis: int) -> Any:
    ends = np.cumsum(sections)[:-1].tolist()
    return tuple(xp.split(x[0], ends, axis=axis))


def _sections(where: str, num_or_sections: Any, aval: Aval, axis: int) -> tuple[int, ...]:
    """Sizes of the pieces: equal ones for a number, else as given with one -1 filled in."""
    extent = aval.shape[axis]
    if num_or_sections.__class__ is int and num_or_sections > 0 and extent % num_or_sections == 0:
        return (extent // num_or_sections,) * num_or_sections
    received = f"x: {aval}, num_or_sections: {num_or_sections}, axis: {axis}"
    if isinstance(num_or_sections, (list, tuple)):
        sections = list(integers(where, "num_or_sections", num_or_sections))
        unknown = [i for i, n in enumerate(sections) if n == -1]
        known = sum(n for n in sections if n != -1)
        if len(unknown) > 1 or any(n < -1 for n in sections):
            raise value_error(where, "one section at most may be -1, and none may be below", received)
        if unknown and known <= extent:
            sections[unknown[0]] = extent - known
        elif known != extent:
            raise value_error(where, f"the sections {sections} do not add up to {extent}", received)
        return tuple(sections)
    if isinstance(num_or_sections, float):
        raise type_error(where, "num_or_sections must be an integer or a list of integers", received)
    num = integer(where, "num_or_sections", num_or_sections)
    if num <= 0 or extent % num:
        raise value_error(
            where,
            f"{extent} elements cannot be split into {num} equal parts",
            received,
            "give a list of sizes",
        )
    return (extent // num,) * num


def _split(where: str, x: Tensor, num_or_sections: Any, axis: Any) -> list[Tensor]:
    aval = require_tensor(where, "x", x)._aval
    if aval.ndim == 0:
        raise value_error(where, "a tensor without dimensions cannot be split", f"x: {aval}")
    along = one_axis(where, axis, aval.ndim)
    return list(split_at([x], _sections(where, num_or_sections, aval, along), along))


def _reference_split(x: Any, num_or_sections: Any, axis: int = 0) -> list[Any]:
    if isinstance(num_or_sections, int):
        return np.split(x, num_or_sections, axis)
    known = [n if n >= 0 else x.shape[axis] - sum(m for m in num_or_sections if m >= 0) for n in num_or_sections]
    return np.split(x, np.cumsum(known)[:-1], axis)


@samples(
    S(A(4, 3), 2),
    S(A(2, 6), [1, 2, 3], axis=1),
    S(A(2, 6), [2, -1], -1),
    S(A(2, 3), [2, 0]),
    S(A(4, dtype="int32"), 4),
    reference=_reference_split,
)
@public(method=True)
def split(
    x: Tensor, num_or_sections: int | Sequence[int | Tensor], axis: AxisLike = 0, name: str | None = None
) -> list[Tensor]:
    """A tensor cut along an axis.

    Args:
        x: the tensor.
        num_or_sections: the number of equal parts, or their sizes, of which one may be -1.
        axis: the axis.
        name: a label; it changes nothing.

    Returns:
        A list of tensors.

    Raises:
        ValueError: the axis cannot be cut like that.

    Examples:
        >>> [part.tolist() for part in paddle.split(paddle.arange(6), [1, 2, -1])]
        [[0], [1, 2], [3, 4, 5]]
    """
    return _split("split", x, num_or_sections, axis)


@samples(
    S(A(4, 3), 2),
    S(A(2, 6), 3, axis=-1),
    S(A(3), 1),
    reference=lambda x, n, axis=0: np.split(x, n, axis),
)
@public(method=True)
def chunk(x: Tensor, chunks: int, axis: AxisLike = 0, name: str | None = None) -> list[Tensor]:
    """A tensor cut along an axis into equal parts.

    Args:
        x: the tensor.
        chunks: how many.
        axis: the axis.
        name: a label; it changes nothing.

    Raises:
        ValueError: the axis cannot be cut into that many equal parts.

    Examples:
        >>> [part.tolist() for part in paddle.chunk(paddle.arange(4), 2)]
        [[0, 1], [2, 3]]
    """
    return _split("chunk", x, integer("chunk", "chunks", chunks), axis)


# ---- unbind --------------------------------------------------------------------------------------


def _infer_rows(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Aval, ...]:
    (axis,) = attributes
    aval = operands[0]
    return (aval.with_shape(aval.shape[:axis] + aval.shape[axis + 1 :]),) * aval.shape[axis]


def _grad_rows(grads: Any, avals: Sequence[Aval], attributes: tuple[Any, ...], needed: list[bool]) -> Any:
    (axis,) = attributes
    shape = avals[0].shape
    rest = shape[:axis] + shape[axis + 1 :]
    return (stack_along(_present(grads, [rest] * shape[axis]), axis),)


@op(
    variadic=True,
    outputs="list",
    infer=_infer_rows,
    grad=_grad_rows,
    name="unbind",
    family="movement",
    padding=rules.shapes.unbind,
    series=series.algebra.parted,
)
def rows_of(xp: Any, x: list[Any], axis: int) -> Any:
    # The axis in front, by a method: `moveaxis` takes longer than all else here.
    moved = x[0].transpose(axis, *[other for other in range(x[0].ndim) if other != axis])
    return tuple([moved[i] for i in range(moved.shape[0])])


def rows(where: str, x: Tensor, axis: Any) -> list[Tensor]:
    aval = require_tensor(where, "x", x)._aval
    if aval.ndim == 0:
        raise value_error(where, "a tensor without dimensions cannot be taken apart", f"x: {aval}")
    along = one_axis(where, axis, aval.ndim)
    # As many results as there are slices: that number is part of the program.
    return list(rows_of([x], along)) if fixed(aval.shape[along]) else []


@samples(
    S(A(2, 3)),
    S(A(2, 3, 2), axis=1),
    S(A(3), -1),
    reference=lambda x, axis=0: [*np.moveaxis(x, axis, 0)],
)
@public(method=True)
def unbind(input: Tensor, axis: int = 0) -> list[Tensor]:
    """The slices of a tensor along an axis, without that axis; they share memory with it.

    Args:
        input: the tensor.
        axis: the axis.

    Examples:
        >>> [row.tolist() for row in paddle.unbind(paddle.to_tensor([[1, 2], [3, 4]]))]
        [[1, 2], [3, 4]]
    """
    from ..index.index_stages import register_rows

    result = rows("unbind", input, axis)
    register_rows(input, result, axis if axis >= 0 else axis + input._aval.ndim)
    return result


@samples(
    S(A(2, 3)),
    S(A(2, 3, 2), axis=1, num=3),
    S(A(3), -1),
    reference=lambda x, axis=0, num=None: [*np.moveaxis(x, axis, 0)],
)
@public(method=True)
def unstack(x: Tensor, axis: AxisLike = 0, num: int | None = None) -> list[Tensor]:
    """The slices of a tensor along an axis, without that axis, as new tensors.

    Args:
        x: the tensor.
        axis: the axis.
        num: how many there are, if given.

    Examples:
        >>> [column.tolist() for column in paddle.unstack(paddle.to_tensor([[1, 2], [3, 4]]), axis=1)]
        [[1, 3], [2, 4]]
    """
    result = rows("unstack", x, axis)
    if num is not None and integer("unstack", "num", num) != len(result):
        raise value_error(
            "unstack",
            f"num is {num}, but there are {len(result)} slices",
            f"x: {x._aval}, axis: {axis}",
        )
    return result
