"""Constants, ranges and one-hot vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import F, paddle
from ....formats.paddle.reading.known import Known
from ..registry import reads
from ..translation import array_of

if TYPE_CHECKING:
    from ....formats.paddle.reading.registry import Integer, Integers, Raw


@reads("Constant", translates_blocks=True)
def constant(translation: Any, op: Any, inputs: list[Any]) -> Known:
    """Numbers that stand in the node itself; tensors were taken when the file was read."""
    for name, dtype in (("value_int", np.int64), ("value_ints", np.int64), ("value_float", np.float32),
                        ("value_floats", np.float32)):  # fmt: skip
        if name in op.attributes:
            array = np.asarray(op.attributes[name], dtype)
            return Known(array, array.dtype.name)
    raise NotImplementedError(f"(Constant) there are no tensors of this kind here: {', '.join(op.attributes)}.")


@reads("ConstantOfShape", creates=True)
def constant_of_shape(sizes: Integers, *, value: Any = None) -> Tensor:
    if value is None:
        return paddle.zeros(sizes, "float32")
    return paddle.full(sizes, value.reshape(-1)[0].item(), value.dtype.name)


@reads("Range", creates=True)
def range_(start: Raw, limit: Raw, delta: Raw) -> Tensor:
    dtype = next(_name(part) for part in (start, limit, delta))
    if dtype.startswith("int"):
        numbers = [array_of(part, "a range").reshape(-1).tolist()[0] for part in (start, limit, delta)]
        return paddle.arange(*numbers, dtype=dtype)
    first, last, step = (np.asarray(array_of(part, "a range")).reshape(-1)[0] for part in (start, limit, delta))
    count = max(int(np.ceil((last - first) / step)), 0)
    return paddle.arange(count, dtype="int64").astype(dtype) * float(step) + float(first)


def _name(value: Any) -> str:
    return value.dtype if isinstance(value, Known) else value.dtype.name


@reads("OneHot")
def one_hot(indices: Tensor, depth: Integer, values: Tensor, *, axis: int = -1) -> Tensor:
    places = indices.astype("int64")
    places = paddle.where(places < 0, places + depth, places)
    axis = axis + indices.ndim + 1 if axis < 0 else axis
    steps = paddle.arange(depth, dtype="int64").reshape([-1, *[1] * (indices.ndim - axis)])
    return paddle.where(places.unsqueeze(axis) == steps, values[1], values[0])


@reads("ai.onnx.ml.ArrayFeatureExtractor")
def array_feature_extractor(x: Tensor, indices: Tensor) -> Tensor:
    return paddle.index_select(x if x.ndim > 1 else x.unsqueeze(0), indices.reshape([-1]), -1)


@reads("ai.onnx.ml.Scaler")
def scaler(x: Tensor, *, offset: Any = (0.0,), scale: Any = (1.0,)) -> Tensor:
    return (x.astype("float32") - paddle.to_tensor(list(offset))) * paddle.to_tensor(list(scale))


@reads("ai.onnx.ml.Normalizer")
def normalizer(x: Tensor, *, norm: str = "MAX") -> Tensor:
    if norm == "MAX":
        return x / paddle.max(paddle.abs(x), -1, keepdim=True)
    return F.normalize(x, 1 if norm == "L1" else 2, -1)
