"""Shapes, order of axes, joining and splitting, padding, triangles and diagonals."""

from __future__ import annotations

from typing import Any

from ...core.symbols import maximum, minimum
from ..builder import Builder, Made, is_unknown
from ..registry import Call, translates
from .creation import counted


def _of_its_own(b: Builder, x: Made, result: Made) -> Made:
    return b.copied(x) if result is x else result


@translates("reshape")
def reshape(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    return _of_its_own(b, x, b.reshape(x, c.sizes))


@translates("transpose")
def transpose(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    return _of_its_own(b, x, b.transpose(x, [axis % x.ndim for axis in c.attributes[0]]))


@translates("expand")
def expand(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    return _of_its_own(b, x, b.expand(x, c.sizes))


@translates("concat")
def concat(b: Builder, c: Call) -> Made:
    parts = [c.tensor(b, position, c.dtype) for position in range(len(c.operands))]
    return b.emit("Concat", parts, c.types[0], axis=int(c.attributes[0]) % len(c.sizes))


@translates("stack")
def stack(b: Builder, c: Call) -> Made:
    parts = [c.tensor(b, position, c.dtype) for position in range(len(c.operands))]
    axis = int(c.attributes[0]) % len(c.sizes)
    return _of_its_own(b, parts[0], b.stack(parts, axis))


@translates("split")
def split(b: Builder, c: Call) -> list[Made]:
    x, axis = c.operands[0], int(c.attributes[1])
    return b.split(x, [sizes[axis] for _, sizes in c.types], axis % x.ndim)


@translates("unbind")
def unbind(b: Builder, c: Call) -> list[Made]:
    x = c.operands[0]
    axis = int(c.attributes[0]) % x.ndim
    if not c.types:
        return []
    return [
        b.reshape(part, sizes) for part, (_, sizes) in zip(b.split(x, [1] * len(c.types), axis), c.types, strict=True)
    ]


@translates("tile")
def tile(b: Builder, c: Call) -> Made:
    x, repeats = c.operands[0], tuple(c.attributes[0])
    rank = max(x.ndim, len(repeats))
    x = b.reshape(x, (1,) * (rank - x.ndim) + x.sizes)
    return b.emit("Tile", [x, b.shape_of((1,) * (rank - len(repeats)) + repeats)], c.types[0])


@translates("flip")
def flip(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    return _of_its_own(b, x, b.flip(x, [axis % x.ndim for axis in c.attributes[0]]))


@translates("roll")
def roll(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    result = x
    for shift, axis in zip(*c.attributes, strict=True):
        extent = x.sizes[axis]
        if not is_unknown(extent) and extent == 0:
            continue
        back = shift % extent  # from 0 to the extent, also where that is not known
        place = extent - back
        if not is_unknown(place) and place == extent:
            continue
        axis = axis % x.ndim
        ahead, behind = b.slice(result, [axis], [place], [extent]), b.slice(result, [axis], [0], [place])
        result = b.emit("Concat", [ahead, behind], x.type, axis=axis)
    return _of_its_own(b, x, result)


@translates("pad")
def pad(b: Builder, c: Call) -> Made:
    return padded(b, c.operands[0], c.attributes[0], c.tensor(b, 1, c.dtype), c.sizes)


def padded(b: Builder, x: Made, pairs: Any, value: Made, sizes: Any) -> Made:
    """With so many elements before and behind each axis; ONNX cuts where a number is negative, too."""
    befores, behinds = ([pair[side] for pair in pairs] for side in (0, 1))
    if not any(is_unknown(number) or number for number in (*befores, *behinds)):
        return b.copied(x)
    return b.emit("Pad", [x, b.shape_of([*befores, *behinds]), b.reshape(value, ())], (x.dtype, sizes))


@translates("shift_along")
def shift_along(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    axis, step = c.attributes
    pairs = [(0, 0)] * x.ndim
    pairs[axis] = (1, -1) if step > 0 else (-1, 1)
    return padded(b, x, pairs, b.scalar(0, x.dtype), x.sizes)


@translates("tril", "triu")
def triangle(b: Builder, c: Call) -> Made:
    inputs = [c.operands[0], b.scalar(int(c.attributes[0]), "int64")]
    return b.emit("Trilu", inputs, c.types[0], upper=int(c.name == "triu"))


def _diagonal_first(b: Builder, x: Made, c: Call) -> tuple[Made, list[int], int, int]:
    """x with the two axes of a diagonal last, the order that was made, the offset and the diagonal's length."""
    offset, first, second = c.attributes
    first, second = first % x.ndim, second % x.ndim
    order = [*(a for a in range(x.ndim) if a not in (first, second)), first, second]
    moved = b.transpose(x, order)
    rows, columns = moved.sizes[-2:]
    return moved, order, offset, maximum(minimum(rows + min(offset, 0), columns - max(offset, 0)), 0)


@translates("diagonal", "diag")
def diagonal(b: Builder, c: Call) -> Made:
    """Both axes as one, of which the elements in steps of a row and one more are taken."""
    x, _, offset, count = _diagonal_first(b, c.operands[0], c)
    rows, columns = x.sizes[-2:]
    flat = b.reshape(x, (*x.sizes[:-2], rows * columns))
    start = offset if offset >= 0 else -offset * columns
    places = b.binary("Add", b.binary("Mul", counted(b, count), b.size(columns + 1)), b.size(start))
    taken = b.gather(flat, places, flat.ndim - 1)
    taken.sizes = tuple(c.sizes)  # the length as the capture has it
    return taken


@translates("with_diagonal")
def with_diagonal(b: Builder, c: Call) -> Made:
    x, y = c.operands[0], c.tensor(b, 1, c.dtype)
    moved, order, offset, count = _diagonal_first(b, x, c)
    if not is_unknown(count) and count == 0:
        return b.copied(x)
    y = b.expand(y, (*moved.sizes[:-2], count))
    rows, columns = (counted(b, size) for size in moved.sizes[-2:])
    # On the diagonal an element is counted by its row, or by its column where that begins first.
    along_rows = offset >= 0
    numbers = rows if along_rows else columns
    last = b.binary("Sub", b.size(count), b.scalar(1, "int64"))
    taken = b.gather(y, b.binary("Min", numbers, last), y.ndim - 1)
    lead = moved.sizes[:-2]
    grown = b.reshape(taken, (*lead, numbers.sizes[0], 1) if along_rows else (*lead, 1, numbers.sizes[0]))
    upright = b.reshape(rows, (moved.sizes[-2], 1))
    mask = b.binary("Equal", columns, b.with_number("Add", upright, offset), "bool")
    result = b.where(mask, grown, moved)
    return b.transpose(result, [order.index(axis) for axis in range(x.ndim)])


@translates("view_dtype")
def view_dtype(b: Builder, c: Call) -> Made:
    if c.operands[0].dtype == c.dtype:
        return b.copied(c.operands[0])
    raise NotImplementedError("ONNX does not look at bits as another type")
