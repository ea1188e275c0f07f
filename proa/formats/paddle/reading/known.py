"""Values that are known while a model is read: constants, and sizes of tensors.

Paddle's programs compute shapes with tensors (`shape`, `slice`, `multiply`, `stack`, then `reshape`). XLA wants them as
numbers, so small values whose inputs are known are computed at once and never become part of the graph.

An unknown dimension has an expression (`core/symbols.py`). What is computed from one stays a tensor of the graph, whose
integers are found again where they are wanted as numbers (`ir/sizes/known.py`). Where they cannot, `NotKnown` is raised: the
model has to be read for the real sizes of its inputs, where all this does not matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.place import CPU
from ....core.symbols import is_symbolic
from ....eager.tensor import Tensor, tensor_from_data
from ....ir.capture import CaptureError
from ....ir.recorder import LOCAL, Segment

MOST_ELEMENTS = 1024


class NotKnown(CaptureError):
    """A value is needed as a number while the model is read, but it is known only when it runs."""


class Known:
    """A value that is known. Integers are kept as int64; where sizes are unknown, as Python's (an array of objects)."""

    __slots__ = ("array", "dtype")

    def __init__(self, array: np.ndarray, dtype: str) -> None:
        self.array = array.astype(np.int64) if array.dtype.kind == "i" else array
        self.dtype = dtype  # the type that the program declares

    @property
    def has_sizes(self) -> bool:
        """Whether a number in it depends on an unknown dimension."""
        return self.array.dtype == object

    def tensor(self) -> Tensor:
        """As a tensor for the graph: an operation where that is smaller than a constant."""
        data: Any = self.array.tolist() if self.has_sizes else self.array
        tensor = tensor_from_data(data, "int64" if self.has_sizes else None)
        return tensor if tensor.dtype.name == self.dtype else tensor.astype(self.dtype)

    @staticmethod
    def of_sizes(sizes: Any, dtype: str) -> Known:
        """Sizes of a tensor: one number, or a list of them."""
        if not any(map(is_symbolic, sizes if isinstance(sizes, tuple) else (sizes,))):
            return Known(np.asarray(sizes, np.int64), dtype)
        array = np.empty(len(sizes) if isinstance(sizes, tuple) else (), object)
        array[...] = sizes
        return Known(array, dtype)

    def __repr__(self) -> str:
        return f"Known({self.array.tolist()}, {self.dtype})"


class computed_now:
    """`with computed_now():` operations run at once on the host, though the thread captures."""

    def __enter__(self) -> None:
        self.before = LOCAL.segment, LOCAL.place
        LOCAL.segment = Segment(CPU, LOCAL.lock)
        LOCAL.place = CPU

    def __exit__(self, *_exception: Any) -> None:
        LOCAL.segment, LOCAL.place = self.before


def known_inputs(values: Any) -> list[Known] | None:
    """All values of a nested list of inputs if each is known and small, else None."""
    found: list[Known] = []
    for value in values:
        if isinstance(value, list):
            inner = known_inputs(value)
            if inner is None:
                return None
            found += inner
        elif isinstance(value, Known):
            found.append(value)
        elif value is not None:
            return None
    return found if sum(known.array.size for known in found) <= MOST_ELEMENTS else None


def may_compute(inputs: list[Known]) -> bool:
    """Whether an operation on known values may be computed while reading: no size among them is unknown."""
    return not any(known.has_sizes for known in inputs)
