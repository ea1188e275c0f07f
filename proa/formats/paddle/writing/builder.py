"""Building a Model operation by operation: the vocabulary that the translators speak.

A `Made` value remembers its sizes as the capture had them: real numbers, and for unknown dimensions the numbers that
stand for them (`proa/ir/dimensions.py`). So translators compute with plain integers; only what ends up in a file asks
which of them are unknown, and writes -1, or operations that compute the size when the model runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....ir.dimensions import SMALLEST, UnknownSize
from ..model import Block, Op, Value

END = 2147483647  # Paddle's "up to the end" of a slice
_LARGEST_FACTOR = 4096
_REDUCED = ("float32", "float16", "bfloat16")

Type = tuple[str, Sequence[int]]


@dataclass(eq=False)
class Made(Value):
    """A value with the sizes that it had in the capture."""

    sizes: tuple[int, ...] = ()

    @property
    def ndim(self) -> int:
        return len(self.sizes)

    @property
    def type(self) -> Type:
        return self.dtype, self.sizes


# Large numbers that are real sizes (of a vocabulary, say) in the graph that is being written; None: all of them are.
_REAL: ContextVar[frozenset[int] | None] = ContextVar("real_sizes", default=None)


class real_sizes:
    """`with real_sizes(numbers):` these are sizes as they are; other large numbers stand for unknown ones."""

    def __init__(self, numbers: Iterable[int] | None) -> None:
        self.numbers = None if numbers is None else frozenset(numbers)

    def __enter__(self) -> None:
        self.token = _REAL.set(self.numbers)

    def __exit__(self, *_exception: Any) -> None:
        _REAL.reset(self.token)


def is_unknown(size: int) -> bool:
    if size < SMALLEST:
        return False
    real = _REAL.get()
    return real is not None and size not in real


def shown(sizes: Sequence[int]) -> tuple[int, ...]:
    return tuple(-1 if is_unknown(size) else int(size) for size in sizes)


def broadcast_sizes(*shapes: Sequence[int]) -> tuple[int, ...]:
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    return tuple(next((n for n in column if n != 1), 1) for column in zip(*padded, strict=True))


class Builder:
    """Appends operations to the open block."""

    def __init__(self) -> None:
        self.block = Block()
        self.parameters: dict[str, np.ndarray] = {}
        self.parameter_values: dict[str, Value] = {}
        self._names: set[str] = set()
        self._count = 0
        # Where each unknown size can be read: number -> (value, axis); and those already computed.
        self._readable: dict[int, tuple[Made, int]] = {}
        self._computed: dict[int, Made] = {}

    # ---- values --------------------------------------------------------------------------------------------------

    def new_name(self, wanted: str | None = None) -> str:
        name = wanted
        while name is None or name in self._names:
            self._count += 1
            name = f"value_{self._count}" if wanted is None else f"{wanted}_{self._count}"
        self._names.add(name)
        return name

    def made(self, kind: Type, name: str | None = None) -> Made:
        dtype, sizes = kind
        value = Made(self.new_name(name), dtype, shown(sizes), tuple(sizes))
        for axis, size in enumerate(value.sizes):
            if is_unknown(size):
                self._readable.setdefault(size, (value, axis))
        return value

    def parameter(self, array: np.ndarray, dtype: str, wanted: str) -> Made:
        """An array that is saved with the model."""
        value = self.made((dtype, array.shape), wanted)
        self.parameters[value.name] = array
        self.parameter_values[value.name] = value
        return value

    def constant(self, array: Any) -> Made:
        """An array that belongs to a translation (a table of indices, say)."""
        array = np.asarray(array)
        return self.parameter(array, array.dtype.name, f"constant_{len(self.parameters)}")

    # ---- operations ----------------------------------------------------------------------------------------------

    def emit(self, name: str, inputs: Sequence[Any], attributes: dict[str, Any], *types: Any) -> Any:
        """Appends an operation; a type that is a list stands for a list of results. Gives the first result."""
        return self.emit_all(name, inputs, attributes, *types)[0]

    def emit_all(self, name: str, inputs: Sequence[Any], attributes: dict[str, Any], *types: Any) -> list[Any]:
        for key, value in attributes.items():
            for number in value if isinstance(value, (list, tuple)) else (value,):
                if number.__class__ is int and number != END and is_unknown(abs(number)):
                    raise UnknownSize(
                        f"its {key} depends on an unknown dimension; give it a fixed size in the InputSpec"
                    )
        outputs = [
            [self.made(part) for part in kind] if isinstance(kind, list) else None if kind is None else self.made(kind)
            for kind in types
        ]
        self.block.ops.append(Op(name, list(inputs), dict(attributes), outputs))
        return outputs

    def same(self, name: str, x: Made, **attributes: Any) -> Made:
        """An operation whose result is like its operand."""
        return self.emit(name, [x], attributes, x.type)

    def binary(self, name: str, x: Made, y: Made, dtype: str | None = None, **attributes: Any) -> Made:
        return self.emit(name, [x, y], attributes, (dtype or x.dtype, broadcast_sizes(x.sizes, y.sizes)))

    # ---- constants in the program --------------------------------------------------------------------------------

    def full(self, sizes: Sequence[int], value: Any, dtype: str, place: str = "undefined") -> Made:
        """A tensor filled with one number."""
        if isinstance(value, float) and value != value:
            # Paddle writes NaN into a program in a way that it cannot read itself.
            infinite = self.full(sizes, float("inf"), dtype, place)
            return self.binary("subtract", infinite, infinite)
        if not any(map(is_unknown, sizes)):
            attributes = {"shape": list(sizes), "value": _number(value), "dtype": dtype, "place": place}
            return self.emit("full", [], attributes, (dtype, sizes))
        number = self.full((1,), value, dtype, "cpu")
        return self.emit("full_with_tensor", [number, self.shape_of(sizes)], {"dtype": dtype}, (dtype, sizes))

    def argument(self, value: Any, dtype: str) -> Made:
        """A number where Paddle takes it as a tensor of one element."""
        if value.__class__ is int and is_unknown(abs(value)) and self.can_compute(abs(value)):
            return self.reshape(self.scalar(value, dtype), (1,))
        return self.full((1,), value, dtype, "cpu")

    def integers(self, values: Sequence[int]) -> Made:
        """Integers where Paddle takes them as a tensor (axes, shapes, bounds)."""
        attributes = {"value": [int(v) for v in values], "dtype": "int64", "place": "cpu"}
        return self.emit("full_int_array", [], attributes, ("int64", (len(values),)))

    def scalar(self, value: Any, dtype: str) -> Made:
        """A 0-d tensor; an integer that stands for an unknown size is computed."""
        if value.__class__ is int and is_unknown(abs(value)) and self.can_compute(abs(value)):
            found = self.cast(self.size(abs(value)), dtype)
            return self.scale(found, -1) if value < 0 else found
        return self.full((), value, dtype)

    # ---- sizes ---------------------------------------------------------------------------------------------------

    def can_compute(self, number: int) -> bool:
        try:
            self._plan(number)
        except UnknownSize:
            return False
        return True

    def size(self, number: int, near: Made | None = None) -> Made:
        """A 0-d int64 tensor with what this number of the capture is when the model runs.

        Where `near` has such a dimension, it is read there: sizes that rounding made equal in the capture (an odd width
        halved and doubled again) may differ in a run.
        """
        if not is_unknown(number):
            return self.full((), number, "int64", "cpu")
        if near is not None and number in near.sizes:
            return self._read(near, near.sizes.index(number))
        found = self._computed.get(number)
        if found is None:
            kind, *parts = self._plan(number)
            if kind == "read":
                found = self._read(*self._readable[number])
            elif kind == "product":
                found = self.binary("multiply", self.size(parts[0]), self.size(parts[1]))
            elif kind == "quotient":
                found = self.binary("floor_divide", self.size(parts[0]), self.size(parts[1]))
            elif kind == "strided":
                moved = self.binary("add", self.size(parts[0]), self.full((), parts[2], "int64", "cpu"))
                found = self.binary("floor_divide", moved, self.size(parts[1]))
            else:
                product = self.size(parts[0])
                if parts[1] != 1:
                    product = self.binary("multiply", product, self.size(parts[1]))
                found = self.binary("add", product, self.full((), parts[2], "int64", "cpu"))
            self._computed[number] = found
        return found

    def _read(self, value: Made, axis: int) -> Made:
        shape = self.emit("shape64", [value], {}, ("int64", (value.ndim,)))
        attributes = {"axes": [0], "infer_flags": [1], "decrease_axis": [0]}
        inputs = [shape, self.integers([axis]), self.integers([axis + 1])]
        return self.emit("slice", inputs, attributes, ("int64", ()))

    def _plan(self, number: int) -> tuple[Any, ...]:
        """How a number is computed from sizes that can be read."""
        if number in self._readable:
            return ("read",)
        known = sorted(self._readable, reverse=True)
        for size in known:
            if number % size == 0 and (number // size in self._readable or number // size <= _LARGEST_FACTOR):
                return "product", size, number // size
        for size in known:
            if size % number == 0 and size // number <= _LARGEST_FACTOR:
                return "quotient", size, size // number
        for size in known:
            factor = round(number / size)
            if 1 <= factor <= _LARGEST_FACTOR and abs(number - factor * size) <= _LARGEST_FACTOR:
                return "sum", size, factor, number - factor * size
        for size in known:
            if number % size == 0 and is_unknown(number // size):
                self._plan(number // size)
                return "product", size, number // size
        for size in known:
            for parts in range(2, 65):
                # (size + offset) // parts, as strides make it
                offset = number * parts - size
                if abs(offset) <= 64 * parts:
                    return "strided", size, parts, offset
        raise UnknownSize(f"the number {number} was computed from an unknown dimension in a way that is not understood")

    def shape_of(self, sizes: Sequence[int], near: Made | None = None) -> Made:
        """A tensor of sizes, for operations that take one."""
        if not any(map(is_unknown, sizes)):
            return self.integers(sizes)
        parts = [self.size(size, near) for size in sizes]
        return self.emit("stack", [parts], {"axis": 0}, ("int64", (len(sizes),)))

    # ---- what most translations are made of ------------------------------------------------------------------------

    def cast(self, x: Made, dtype: str) -> Made:
        return x if x.dtype == dtype else self.emit("cast", [x], {"dtype": dtype}, (dtype, x.sizes))

    def reshape(self, x: Made, sizes: Sequence[int]) -> Made:
        sizes = tuple(sizes)
        if x.sizes == sizes:
            return x
        wanted: list[int] = []
        for axis, size in enumerate(sizes):
            copied = axis < x.ndim and x.sizes[axis] == size
            wanted.append((0 if copied else -1) if is_unknown(size) else size)
        if wanted.count(-1) > 1 or (-1 in wanted and 0 in sizes):
            shape = self.shape_of(sizes, x)
        else:
            shape = self.integers(wanted)
        return self.emit("reshape", [x, shape], {}, (x.dtype, sizes))

    def transpose(self, x: Made, perm: Sequence[int]) -> Made:
        if list(perm) == list(range(x.ndim)):
            return x
        return self.emit("transpose", [x], {"perm": list(perm)}, (x.dtype, [x.sizes[axis] for axis in perm]))

    def expand(self, x: Made, sizes: Sequence[int]) -> Made:
        sizes = tuple(sizes)
        if x.sizes == sizes:
            return x
        before = (1,) * (len(sizes) - x.ndim) + x.sizes
        missing = len(sizes) - x.ndim
        if all(not is_unknown(n) or (axis >= missing and before[axis] == n) for axis, n in enumerate(sizes)):
            shape = self.integers(shown(sizes))
        else:
            shape = self.shape_of(sizes)
        return self.emit("expand", [x, shape], {}, (x.dtype, sizes))

    def scale(self, x: Made, factor: Any = 1, shift: Any = 0, after: bool = True) -> Made:
        """x * factor + shift (or (x + shift) * factor), exactly also for types wider than the attributes."""
        if factor == 1 and shift == 0:
            return x
        if x.dtype in _REDUCED and not isinstance(factor, complex) and not isinstance(shift, complex):
            attributes = {"bias": float(shift), "bias_after_scale": after}
            return self.emit("scale", [x, self.argument(float(factor), "float32")], attributes, x.type)
        if not after and shift != 0:
            x = self.binary("add", x, self.full((), shift, x.dtype))
        if factor != 1:
            x = self.binary("multiply", x, self.full((), factor, x.dtype))
        if after and shift != 0:
            x = self.binary("add", x, self.full((), shift, x.dtype))
        return x

    def reduce(self, name: str, x: Made, axes: Sequence[int], keepdim: bool = False, **attributes: Any) -> Made:
        """sum, mean, max, min: operations that take their axes as a tensor."""
        sizes = reduced_sizes(x.sizes, axes, keepdim)
        return self.emit(name, [x, self.integers(axes)], {**attributes, "keepdim": keepdim}, (x.dtype, sizes))

    def where(self, condition: Made, x: Made, y: Made) -> Made:
        sizes = broadcast_sizes(condition.sizes, x.sizes, y.sizes)
        inputs = [self.expand(value, sizes) for value in (condition, x, y)]
        return self.emit("where", inputs, {}, (x.dtype, sizes))

    def full_like(self, x: Made, value: Any, dtype: str | None = None) -> Made:
        dtype = dtype or x.dtype
        inputs = [x, self.argument(value, "float64" if dtype in ("float64", "int64") else "float32")]
        return self.emit("full_like", inputs, {"dtype": dtype, "place": "undefined"}, (dtype, x.sizes))

    def concat(self, parts: Sequence[Made], axis: int) -> Made:
        sizes = list(parts[0].sizes)
        sizes[axis] = sum(part.sizes[axis] for part in parts)
        return self.emit("concat", [list(parts), self.argument(axis, "int32")], {}, (parts[0].dtype, sizes))

    def flip(self, x: Made, axes: Sequence[int]) -> Made:
        return self.same("flip", x, axis=list(axes)) if axes else x

    def matmul(self, x: Made, y: Made, transpose_x: bool = False, transpose_y: bool = False) -> Made:
        rows, inner = (x.sizes[-1], x.sizes[-2]) if transpose_x else (x.sizes[-2], x.sizes[-1])
        columns = y.sizes[-2] if transpose_y else y.sizes[-1]
        del inner
        sizes = (*broadcast_sizes(x.sizes[:-2] or (1,), y.sizes[:-2] or (1,)), rows, columns)
        if x.ndim == 2 and y.ndim == 2:
            sizes = sizes[1:]
        attributes = {"transpose_x": transpose_x, "transpose_y": transpose_y}
        return self.emit("matmul", [x, y], attributes, (x.dtype, sizes))

    def bounds(self, numbers: Sequence[int], extents: Sequence[int]) -> tuple[Made, bool]:
        """Starts or ends of slices: from the front, or from the back where the axis has an unknown size."""
        found: list[int | None] = []
        for number, extent in zip(numbers, extents, strict=True):
            if not is_unknown(number):
                found.append(number)
            elif number == extent:
                found.append(END)
            elif is_unknown(extent) and 0 < extent - number < SMALLEST:
                found.append(number - extent)
            else:
                found.append(None)
        if None not in found:
            return self.integers([n for n in found if n is not None]), True
        parts = [
            self.full((), n, "int64", "cpu") if n is not None else self.size(number)
            for n, number in zip(found, numbers, strict=True)
        ]
        return self.emit("stack", [parts], {"axis": 0}, ("int64", (len(parts),))), False

    def slice(
        self, x: Made, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int], dropped: Sequence[int] = ()
    ) -> Made:
        """x[starts:ends] along axes; axes in `dropped` (one element long) disappear."""
        if not axes:
            return x
        extents = [x.sizes[axis] for axis in axes]
        (first, first_known), (last, last_known) = self.bounds(starts, extents), self.bounds(ends, extents)
        flag = 1 if first_known and last_known else -1
        sizes = list(x.sizes)
        for axis, start, end in zip(axes, starts, ends, strict=True):
            sizes[axis] = end - start
        attributes = {"axes": list(axes), "infer_flags": [flag] * len(axes), "decrease_axis": list(dropped)}
        kind = (x.dtype, [size for axis, size in enumerate(sizes) if axis not in dropped])
        return self.emit("slice", [x, first, last], attributes, kind)

    # ---- blocks --------------------------------------------------------------------------------------------------

    def inside(self) -> _Inside:
        """`with builder.inside() as block:` what is emitted goes into a block of its own."""
        return _Inside(self)


class _Inside:
    """Sizes that were found in a block can be read there only."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def __enter__(self) -> Block:
        b = self.builder
        self.before = b.block, b._readable, b._computed
        b.block, b._readable, b._computed = Block(), dict(b._readable), dict(b._computed)
        return b.block

    def __exit__(self, *_exception: Any) -> None:
        self.builder.block, self.builder._readable, self.builder._computed = self.before


def reduced_sizes(sizes: Sequence[int], axes: Sequence[int], keepdim: bool) -> tuple[int, ...]:
    chosen = set(axes) if axes else set(range(len(sizes)))
    return tuple(1 if axis in chosen else n for axis, n in enumerate(sizes) if keepdim or axis not in chosen)


def _number(value: Any) -> Any:
    if isinstance(value, (bool, np.bool_)):
        return float(value)
    if isinstance(value, (complex, np.complexfloating)):
        return complex(value)
    if isinstance(value, (int, np.integer)) and abs(int(value)) < 2**53:
        return float(value)
    return int(value) if isinstance(value, (int, np.integer)) else float(value)


__all__ = ["END", "Builder", "Made", "broadcast_sizes", "is_unknown", "reduced_sizes", "shown"]
