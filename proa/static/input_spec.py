"""InputSpec: the shape and data type of an input that is not there yet."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtype import DType, dtype_of, to_numpy_dtype
from ..core.errors import type_error, value_error
from ..eager.annotations import DTypeLike, SizesLike
from ..eager.tensor import Tensor


class InputSpec:
    """The shape, data type and name of an input; a dimension of -1 or None may have any size.

    Args:
        shape: the sizes.
        dtype: the data type.
        name: the name; None: one is made where it is needed.
        stop_gradient: whether no gradient is wanted.

    Examples:
        >>> paddle.static.InputSpec([None, 3], "float32", "x")
        InputSpec(shape=(-1, 3), dtype=paddle.float32, name=x, stop_gradient=False)
    """

    def __init__(
        self, shape: SizesLike, dtype: DTypeLike = "float32", name: str | None = None, stop_gradient: bool = False
    ) -> None:
        self.shape = _checked_shape(shape)
        self.dtype: DType = dtype_of(to_numpy_dtype(dtype))
        self.name = name
        self.stop_gradient = stop_gradient

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> InputSpec:
        """The spec of a tensor, with its name unless another is given.

        Examples:
            >>> paddle.static.InputSpec.from_tensor(paddle.ones([2, 3]), "x")
            InputSpec(shape=(2, 3), dtype=paddle.float32, name=x, stop_gradient=False)
        """
        if not isinstance(tensor, Tensor):
            raise value_error("InputSpec.from_tensor", "tensor must be a Tensor", type(tensor).__name__)
        return cls(list(tensor.shape), tensor.dtype, name or tensor.name)

    @classmethod
    def from_numpy(cls, ndarray: np.ndarray, name: str | None = None) -> InputSpec:
        """The spec of an array.

        Examples:
            >>> paddle.static.InputSpec.from_numpy(np.ones((2, 3), "float32"), "x")
            InputSpec(shape=(2, 3), dtype=paddle.float32, name=x, stop_gradient=False)
        """
        if not isinstance(ndarray, np.ndarray):
            raise value_error("InputSpec.from_numpy", "ndarray must be a NumPy array", type(ndarray).__name__)
        return cls(list(ndarray.shape), ndarray.dtype, name)

    def batch(self, batch_size: int) -> InputSpec:
        """Puts a dimension for the batch in front; the spec itself.

        Examples:
            >>> paddle.static.InputSpec([3]).batch(4).shape
            (4, 3)
        """
        if isinstance(batch_size, (list, tuple)):
            if len(batch_size) != 1:
                raise value_error("InputSpec.batch", "batch_size must be one number", f"batch_size: {batch_size}")
            batch_size = batch_size[0]
        if isinstance(batch_size, bool) or not isinstance(batch_size, (int, np.integer)):
            raise type_error("InputSpec.batch", "batch_size must be an integer", type(batch_size).__name__)
        self.shape = (int(batch_size), *self.shape)
        return self

    def unbatch(self) -> InputSpec:
        """Takes the first dimension away; the spec itself.

        Raises:
            ValueError: there is none.

        Examples:
            >>> paddle.static.InputSpec([4, 3]).unbatch().shape
            (3,)
        """
        if not self.shape:
            raise value_error("InputSpec.unbatch", "there is no dimension to take away", f"shape: {self.shape}")
        self.shape = self.shape[1:]
        return self

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(shape={self.shape}, dtype={self.dtype}, name={self.name}, "
            f"stop_gradient={self.stop_gradient})"
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype, self.stop_gradient))

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        return all(getattr(self, key) == getattr(other, key) for key in ("shape", "dtype", "name", "stop_gradient"))

    def __ne__(self, other: object) -> bool:
        return not self == other


def _checked_shape(shape: Any) -> tuple[int, ...]:
    if not isinstance(shape, (list, tuple)):
        raise type_error("InputSpec", "shape must be a tuple or a list", type(shape).__name__)
    sizes = []
    for position, size in enumerate(shape):
        if size is None:
            size = -1
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)):
            raise value_error("InputSpec", f"shape[{position}] must be an integer or None", f"{size!r}")
        sizes.append(max(int(size), -1))
    return tuple(sizes)
