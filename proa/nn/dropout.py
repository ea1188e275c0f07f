"""Layers that drop elements or channels while training."""

from __future__ import annotations

from ..eager.annotations import AxisLike
from ..eager.tensor import Tensor
from . import functional as F
from .layer import Layer


class Dropout(Layer):
    """Sets elements to zero with probability `p` while training, and does nothing afterwards.

    Args:
        p: the probability of being dropped.
        inplace: accepted for compatibility; the input is left as it is.
        axis: the axes along which elements are dropped one by one; along the others they are dropped together.
        mode: 'upscale_in_train' divides what stays by `1 - p` while training; 'downscale_in_infer' multiplies by
            `1 - p` afterwards instead.
        name: a label; it changes nothing.

    Examples:
        >>> layer = paddle.nn.Dropout(0.5)
        >>> sorted(set(layer(paddle.ones([100])).tolist()))
        [0.0, 2.0]
        >>> layer.eval()(paddle.ones([3])).tolist()
        [1.0, 1.0, 1.0]
    """

    def __init__(
        self,
        p: float = 0.5,
        inplace: bool = False,
        axis: AxisLike | None = None,
        mode: str = "upscale_in_train",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.p, self.inplace, self.axis, self.mode, self.name = p, inplace, axis, mode, name

    def forward(self, input: Tensor) -> Tensor:
        """The input with dropped elements while training, the input itself otherwise.

        Examples:
            >>> paddle.nn.Dropout(1.0).forward(paddle.ones([3])).tolist()
            [0.0, 0.0, 0.0]
        """
        return F.dropout(input, self.p, self.axis, self.training, mode=self.mode)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.Dropout(0.1)
            Dropout(p=0.1, axis=None, mode=upscale_in_train, inplace=False)
        """
        named = f", name={self.name}" if self.name else ""
        return f"p={self.p}, axis={self.axis}, mode={self.mode}, inplace={self.inplace}{named}"


class Dropout2D(Layer):
    """Sets whole channels of images to zero with probability `p` while training.

    Args:
        p: the probability of a channel being dropped; the others are divided by `1 - p`.
        data_format: where the channels are: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Examples:
        >>> dropped = paddle.nn.Dropout2D(0.5)(paddle.ones([1, 8, 2, 2]))
        >>> sorted(set(dropped.sum([2, 3]).flatten().tolist()))
        [0.0, 8.0]
    """

    def __init__(self, p: float = 0.5, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        self.p, self.data_format, self.name = p, data_format, name

    def forward(self, input: Tensor) -> Tensor:
        """The images with dropped channels while training, the images themselves otherwise.

        Examples:
            >>> paddle.nn.Dropout2D(0.5).eval().forward(paddle.ones([1, 1, 1, 2])).tolist()
            [[[[1.0, 1.0]]]]
        """
        return F.dropout2d(input, self.p, self.training, self.data_format)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.Dropout2D(0.1)
            Dropout2D(p=0.1, data_format=NCHW)
        """
        named = f", name={self.name}" if self.name else ""
        return f"p={self.p}, data_format={self.data_format}{named}"


class Dropout3D(Layer):
    """Sets whole channels of volumes to zero with probability `p` while training.

    Args:
        p: the probability of a channel being dropped; the others are divided by `1 - p`.
        data_format: where the channels are: 'NCDHW' or 'NDHWC'.
        name: a label; it changes nothing.

    Examples:
        >>> dropped = paddle.nn.Dropout3D(0.5)(paddle.ones([1, 8, 1, 2, 2]))
        >>> sorted(set(dropped.sum([2, 3, 4]).flatten().tolist()))
        [0.0, 8.0]
    """

    def __init__(self, p: float = 0.5, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__()
        self.p, self.data_format, self.name = p, data_format, name

    def forward(self, input: Tensor) -> Tensor:
        """The volumes with dropped channels while training, the volumes themselves otherwise.

        Examples:
            >>> paddle.nn.Dropout3D(0.5).eval().forward(paddle.ones([1, 1, 1, 1, 2])).flatten().tolist()
            [1.0, 1.0]
        """
        return F.dropout3d(input, self.p, self.training, self.data_format)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.Dropout3D(0.1)
            Dropout3D(p=0.1, data_format=NCDHW)
        """
        return f"p={self.p}, data_format={self.data_format}" + (f", name={self.name}" if self.name else "")


class AlphaDropout(Layer):
    """Dropout for `SELU` networks: dropped elements become a number that keeps mean and variance.

    Args:
        p: the probability of being dropped.
        name: a label; it changes nothing.

    Examples:
        >>> layer = paddle.nn.AlphaDropout(0.5)
        >>> len(set(layer(paddle.ones([100])).tolist())), layer.eval()(paddle.ones([2])).tolist()
        (2, [1.0, 1.0])
    """

    def __init__(self, p: float = 0.5, name: str | None = None) -> None:
        super().__init__()
        self.p, self.name = p, name

    def forward(self, input: Tensor) -> Tensor:
        """The input with dropped elements while training, the input itself otherwise.

        Examples:
            >>> paddle.nn.AlphaDropout(0.5).eval().forward(paddle.ones([3])).tolist()
            [1.0, 1.0, 1.0]
        """
        return F.alpha_dropout(input, self.p, self.training)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.AlphaDropout(0.1)
            AlphaDropout(p=0.1)
        """
        return f"p={self.p}" + (f", name={self.name}" if self.name else "")


class FeatureAlphaDropout(AlphaDropout):
    """`AlphaDropout` of whole channels.

    Args:
        p: the probability of a channel being dropped.

    Examples:
        >>> dropped = paddle.nn.FeatureAlphaDropout(0.5)(paddle.ones([1, 8, 2, 2]))
        >>> bool((dropped.max([2, 3]) == dropped.min([2, 3])).all())
        True
    """

    def forward(self, input: Tensor) -> Tensor:
        """The input with dropped channels while training, the input itself otherwise.

        Examples:
            >>> paddle.nn.FeatureAlphaDropout(0.5).eval().forward(paddle.ones([1, 2, 1])).tolist()
            [[[1.0], [1.0]]]
        """
        return F.feature_alpha_dropout(input, self.p, self.training)
