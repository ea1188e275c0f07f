"""Everyday layers: Linear, Embedding, Dropout, Flatten, Identity and small relatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import value_error
from ..eager.tensor import Tensor, tensor_from_data
from ..eager.views import replace_value
from . import functional as F
from .base.sizes import whole_sizes
from .layer import Layer


class Identity(Layer):
    """Gives its input back."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class _WeightSize:
    """A size of the weight, under a name that Paddle's Linear lacks: libraries and subclasses put their own in its place."""

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def __get__(self, layer: Any, owner: Any = None) -> Any:
        return self if layer is None else layer.weight._aval.shape[self.axis]


class Linear(Layer):
    """`x @ weight + bias`; the weight is [in_features, out_features]."""

    in_features, out_features = _WeightSize(0), _WeightSize(1)

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=None)  # the default floating type
        in_features, out_features = whole_sizes(self, in_features=in_features, out_features=out_features)
        self.name, self._weight_attr, self._bias_attr = name, weight_attr, bias_attr
        self.weight = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)
        if self.weight is None:
            raise value_error("Linear", "weight_attr cannot be False: there must be a weight")

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        named = f", name={self.name}" if self.name else ""
        return f"in_features={self.in_features}, out_features={self.out_features}, dtype={self._dtype}{named}"


class Embedding(Layer):
    """A table of vectors, looked up by integers."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        *,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
        weight_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=dtype)
        num_embeddings, embedding_dim = whole_sizes(self, num_embeddings=num_embeddings, embedding_dim=embedding_dim)
        if padding_idx is not None:
            padding_idx = whole_sizes(self, padding_idx=padding_idx)
        if num_embeddings <= 0 or embedding_dim <= 0:
            raise value_error(
                "Embedding",
                "num_embeddings and embedding_dim must be positive",
                f"{num_embeddings}, {embedding_dim}",
            )
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise value_error(
                "Embedding",
                f"padding_idx must be within [{-num_embeddings}, {num_embeddings})",
                f"padding_idx: {padding_idx}",
            )
        self._num_embeddings, self._embedding_dim = num_embeddings, embedding_dim
        self._padding_idx = padding_idx if padding_idx is None or padding_idx >= 0 else (num_embeddings + padding_idx)
        self._max_norm, self._norm_type = max_norm, norm_type
        self._sparse, self._scale_grad_by_freq = sparse, scale_grad_by_freq
        self._name, self._device, self._weight_attr = name, device, weight_attr
        self._size = [num_embeddings, embedding_dim]
        self.weight = self.create_parameter([num_embeddings, embedding_dim], weight_attr, device=device)
        if _weight is not None:
            replace_value(self.weight, tensor_from_data(_weight, self._dtype))
        elif self._padding_idx is not None:
            numbers = np.array(self.weight._data())
            numbers[self._padding_idx] = 0
            replace_value(self.weight, tensor_from_data(numbers))
        if _freeze:
            self.weight.stop_gradient = True

    @property
    def padding_idx(self) -> int | None:
        return self._padding_idx

    def forward(self, x: Tensor) -> Tensor:
        if self._max_norm is None and not self._sparse and not self._scale_grad_by_freq:
            return F.embedding(x, self.weight, self._padding_idx)
        return F.embedding(
            x,
            self.weight,
            padding_idx=self._padding_idx,
            max_norm=self._max_norm,
            norm_type=self._norm_type,
            sparse=self._sparse,
            scale_grad_by_freq=self._scale_grad_by_freq,
        )

    def extra_repr(self) -> str:
        padding = "" if self._padding_idx is None else f", padding_idx={self._padding_idx}"
        named = f", name={self._name}" if self._name else ""
        return (
            f"{self._num_embeddings}, {self._embedding_dim}{padding}, sparse={self._sparse}, "
            f"scale_grad_by_freq={self._scale_grad_by_freq}{named}"
        )


class Dropout(Layer):
    """Sets elements to zero with probability `p` while training."""

    def __init__(
        self,
        p: float = 0.5,
        inplace: bool = False,
        axis: Any = None,
        mode: str = "upscale_in_train",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.p, self.inplace, self.axis, self.mode, self.name = p, inplace, axis, mode, name

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.axis, self.training, mode=self.mode)

    def extra_repr(self) -> str:
        named = f", name={self.name}" if self.name else ""
        return f"p={self.p}, axis={self.axis}, mode={self.mode}, inplace={self.inplace}{named}"


class Dropout2D(Layer):
    """Sets whole channels of a 4-D tensor to zero with probability `p` while training."""

    def __init__(self, p: float = 0.5, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        self.p, self.data_format, self.name = p, data_format, name

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout2d(input, self.p, self.training, self.data_format)

    def extra_repr(self) -> str:
        named = f", name={self.name}" if self.name else ""
        return f"p={self.p}, data_format={self.data_format}{named}"


class Flatten(Layer):
    """Makes one axis of those from `start_axis` to `stop_axis`."""

    def __init__(self, start_axis: int = 1, stop_axis: int = -1) -> None:
        super().__init__()
        self.start_axis, self.stop_axis = start_axis, stop_axis

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_axis, self.stop_axis)  # type: ignore[attr-defined]


class Unflatten(Layer):
    """Makes several axes, of the extents `shape`, of one."""

    def __init__(self, axis: int, shape: Any, name: str | None = None) -> None:
        super().__init__()
        self.axis, self.shape, self.name = axis, shape, name

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.axis, self.shape)  # type: ignore[attr-defined]

    def extra_repr(self) -> str:
        return f"axis={self.axis}, shape={self.shape}"
