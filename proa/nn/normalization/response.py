"""Normalisation by the channels beside each one."""

from __future__ import annotations

from ...eager.tensor import Tensor
from .. import functional as F
from ..layer import Layer


class LocalResponseNorm(Layer):
    """Divides each element by the strength of its place in neighbouring channels.

    The divisor is `(k + alpha * mean of squares) ** beta`, over `size` channels.

    Args:
        size: how many channels are looked at.
        alpha: the factor of the squares.
        beta: the power.
        k: what is added.
        data_format: where the channels are: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Examples:
        >>> layer = paddle.nn.LocalResponseNorm(2, alpha=1.0, beta=1.0)
        >>> print(layer(paddle.ones([1, 2, 1, 1])).flatten().numpy().round(4))
        [0.6667 0.5   ]
    """

    def __init__(
        self,
        size: int,
        alpha: float = 1e-4,
        beta: float = 0.75,
        k: float = 1.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k
        self.data_format, self.name = data_format, name

    def forward(self, input: Tensor) -> Tensor:
        """The normalised tensor.

        Examples:
            >>> paddle.nn.LocalResponseNorm(3).forward(paddle.ones([2, 4, 5, 5])).shape
            paddle.Size([2, 4, 5, 5])
        """
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k, self.data_format)

    def extra_repr(self) -> str:
        """What stands between the brackets when the layer is printed.

        Examples:
            >>> paddle.nn.LocalResponseNorm(3)
            LocalResponseNorm(size=3, alpha=0.0001, beta=0.75, k=1.0)
        """
        text = f"size={self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
        return text + (f", data_format={self.data_format}" if self.data_format != "NCHW" else "")
