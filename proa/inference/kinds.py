"""The enumerations of `paddle.inference`, and the data types behind them."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class _Kind(IntEnum):
    """A number that is printed as Paddle prints it: by the name that the class has there."""

    @classmethod
    def _shown(cls) -> str:
        return {"DataType": "PaddleDType", "PlaceType": "PaddlePlace", "PrecisionType": "Precision"}[cls.__name__]

    def __str__(self) -> str:
        return f"{self._shown()}.{self.name}"

    def __repr__(self) -> str:
        return f"<{self}: {self.value}>"


class DataType(_Kind):
    """Data types of input and output tensors.

    Examples:
        >>> paddle.inference.DataType.FLOAT32
        <PaddleDType.FLOAT32: 0>
    """

    FLOAT32 = 0
    INT64 = 1
    INT32 = 2
    UINT8 = 3
    INT8 = 4
    FLOAT16 = 5
    BOOL = 6
    FLOAT64 = 7
    BFLOAT16 = 8


class PlaceType(_Kind):
    """Where a tensor lives.

    Examples:
        >>> paddle.inference.PlaceType.CPU
        <PaddlePlace.CPU: 0>
    """

    UNK = -1
    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM = 4


class PrecisionType(_Kind):
    """In which precision an engine computes.

    Examples:
        >>> paddle.inference.PrecisionType.Half
        <Precision.Half: 2>
    """

    Float32 = 0
    Int8 = 1
    Half = 2
    Bfloat16 = 3


_BY_NAME = {
    "float32": DataType.FLOAT32, "int64": DataType.INT64, "int32": DataType.INT32, "uint8": DataType.UINT8,
    "int8": DataType.INT8, "float16": DataType.FLOAT16, "bool": DataType.BOOL, "float64": DataType.FLOAT64,
    "bfloat16": DataType.BFLOAT16,
}  # fmt: skip
_BYTES = {
    DataType.FLOAT64: 8, DataType.FLOAT32: 4, DataType.FLOAT16: 2, DataType.BFLOAT16: 2, DataType.INT64: 8,
    DataType.INT32: 4, DataType.UINT8: 1, DataType.INT8: 1, DataType.BOOL: 1,
}  # fmt: skip


def data_type_of(dtype: np.dtype | str) -> DataType:
    """The member for a NumPy dtype or our name of one."""
    name = dtype if isinstance(dtype, str) else dtype.name
    found = _BY_NAME.get(name)
    if found is None:
        raise TypeError(f"(inference) tensors of type {name} cannot be fed or fetched; use {', '.join(_BY_NAME)}.")
    return found


def get_num_bytes_of_data_type(dtype: DataType) -> int:
    """How many bytes an element takes.

    Examples:
        >>> paddle.inference.get_num_bytes_of_data_type(paddle.inference.DataType.FLOAT16)
        2
    """
    return _BYTES[DataType(dtype)]
