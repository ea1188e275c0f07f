"""Everyday layers: Linear, Embedding, Dropout, Flatten, Identity and small relatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import failed_check, value_error
from ..eager.annotations import AttrLike, DeviceLike, DTypeLike, ShapeLike
from ..eager.tensor import Tensor, tensor_from_data
from ..eager.views import replace_value
from . import functional as F
from .base.sizes import whole_sizes
from .layer import Layer


class Identity(Layer):
    """Gives its input back; it takes any arguments and ignores them.

    Useful where a layer is expected and nothing is to be done: in the place of a head that is taken off, for instance.

    Examples:
        >>> paddle.nn.Identity()(paddle.to_tensor([1.0, 2.0])).tolist()
        [1.0, 2.0]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """The input itself.

        Examples:
            >>> paddle.nn.Identity().forward("anything")
            'anything'
        """
        return input


class _WeightSize:
    """A size of the weight, under a name that Paddle's Linear lacks: libraries and subclasses put their own in its place."""

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def __get__(self, layer: Any, owner: Any = None) -> Any:
        return self if layer is None else layer.weight._aval.shape[self.axis]


class Linear(Layer):
    """`x @ weight + bias`; the weight is [in_features, out_features].

    Args:
        in_features: the size of the last axis of the input.
        out_features: the size of the last axis of the result.
        weight_attr: how the weight is made: a `ParamAttr`, an initializer or a name.
        bias_attr: the same for the bias; False leaves the bias out.
        name: a label; it changes nothing.

    Raises:
        ValueError: `weight_attr` is False, or a size is no whole number.

    Examples:
        >>> layer = paddle.nn.Linear(3, 2)
        >>> layer(paddle.ones([5, 3])).shape
        paddle.Size([5, 2])
        >>> layer.weight.shape, layer.bias.shape
        (paddle.Size([3, 2]), paddle.Size([2]))
    """

    in_features, out_features = _WeightSize(0), _WeightSize(1)

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
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
        """`input @ weight + bias`.

        Args:
            input: a tensor whose last axis has `in_features` elements.

        Examples:
            >>> layer = paddle.nn.Linear(2, 1, weight_attr=paddle.nn.initializer.Constant(3.0))
            >>> layer.forward(paddle.to_tensor([[1.0, 2.0]])).tolist()
            [[9.0]]
        """
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.Linear(3, 2)
            Linear(in_features=3, out_features=2, dtype=float32)
        """
        named = f", name={self.name}" if self.name else ""
        return f"in_features={self.in_features}, out_features={self.out_features}, dtype={self._dtype}{named}"


class Embedding(Layer):
    """A table of vectors, looked up by integers.

    Args:
        num_embeddings: how many vectors there are.
        embedding_dim: how long each one is.
        padding_idx: the row that stands for padding: it starts at zero and gets no gradient.
        max_norm: vectors that are looked up are scaled down to this norm.
        norm_type: the p of that norm.
        scale_grad_by_freq: divides the gradient of a row by how often it was looked up.
        sparse: tells optimisers with a `lazy_mode` to leave rows alone that were not looked up.
        device: where the table lies; the current device if left out.
        dtype: its data type; the default floating type if left out.
        weight_attr: how the weight is made: a `ParamAttr`, an initializer or a name.
        name: a label; it changes nothing.

    Raises:
        ValueError: a size is not positive, or `padding_idx` is no row of the table.

    Examples:
        >>> table = paddle.nn.Embedding(10, 4, padding_idx=0)
        >>> table(paddle.to_tensor([[1, 2, 0]])).shape
        paddle.Size([1, 3, 4])
        >>> table(paddle.to_tensor([0])).tolist()
        [[0.0, 0.0, 0.0, 0.0]]
    """

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
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
        weight_attr: AttrLike | None = None,
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
        self._padding_idx = padding_idx
        self._max_norm, self._norm_type = max_norm, norm_type
        self._sparse, self._scale_grad_by_freq = sparse, scale_grad_by_freq
        self._name, self._device, self._weight_attr = name, device, weight_attr
        self._size = [num_embeddings, embedding_dim]
        self.weight = self.create_parameter([num_embeddings, embedding_dim], weight_attr, device=device)
        if _weight is not None:
            if list(_weight.shape) != self._size:
                raise failed_check("Embedding", f"_weight must have the shape {self._size}", f"{list(_weight.shape)}")
            replace_value(self.weight, tensor_from_data(_weight, self._dtype))
        elif self._padding_idx is not None:
            numbers = np.array(self.weight._data())
            numbers[self._padding_idx] = 0
            replace_value(self.weight, tensor_from_data(numbers))
        if _freeze:
            self.weight.stop_gradient = True

    @property
    def padding_idx(self) -> int | None:
        """The row that stands for padding, as it was given (-1 is the last one); None if there is none.

        Examples:
            >>> paddle.nn.Embedding(10, 4, padding_idx=-1).padding_idx
            -1
        """
        return self._padding_idx

    def forward(self, x: Tensor) -> Tensor:
        """The vectors of the given rows.

        Args:
            x: integers from 0 to below `num_embeddings`.

        Returns:
            A tensor of the shape of `x` and one more axis.

        Examples:
            >>> paddle.nn.Embedding(5, 2).forward(paddle.to_tensor([1, 3, 3])).shape
            paddle.Size([3, 2])
        """
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
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.Embedding(10, 4, padding_idx=0)
            Embedding(10, 4, padding_idx=0, sparse=False, scale_grad_by_freq=False)
        """
        padding = "" if self._padding_idx is None else f", padding_idx={self._padding_idx}"
        named = f", name={self._name}" if self._name else ""
        return (
            f"{self._num_embeddings}, {self._embedding_dim}{padding}, sparse={self._sparse}, "
            f"scale_grad_by_freq={self._scale_grad_by_freq}{named}"
        )


class Flatten(Layer):
    """Makes one axis of those from `start_axis` to `stop_axis`.

    Args:
        start_axis: the first axis; 1 leaves the batch alone.
        stop_axis: the last axis, which is included.

    Examples:
        >>> paddle.nn.Flatten()(paddle.ones([2, 3, 4])).shape
        paddle.Size([2, 12])
    """

    def __init__(self, start_axis: int = 1, stop_axis: int = -1) -> None:
        super().__init__()
        self.start_axis, self.stop_axis = start_axis, stop_axis

    def forward(self, input: Tensor) -> Tensor:
        """The tensor with some axes made one.

        Examples:
            >>> paddle.nn.Flatten(0, 1).forward(paddle.ones([2, 3, 4])).shape
            paddle.Size([6, 4])
        """
        return input.flatten(self.start_axis, self.stop_axis)


class Unflatten(Layer):
    """Makes several axes of one: the opposite of `Flatten`.

    Args:
        axis: the axis to be divided.
        shape: the extents of the new axes; one of them may be -1.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nn.Unflatten(1, [2, -1])(paddle.ones([5, 6])).shape
        paddle.Size([5, 2, 3])
    """

    def __init__(self, axis: int, shape: ShapeLike, name: str | None = None) -> None:
        super().__init__()
        self.axis, self.shape, self.name = axis, shape, name

    def forward(self, input: Tensor) -> Tensor:
        """The tensor with one axis divided.

        Examples:
            >>> paddle.nn.Unflatten(0, [2, 2]).forward(paddle.to_tensor([1, 2, 3, 4])).tolist()
            [[1, 2], [3, 4]]
        """
        return input.unflatten(self.axis, self.shape)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.Unflatten(1, [2, 3])
            Unflatten(axis=1, shape=[2, 3])
        """
        return f"axis={self.axis}, shape={self.shape}"
