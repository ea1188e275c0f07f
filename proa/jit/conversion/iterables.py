"""What a loop of the graph can run over: a range up to a tensor, rows of unknown number, and combinations of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.errors import user_location
from ...core.symbols import SymbolicSize
from ...eager.tensor import Tensor
from ...graph.control import is_unknown
from ...ops.basic import cast, reshape
from ...ops.create.creation import full
from ...ops.math.extremes import maximum, minimum
from .state import ConversionError


class GraphIterable:
    """Something with a length and items that are only known when the graph runs."""

    def length(self) -> Tensor:
        raise NotImplementedError

    def item(self, index: Tensor) -> Any:
        raise NotImplementedError

    def __iter__(self) -> Any:
        raise ConversionError(
            "(to_static) how many items there are is only known when the graph runs; use a for statement (not a "
            "comprehension or list()), or a Python number",
            user_location(2),
        )

    def __len__(self) -> int:
        self.__iter__()
        return 0


class TensorRange(GraphIterable):
    """`range` with tensors for its ends."""

    def __init__(self, *arguments: Any) -> None:
        self.start, self.stop, self.step = (
            (0, arguments[0], 1) if len(arguments) == 1 else (*arguments, 1) if len(arguments) == 2 else arguments
        )

    def length(self) -> Tensor:
        span = _integer(self.stop) - _integer(self.start)
        step = _integer(self.step)
        count = -((-span) // step)
        return maximum(_as_int64(count), _as_int64(0))

    def item(self, index: Tensor) -> Tensor:
        return _integer(self.start) + index * _integer(self.step)


class Rows(GraphIterable):
    """The rows of a tensor."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    def length(self) -> Tensor:
        return _as_int64(self.tensor.shape[0])

    def item(self, index: Tensor) -> Tensor:
        return self.tensor[index]


class Enumerated(GraphIterable):
    def __init__(self, inner: GraphIterable, start: Any) -> None:
        self.inner = inner
        self.start = start

    def length(self) -> Tensor:
        return self.inner.length()

    def item(self, index: Tensor) -> Any:
        return index + self.start, self.inner.item(index)


class Zipped(GraphIterable):
    def __init__(self, parts: Sequence[GraphIterable]) -> None:
        self.parts = parts

    def length(self) -> Tensor:
        lengths = [part.length() for part in self.parts]
        shortest = lengths[0]
        for length in lengths[1:]:
            shortest = minimum(shortest, length)
        return shortest

    def item(self, index: Tensor) -> Any:
        return tuple(part.item(index) for part in self.parts)


class Mapped(GraphIterable):
    def __init__(self, function: Callable[[Any], Any], inner: GraphIterable) -> None:
        self.function = function
        self.inner = inner

    def length(self) -> Tensor:
        return self.inner.length()

    def item(self, index: Tensor) -> Any:
        return self.function(self.inner.item(index))


def as_graph_iterable(value: Any) -> GraphIterable | None:
    """A loop over this belongs to the graph; None: Python iterates over it."""
    if isinstance(value, GraphIterable):
        return value
    if is_unknown(value) and value._aval.shape and isinstance(value._aval.shape[0], SymbolicSize):
        return Rows(value)
    return None


def _integer(value: Any) -> Any:
    """An integer, or a tensor of one integer, as a 0-d int64 tensor."""
    if not isinstance(value, Tensor):
        return value
    flat = reshape(value, []) if value._aval.shape else value
    return flat if flat._aval.dtype.name == "int64" else cast(flat, "int64")


def _as_int64(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else full([], value, "int64")
