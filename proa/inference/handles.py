"""Handles of a predictor's inputs and outputs (`paddle.inference.Tensor`), and the desks where their values lie.

Each thread has a desk of its own: several threads may feed, run and read one predictor through the same handles, and none
sees another's numbers. A thread that has fed nothing works at the desk that was fed last, so that a program may feed in one
thread, run in another and read in a third.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtype import is_supported
from ..core.errors import runtime_error, type_error, value_error
from ..core.place import CPU
from ..eager.annotations import DeviceLike
from ..eager.tensor import Tensor as DataTensor
from ..eager.tensor import tensor_from_data, wrap
from .kinds import DataType, data_type_of


class Slot:
    """What a handle holds for one thread."""

    __slots__ = ("lod", "shape", "value")

    def __init__(self) -> None:
        self.value: DataTensor | None = None
        self.shape: list[int] | None = None
        self.lod: list[list[int]] = []


class Desk(dict[Any, Slot]):
    """The slots of one thread, by handle."""

    def __missing__(self, key: Any) -> Slot:
        made = self[key] = Slot()
        return made


class Desks:
    """The desks of a predictor's threads; a desk goes with its thread."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._fed_last = Desk()

    def to_feed(self) -> Desk:
        """This thread's own desk."""
        desk = getattr(self._own, "desk", None)
        if desk is None:
            desk = self._own.desk = Desk()
        self._fed_last = desk
        return desk

    def current(self) -> Desk:
        """This thread's own desk, or, if it has fed nothing, the one that was fed last."""
        desk = getattr(self._own, "desk", None)
        return self._fed_last if desk is None else desk


class Tensor:
    """An input or output by name: numbers are copied into it before a run and out of it afterwards.

    Predictors make them (`get_input_handle`, `get_output_handle`).

    Examples:
        >>> handle = paddle.inference.Tensor("x", "float32")
        >>> handle.copy_from_cpu(np.zeros((2, 3), "float32"))
        >>> handle
        <inference tensor x: float32[2, 3]>
    """

    __slots__ = ("_desks", "_dtype", "_name", "_place")

    def __init__(self, name: str, dtype: str, place: DeviceLike | None = None, desks: Desks | None = None) -> None:
        self._name = name
        self._dtype = dtype
        self._place = place
        self._desks = desks or Desks()

    def name(self) -> str:
        """What the input or output is called.

        Examples:
            >>> paddle.inference.Tensor("x", "float32").name()
            'x'
        """
        return self._name

    @property
    def _slot(self) -> Slot:
        return self._desks.current()[self]

    @property
    def _slot_to_feed(self) -> Slot:
        return self._desks.to_feed()[self]

    def reshape(self, shape: Sequence[int]) -> None:
        """Announces the shape of what comes next. `copy_from_cpu` sets the shape by itself.

        Raises:
            ValueError: a size is negative.

        Examples:
            >>> handle = paddle.inference.Tensor("x", "float32")
            >>> handle.reshape([1, 3])
            >>> handle.shape()
            [1, 3]
        """
        sizes = [int(size) for size in shape]
        if any(size < 0 for size in sizes):
            raise value_error("Tensor.reshape", "sizes must not be negative", f"shape: {list(shape)}")
        slot = self._slot_to_feed
        slot.shape = sizes
        if slot.value is not None and slot.value._aval.size == int(np.prod(sizes, dtype=np.int64)):
            slot.value = slot.value.reshape(sizes)

    def copy_from_cpu(self, data: np.ndarray | Tensor) -> None:
        """Copies an array into an input.

        Raises:
            TypeError: it is not a NumPy array.

        Examples:
            >>> handle = paddle.inference.Tensor("x", "float32")
            >>> handle.copy_from_cpu(np.ones((2, 3), "float32"))
            >>> handle.shape()
            [2, 3]
        """
        if isinstance(data, list) and data and all(isinstance(text, str) for text in data):
            raise type_error("Tensor.copy_from_cpu", "text cannot be fed; encode it as numbers", "a list of str")
        if not isinstance(data, np.ndarray):
            raise type_error("Tensor.copy_from_cpu", "a NumPy array is needed", type(data).__name__)
        self._feed(tensor_from_data(data, place=self._place))  # which copies

    def copy_to_cpu(self) -> np.ndarray:
        """A new array with the numbers of an output (or of an input).

        Raises:
            RuntimeError: there are none yet.

        Examples:
            >>> handle = paddle.inference.Tensor("x", "float32")
            >>> handle.copy_from_cpu(np.array([1.0, 2.0], "float32"))
            >>> handle.copy_to_cpu().tolist()
            [1.0, 2.0]
        """
        return np.array(self._held("copy_to_cpu")._data())

    def share_external_data(self, data: np.ndarray | Tensor) -> None:
        """Takes a tensor, or an array, without copying it: it must not change before the run is over.

        Raises:
            TypeError: it is neither.

        Examples:
            >>> handle = paddle.inference.Tensor("x", "float32")
            >>> handle.share_external_data(paddle.ones([2, 3]))
            >>> handle.shape()
            [2, 3]
        """
        if isinstance(data, DataTensor):
            self._feed(data if self._place is None or data._aval.place is self._place else data.to(self._place))
        elif isinstance(data, np.ndarray):
            on_host = self._place in (None, CPU) and data.flags.c_contiguous and is_supported(data.dtype)
            self._feed(wrap(data) if on_host else tensor_from_data(data, place=self._place))
        else:
            raise type_error("Tensor.share_external_data", "a Tensor or a NumPy array is needed", type(data).__name__)

    def share_external_data_by_ptr_name(self, *_arguments: Any) -> None:
        """Refused: an address cannot be checked, so it could not be read safely.

        Examples:
            >>> paddle.inference.Tensor("x", "float32").share_external_data_by_ptr_name(4096, [1], "x")
            Traceback (most recent call last):
                ...
            RuntimeError: (Tensor.share_external_data_by_ptr_name) memory cannot be shared by its address; ...
        """
        raise runtime_error(
            "Tensor.share_external_data_by_ptr_name", "memory cannot be shared by its address", "",
            "use share_external_data with a tensor or an array",
        )  # fmt: skip

    def shape(self) -> list[int]:
        """The shape of what the handle holds; [0] before it holds something.

        Examples:
            >>> paddle.inference.Tensor("x", "float32").shape()
            [0]
        """
        slot = self._slot
        if slot.value is not None:
            return list(slot.value._aval.shape)
        return [0] if slot.shape is None else list(slot.shape)

    def type(self) -> DataType:
        """The data type of what the handle holds or takes.

        Examples:
            >>> paddle.inference.Tensor("x", "float32").type()
            <PaddleDType.FLOAT32: 0>
        """
        value = self._slot.value
        return data_type_of(self._dtype if value is None else value._aval.dtype)

    def lod(self) -> list[list[int]]:
        """What `set_lod` was given.

        Examples:
            >>> paddle.inference.Tensor("x", "float32").lod()
            []
        """
        return self._slot.lod

    def set_lod(self, lod: list[list[int]]) -> None:
        """Remembered only: sequences of different lengths are padded nowadays.

        Examples:
            >>> handle = paddle.inference.Tensor("x", "float32")
            >>> handle.set_lod([[0, 2, 5]])
            >>> handle.lod()
            [[0, 2, 5]]
        """
        self._slot_to_feed.lod = lod

    def _feed(self, value: DataTensor) -> None:
        slot = self._slot_to_feed
        slot.value, slot.shape = value, list(value._aval.shape)

    def _held(self, where: str) -> DataTensor:
        value = self._slot.value
        if value is None:
            raise runtime_error(
                f"Tensor.{where}", f"{self._name} holds no data yet", "",
                "copy_from_cpu an input, or run the predictor before an output is read",
            )  # fmt: skip
        return value

    def __repr__(self) -> str:
        return f"<inference tensor {self._name}: {self._dtype}{self.shape()}>"
