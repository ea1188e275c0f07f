"""Building an ONNX graph node by node: the vocabulary that the translators speak.

A `Made` value remembers its sizes as the capture had them: plain numbers, and expressions over unknown dimensions
(`core/symbols.py`). So translators compute with integers; only what ends up in a node asks which of them are unknown, and
writes -1, or nodes that compute the size when the model runs (`sizes.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.dtype import name_of, to_numpy_dtype
from ..core.symbols import SymbolicSize, UnknownSize, is_symbolic, same_size, same_sizes
from .kernels import DATA_INPUTS, computed_in
from .sizes import Sizes

END = (1 << 63) - 1  # ONNX's "up to the end" of a slice; its negative, "from before the beginning"
_SMALL = 1024  # bytes up to which equal constants become one

Type = tuple[str, Sequence[int]]
is_unknown = is_symbolic


class Made:
    """A value of the graph: its name, its element type, and the sizes that it had in the capture."""

    __slots__ = ("array", "dtype", "name", "sizes", "turned")

    def __init__(self, name: str, dtype: str, sizes: tuple[int, ...]) -> None:
        self.name = name
        self.dtype = dtype
        self.sizes = sizes
        self.array: np.ndarray | None = None  # of a constant
        self.turned: tuple[Made, tuple[int, ...]] | None = None  # what it is the transpose of, and how

    @property
    def ndim(self) -> int:
        return len(self.sizes)

    @property
    def type(self) -> Type:
        return self.dtype, self.sizes

    def __repr__(self) -> str:
        return f"{self.name}: {self.dtype}{list(self.sizes)}"


class Node:
    """An operator applied; `blocks` are the graphs among its attributes."""

    __slots__ = ("attributes", "blocks", "inputs", "operator", "outputs")

    def __init__(
        self, operator: str, inputs: list[Made | None], outputs: list[Made], attributes: dict[str, Any],
        blocks: dict[str, Block] | None = None,
    ) -> None:  # fmt: skip
        self.operator = operator
        self.inputs = inputs
        self.outputs = outputs
        self.attributes = attributes
        self.blocks = blocks or {}


class Block:
    """Nodes in order; the graph of a model, or one inside it."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.arguments: list[Made] = []
        self.results: list[Made] = []


class NeedsOpset(Exception):
    """Raised by a translator that needs a newer set of operators: the translation starts again with that one."""

    def __init__(self, opset: int, what: str) -> None:
        super().__init__(f"{what} needs opset {opset}")
        self.opset = opset
        self.what = what


def broadcast_sizes(*shapes: Sequence[int]) -> tuple[int, ...]:
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    return tuple(next((n for n in column if is_unknown(n) or n != 1), 1) for column in zip(*padded, strict=True))


def reduced_sizes(sizes: Sequence[int], axes: Sequence[int], keepdim: bool) -> tuple[int, ...]:
    return tuple(1 if axis in axes else n for axis, n in enumerate(sizes) if keepdim or axis not in axes)


class Builder(Sizes):
    """Appends nodes to the open block."""

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self.block = Block()
        self._names: set[str] = set()
        self._count = 0
        self._readable: dict[Any, tuple[Made, int]] = {}
        self._computed: dict[Any, Any] = {}
        self._constants: dict[Any, Made] = {}
        # Values on a grid, by name: levels as int8; and floats made of them (see translators/quantised.py).
        self.levels: dict[str, Made] = {}
        self.grids: dict[str, Any] = {}
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
        value = Made(self.new_name(name), dtype, tuple(sizes))
        for axis, size in enumerate(value.sizes):
            if isinstance(size, SymbolicSize):
                self._readable.setdefault(size.expression, (value, axis))
        return value

    def parameter(self, array: np.ndarray, wanted: str) -> Made:
        """An array that is saved with the model."""
        value = self.made((name_of(array.dtype), array.shape), wanted)
        value.array = array
        return value

    def constant(self, array: Any, dtype: str | None = None) -> Made:
        """An array that belongs to a translation; small ones are shared."""
        array = np.asarray(array) if dtype is None else np.asarray(array).astype(to_numpy_dtype(dtype))
        if array.nbytes > _SMALL:
            return self.parameter(array, f"constant_{len(self._names)}")
        key = (array.dtype, array.shape, array.tobytes())
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = self.parameter(array, f"constant_{len(self._names)}")
        return found

    def scalar(self, value: Any, dtype: str) -> Made:
        """A 0-d tensor; a number that depends on an unknown size is computed."""
        if is_unknown(value):
            return self.cast(self.reshape(self.computed(value), ()), dtype)
        return self.constant(value, dtype)

    def integers(self, values: Sequence[int]) -> Made:
        """Integers where ONNX takes them as a tensor (axes, shapes, bounds)."""
        if any(map(is_unknown, values)):
            return self.shape_of(values)
        return self.constant(np.asarray([int(v) for v in values], np.int64))

    def filled(self, sizes: Sequence[int], value: Any, dtype: str) -> Made:
        """A tensor filled with one number."""
        if not any(map(is_unknown, sizes)) and math.prod(sizes) <= _SMALL // 8:
            return self.constant(np.full(tuple(sizes), value, to_numpy_dtype(dtype)))
        return self.expand(self.scalar(value, dtype), sizes)

    # ---- nodes ---------------------------------------------------------------------------------------------------

    def emit(self, operator: str, inputs: Sequence[Made | None], kind: Type, **attributes: Any) -> Made:
        """Appends a node with one result."""
        return self.emit_all(operator, inputs, [kind], **attributes)[0]

    def emit_all(
        self, operator: str, inputs: Sequence[Made | None], kinds: Sequence[Type], **attributes: Any
    ) -> list[Made]:
        """Appends a node, computed in a type that there are kernels for (see `kernels.py`); gives its results."""
        for key, value in attributes.items():
            for number in value if isinstance(value, (list, tuple)) else (value,):
                if is_unknown(number):
                    raise UnknownSize(f"its {key} depends on an unknown dimension; give that a fixed size")
        inputs = list(inputs)
        positions = DATA_INPUTS.get(operator, range(len(inputs)))
        data = [p for p in positions if p < len(inputs) and inputs[p] is not None]
        dtype = inputs[data[0]].dtype if data else kinds[0][0]  # type: ignore[union-attr]
        chosen = computed_in(operator, dtype)
        if chosen == dtype:
            outputs = [self.made(kind) for kind in kinds]
            self.block.nodes.append(Node(operator, inputs, outputs, attributes))
            return outputs
        for position in data:
            inputs[position] = self.cast(inputs[position], chosen)  # type: ignore[arg-type]
        outputs = [self.made((chosen if kind[0] == dtype else kind[0], kind[1])) for kind in kinds]
        self.block.nodes.append(Node(operator, inputs, outputs, attributes))
        return [self.cast(output, kind[0]) for output, kind in zip(outputs, kinds, strict=True)]

    def needs(self, opset: int, what: str) -> None:
        if self.opset < opset:
            raise NeedsOpset(opset, what)

    def same(self, operator: str, x: Made, **attributes: Any) -> Made:
        """An operator of one operand whose result is like it."""
        return self.emit(operator, [x], x.type, **attributes)

    def binary(self, operator: str, x: Made, y: Made, dtype: str | None = None, **attributes: Any) -> Made:
        return self.emit(operator, [x, y], (dtype or x.dtype, broadcast_sizes(x.sizes, y.sizes)), **attributes)

    def with_number(self, operator: str, x: Made, number: Any, dtype: str | None = None) -> Made:
        return self.binary(operator, x, self.scalar(number, x.dtype), dtype)

    # ---- shapes --------------------------------------------------------------------------------------------------

    def cast(self, x: Made, dtype: str) -> Made:
        if x.dtype == dtype:
            return x
        if x.array is not None and x.array.nbytes <= _SMALL:
            return self.constant(x.array, dtype)
        return self.emit("Cast", [x], (dtype, x.sizes), to=dtype)

    def copied(self, x: Made) -> Made:
        """A value of its own."""
        return self.same("Identity", x)

    def reshape(self, x: Made, sizes: Sequence[int]) -> Made:
        sizes = tuple(sizes)
        if same_sizes(x.sizes, sizes):
            return x
        if x.array is not None:
            return self._view(x, x.array.reshape(sizes))
        if any(map(is_unknown, sizes)):
            for operator, short, long in (("Unsqueeze", x.sizes, sizes), ("Squeeze", sizes, x.sizes)):
                axes = _ones_between(short, long)
                if axes is not None:
                    return self.emit(operator, [x, self.integers(axes)], (x.dtype, sizes))
        fixed = _reshaped(x.sizes, sizes)
        if fixed is not None:
            return self.emit("Reshape", [x, self.integers(fixed)], (x.dtype, sizes), **_zeros(sizes))
        return self.emit("Reshape", [x, self.shape_of(sizes, x)], (x.dtype, sizes), allowzero=1)

    def _view(self, x: Made, array: np.ndarray) -> Made:
        """Another shape or order of a constant, made here: equal ones are made once."""
        key = (x.name, array.shape, array.strides)
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = self.parameter(np.ascontiguousarray(array).reshape(array.shape), x.name)
        return found

    def transpose(self, x: Made, perm: Sequence[int]) -> Made:
        """Two transposes one after the other become one, or none."""
        perm = tuple(perm)
        source = x
        if x.turned is not None:
            source, before = x.turned
            perm = tuple(before[axis] for axis in perm)
        if perm == tuple(range(source.ndim)):
            return source
        if source.array is not None:
            return self._view(source, source.array.transpose(perm))
        made = self.emit("Transpose", [source], (source.dtype, [source.sizes[a] for a in perm]), perm=list(perm))
        made.turned = (source, perm)
        return made

    def expand(self, x: Made, sizes: Sequence[int]) -> Made:
        sizes = tuple(sizes)
        if same_sizes(x.sizes, sizes):
            return x
        if not any(map(is_unknown, sizes)) and math.prod(sizes) == 0:
            return self.constant(np.empty(sizes), x.dtype)  # ONNX Runtime does not expand to nothing
        before = (1,) * (len(sizes) - x.ndim) + x.sizes
        # ONNX takes 1 for "as it is".
        wanted = [1 if same_size(own, size) else size for own, size in zip(before, sizes, strict=True)]
        return self.emit("Expand", [x, self.shape_of(wanted)], (x.dtype, sizes))

    def concat(self, parts: Sequence[Made], axis: int) -> Made:
        if len(parts) == 1:
            return parts[0]
        sizes = list(parts[0].sizes)
        sizes[axis] = sum(part.sizes[axis] for part in parts)
        return self.emit("Concat", parts, (parts[0].dtype, sizes), axis=axis)

    def stack(self, parts: Sequence[Made], axis: int) -> Made:
        return self.concat([self.reshape(p, (*p.sizes[:axis], 1, *p.sizes[axis:])) for p in parts], axis)

    def flip(self, x: Made, axes: Sequence[int]) -> Made:
        if not axes:
            return x
        inputs = [[-1] * len(axes), [-END] * len(axes), axes, [-1] * len(axes)]
        return self.emit("Slice", [x, *map(self.integers, inputs)], x.type)

    def slice(
        self, x: Made, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int], steps: Sequence[int] | None = None,
        extents: Sequence[int] | None = None,
    ) -> Made:  # fmt: skip
        """x[starts:ends:steps] along axes, with steps above 0; `extents` are the sizes that result."""
        if not axes:
            return x
        whole = [x.sizes[axis] for axis in axes]
        sizes = list(x.sizes)
        for place, axis in enumerate(axes):
            sizes[axis] = ends[place] - starts[place] if extents is None else extents[place]
        inputs = [self._bounds(starts, whole), self._bounds(ends, whole), self.integers(axes)]
        if steps is not None:
            inputs.append(self.integers(steps))
        return self.emit("Slice", [x, *inputs], (x.dtype, sizes))

    def _bounds(self, numbers: Sequence[int], extents: Sequence[int]) -> Made:
        """Starts or ends of slices: from the front, or from the back where the axis has an unknown size."""
        found: list[int] = []
        for number, extent in zip(numbers, extents, strict=True):
            behind = number - extent
            if not is_unknown(number):
                found.append(number)
            elif same_size(number, extent):
                found.append(END)
            elif not is_unknown(behind) and behind < 0:
                found.append(behind)
            else:
                found.append(number)
        return self.shape_of(found)

    # ---- what most translations are made of ----------------------------------------------------------------------

    def where(self, condition: Made, x: Made, y: Made) -> Made:
        kind = (x.dtype, broadcast_sizes(condition.sizes, x.sizes, y.sizes))
        return self.emit("Where", [condition, x, y], kind)

    def reduce(self, operator: str, x: Made, axes: Sequence[int], keepdim: bool = False) -> Made:
        """ReduceSum and its kin; before opset 18 all but it take their axes as an attribute."""
        axes = [axis % x.ndim for axis in axes] if x.ndim else []
        if not axes:
            return self.copied(x)
        kind = (x.dtype, reduced_sizes(x.sizes, axes, keepdim))
        if operator == "ReduceSum" or self.opset >= 18:
            return self.emit(operator, [x, self.integers(axes)], kind, keepdims=int(keepdim))
        return self.emit(operator, [x], kind, axes=axes, keepdims=int(keepdim))

    def matmul(self, x: Made, y: Made, sizes: Sequence[int] | None = None) -> Made:
        if sizes is None:
            sizes = (*broadcast_sizes(x.sizes[:-2] or (1,), y.sizes[:-2] or (1,)), x.sizes[-2], y.sizes[-1])
            if x.ndim == 2 and y.ndim == 2:
                sizes = sizes[1:]
        if any(not is_unknown(size) and size == 0 for size in (*x.sizes, *y.sizes)):
            return self.expand(self.scalar(0, x.dtype), sizes)  # ONNX Runtime does not multiply nothing
        return self.emit("MatMul", [x, y], (x.dtype, sizes))

    def gather(self, x: Made, index: Made, axis: int) -> Made:
        sizes = (*x.sizes[:axis], *index.sizes, *x.sizes[axis + 1 :])
        return self.emit("Gather", [x, index], (x.dtype, sizes), axis=axis)

    def split(self, x: Made, extents: Sequence[int], axis: int) -> list[Made]:
        kinds = [(x.dtype, (*x.sizes[:axis], n, *x.sizes[axis + 1 :])) for n in extents]
        return self.emit_all("Split", [x, self.shape_of(extents)], kinds, axis=axis)

    def invert(self, x: Made) -> Made:
        return self.same("Not", x)

    def is_nan(self, x: Made) -> Made:
        if not x.dtype.startswith(("float", "bfloat")):
            return self.expand(self.scalar(False, "bool"), x.sizes)
        return self.emit("IsNaN", [x], ("bool", x.sizes))


# ---- shapes in a node ----------------------------------------------------------------------------------------------


def _zeros(sizes: Sequence[int]) -> dict[str, int]:
    """ONNX copies a size where 0 is written, unless it is told that 0 is meant."""
    return {"allowzero": 1} if any(not is_unknown(n) and n == 0 for n in sizes) else {}


def _reshaped(before: Sequence[int], after: Sequence[int]) -> list[int] | None:
    """The numbers to write for a new shape: 0 copies an unknown size of the same axis, one may be -1."""
    empty = bool(_zeros(after))
    written: list[int] = []
    for axis, size in enumerate(after):
        if not is_unknown(size):
            written.append(size)
        elif not empty and axis < len(before) and same_size(before[axis], size):
            written.append(0)
        else:
            written.append(-1)
    if written.count(-1) > 1 or (empty and -1 in written):
        return None
    return written


def _ones_between(short: Sequence[int], long: Sequence[int]) -> list[int] | None:
    """The axes of `long` that are 1 and that `short` does not have, if that is all the difference."""
    axes: list[int] = []
    left = list(short)
    for axis, size in enumerate(long):
        if left and same_size(left[0], size):
            left.pop(0)
        elif not is_unknown(size) and size == 1:
            axes.append(axis)
        else:
            return None
    return None if left else axes
