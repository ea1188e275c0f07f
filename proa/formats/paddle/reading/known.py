"""Values that are known while a model is read: constants, and sizes of tensors.

Paddle's programs compute shapes with tensors (`shape`, `slice`, `multiply`, `stack`, then `reshape`). XLA wants them as
numbers, so small values whose inputs are known are computed at once and never become part of the graph.

An unknown dimension is a placeholder number (see ir/dimensions.py). Only sums, products, exact quotients and
rearrangements of such numbers can be found again when the real sizes arrive; any other operation on one is left to the
graph, as a tensor. Where its result is needed as a number, `NotKnown` is raised: the model has to be read for the real
sizes of its inputs, where all this does not matter (`exact`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.place import CPU
from ....eager.tensor import Tensor, tensor_from_data
from ....ir.capture import CaptureError
from ....ir.dimensions import SMALLEST
from ....ir.recorder import LOCAL, Segment

MOST_ELEMENTS = 1024
_MOST_SIZES = 64  # of a constant that holds sizes; as in ir/dimensions.py

# Operations that may be applied to placeholder numbers: what they give is found again for other sizes.
ON_SIZES = frozenset({
    "add", "subtract", "multiply", "scale", "cast", "slice", "strided_slice", "stack", "concat", "reshape", "squeeze",
    "unsqueeze", "gather", "split", "split_with_num", "unbind", "unstack", "assign", "prod", "sum", "flatten",
    "transpose", "index_select", "floor_divide", "increment", "add_n", "share_data", "memcpy_h2d", "memcpy_d2h",
})  # fmt: skip


class NotKnown(CaptureError):
    """A value is needed as a number while the model is read, but it is known only when it runs."""


class Known:
    """A value that is known. Integers are kept as int64: placeholder numbers multiply beyond int32."""

    __slots__ = ("array", "dtype")

    def __init__(self, array: np.ndarray, dtype: str) -> None:
        self.array = array.astype(np.int64) if array.dtype.kind == "i" else array
        self.dtype = dtype  # the type that the program declares

    @property
    def has_sizes(self) -> bool:
        """Whether a number in it may stand for an unknown dimension."""
        return self.array.dtype.kind == "i" and bool((np.abs(self.array) >= SMALLEST).any())

    def tensor(self) -> Tensor:
        """As a tensor for the graph: an operation where that is smaller than a constant."""
        array = self.array
        if self.has_sizes and (array.ndim > 1 or array.size > _MOST_SIZES):
            raise NotKnown("(load) an array of sizes is needed as a tensor while sizes are unknown.")
        tensor = tensor_from_data(array)
        return tensor if tensor.dtype.name == self.dtype else tensor.astype(self.dtype)

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


def may_compute(name: str, inputs: list[Known], exact: bool) -> bool:
    """Whether an operation on known values may be computed while reading; `exact`: no size is a placeholder."""
    if exact or not any(known.has_sizes for known in inputs):
        return True
    if name.removesuffix("_") not in ON_SIZES:
        return False
    if name.startswith("floor_divide"):
        dividend, divisor = inputs[0].array, inputs[1].array
        return bool((divisor > 0).all() and (np.abs(divisor) < SMALLEST).all() and (dividend % divisor == 0).all())
    return True
