"""Building a Model operation by operation: the vocabulary that the translators speak.

A `Made` value remembers its sizes as the capture had them: plain numbers, and expressions over unknown dimensions
(`core/symbols.py`). So translators compute with integers; only what ends up in a file asks which of them are unknown, and
writes -1, or operations that compute the size when the model runs (`size_operations.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....core.symbols import SymbolicSize, UnknownSize, is_symbolic, same_size, same_sizes
from ..model import Block, Op, Value
from .size_operations import SizeOperations

END = 2147483647  # Paddle's "up to the end" of a slice
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


def is_unknown(size: Any) -> bool:
    """Whether a number is known only when the model runs."""
    return is_symbolic(size)


def shown(sizes: Sequence[int]) -> tuple[int, ...]:
    return tuple(-1 if is_unknown(size) else int(size) for size in sizes)


def broadcast_sizes(*shapes: Sequence[int]) -> tuple[int, ...]:
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    return tuple(next((n for n in column if n != 1), 1) for column in zip(*padded, strict=True))


class Builder(SizeOperations):
    """Appends operations to the open block."""

    def __init__(self) -> None:
        self.block = Block()
        self.parameters: dict[str, np.ndarray] = {}
        self.parameter_values: dict[str, Value] = {}
        self._names: set[str] = set()
        self._count = 0
        # Where each unknown size can be read: expression -> (value, axis); and those already computed.
        self._readable: dict[Any, tuple[Made, int]] = {}
        self._computed: dict[Any, Made] = {}
        self.taken: Mapping[Any, Any] = {}  # what translators took for granted of unknown sizes (see translation.py)

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
            if isinstance(size, SymbolicSize):
                self._readable.setdefault(size.expression, (value, axis))
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
                if is_unknown(number):
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
        if is_unknown(value):
            return self.reshape(self.scalar(value, dtype), (1,))
        return self.full((1,), value, dtype, "cpu")

    def integers(self, values: Sequence[int]) -> Made:
        """Integers where Paddle takes them as a tensor (axes, shapes, bounds)."""
        if any(map(is_unknown, values)):
            return self.shape_of(values)
        attributes = {"value": [int(v) for v in values], "dtype": "int64", "place": "cpu"}
        return self.emit("full_int_array", [], attributes, ("int64", (len(values),)))

    def scalar(self, value: Any, dtype: str) -> Made:
        """A 0-d tensor; a number that depends on an unknown size is computed."""
        return self.cast(self.computed(value), dtype) if is_unknown(value) else self.full((), value, dtype)

    # ---- what most translations are made of ------------------------------------------------------------------------

    def cast(self, x: Made, dtype: str) -> Made:
        return x if x.dtype == dtype else self.emit("cast", [x], {"dtype": dtype}, (dtype, x.sizes))

    def reshape(self, x: Made, sizes: Sequence[int]) -> Made:
        sizes = tuple(sizes)
        if same_sizes(x.sizes, sizes):
            return x
        wanted: list[int] = []
        for axis, size in enumerate(sizes):
            copied = axis < x.ndim and same_size(x.sizes[axis], size)
            wanted.append((0 if copied else -1) if is_unknown(size) else size)
        if wanted.count(-1) > 1 or (-1 in wanted and any(same_size(size, 0) for size in sizes)):
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
        if same_sizes(x.sizes, sizes):
            return x
        before = (1,) * (len(sizes) - x.ndim) + x.sizes
        missing = len(sizes) - x.ndim
        if all(not is_unknown(n) or (axis >= missing and same_size(before[axis], n)) for axis, n in enumerate(sizes)):
            shape = self.integers(shown(sizes))
        else:
            shape = self.shape_of(sizes)
        return self.emit("expand", [x, shape], {}, (x.dtype, sizes))

    def scale(self, x: Made, factor: Any = 1, shift: Any = 0, after: bool = True) -> Made:
        """x * factor + shift (or (x + shift) * factor), exactly also for types wider than the attributes."""
        if is_unknown(factor) or is_unknown(shift):
            factor, shift = self.scalar(factor, x.dtype), self.scalar(shift, x.dtype)
            if after:
                return self.binary("add", self.binary("multiply", x, factor), shift)
            return self.binary("multiply", self.binary("add", x, shift), factor)
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
            behind = number - extent
            if not is_unknown(number):
                found.append(number)
            elif same_size(number, extent):
                found.append(END)
            elif not is_unknown(behind) and behind < 0:
                found.append(behind)
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
