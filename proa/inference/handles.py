"""Handles of a predictor's inputs and outputs (`paddle.inference.Tensor`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import runtime_error, type_error, value_error
from ..eager.tensor import Tensor as DataTensor
from ..eager.tensor import tensor_from_data
from .kinds import DataType, data_type_of


class Tensor:
    """An input or output by name: numbers are copied into it before a run and out of it afterwards."""

    __slots__ = ("_dtype", "_lod", "_name", "_place", "_shape", "value")

    def __init__(self, name: str, dtype: str, place: Any = None) -> None:
        self._name = name
        self._dtype = dtype
        self._place = place
        self._shape: list[int] | None = None
        self._lod: list[list[int]] = []
        self.value: DataTensor | None = None

    def name(self) -> str:
        return self._name

    def reshape(self, shape: Sequence[int]) -> None:
        """Announces the shape of what comes next. `copy_from_cpu` sets the shape by itself."""
        sizes = [int(size) for size in shape]
        if any(size < 0 for size in sizes):
            raise value_error("Tensor.reshape", "sizes must not be negative", f"shape: {list(shape)}")
        self._shape = sizes
        if self.value is not None and self.value._aval.size == int(np.prod(sizes, dtype=np.int64)):
            self.value = self.value.reshape(sizes)

    def copy_from_cpu(self, data: Any) -> None:
        """Copies an array into an input."""
        if isinstance(data, list) and data and all(isinstance(text, str) for text in data):
            raise type_error("Tensor.copy_from_cpu", "text cannot be fed; encode it as numbers", "a list of str")
        if not isinstance(data, np.ndarray):
            raise type_error("Tensor.copy_from_cpu", "a NumPy array is needed", type(data).__name__)
        self.value = tensor_from_data(np.array(data), place=self._place)
        self._shape = list(data.shape)

    def copy_to_cpu(self) -> np.ndarray:
        """A new array with the numbers of an output (or of an input)."""
        return np.array(self._held("copy_to_cpu")._data())

    def share_external_data(self, data: Any) -> None:
        """Takes a tensor, or an array, without copying it."""
        if isinstance(data, DataTensor):
            self.value = data
        elif isinstance(data, np.ndarray):
            self.value = tensor_from_data(data, place=self._place)
        else:
            raise type_error("Tensor.share_external_data", "a Tensor or a NumPy array is needed", type(data).__name__)
        self._shape = list(self.value._aval.shape)

    def share_external_data_by_ptr_name(self, *_arguments: Any) -> None:
        """Refused: an address cannot be checked, so it could not be read safely."""
        raise runtime_error(
            "Tensor.share_external_data_by_ptr_name", "memory cannot be shared by its address", "",
            "use share_external_data with a tensor or an array",
        )  # fmt: skip

    def shape(self) -> list[int]:
        if self.value is not None:
            return list(self.value._aval.shape)
        return [0] if self._shape is None else list(self._shape)

    def type(self) -> DataType:
        return data_type_of(self._dtype if self.value is None else self.value._aval.dtype)

    def lod(self) -> list[list[int]]:
        return self._lod

    def set_lod(self, lod: list[list[int]]) -> None:
        """Remembered only: sequences of different lengths are padded nowadays."""
        self._lod = lod

    def _held(self, where: str) -> DataTensor:
        if self.value is None:
            raise runtime_error(
                f"Tensor.{where}", f"{self._name} holds no data yet", "",
                "copy_from_cpu an input, or run the predictor before an output is read",
            )  # fmt: skip
        return self.value

    def __repr__(self) -> str:
        return f"<inference tensor {self._name}: {self._dtype}{self.shape()}>"
