"""What observers and quanters are: layers that give their input on and can say what grid they found."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

from ..nn.layer import Layer

if TYPE_CHECKING:
    from ..eager.tensor import Tensor


class BaseQuanter(Layer, metaclass=abc.ABCMeta):
    """Rounds what comes to a grid, in training.

    Subclass it for a quanter of your own.

    Examples:
        >>> quanter = paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver()._instance(paddle.nn.Linear(2, 3))
        >>> isinstance(quanter, paddle.quantization.BaseQuanter)
        True
    """

    def __init__(self) -> None:
        super().__init__()

    @abc.abstractmethod
    def forward(self, input: Tensor) -> Any:
        """The input, rounded or watched.

        Examples:
            >>> quanter = paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver()._instance(paddle.nn.Linear(2, 3))
            >>> quanter(paddle.ones([2, 2])).shape
            paddle.Size([2, 2])
        """

    @abc.abstractmethod
    def scales(self) -> Any:
        """How far the grid reaches: one number, or one for each channel; None as long as nothing is known.

        Examples:
            >>> observer = paddle.quantization.observers.AbsmaxObserver()._instance(paddle.nn.Linear(2, 3))
            >>> seen = observer(paddle.to_tensor([1.0, -3.0]))
            >>> float(observer.scales())
            3.0
        """

    @abc.abstractmethod
    def zero_points(self) -> Any:
        """Where zero lies on the grid; None for a symmetric grid.

        Examples:
            >>> print(paddle.quantization.observers.AbsmaxObserver()._instance(paddle.nn.Linear(2, 3)).zero_points())
            None
        """

    @abc.abstractmethod
    def quant_axis(self) -> Any:
        """The axis along which there is a scale for each channel; -1 or None where there is one for all.

        Examples:
            >>> paddle.quantization.observers.AbsmaxObserver()._instance(paddle.nn.Linear(2, 3)).quant_axis()
            -1
        """

    @abc.abstractmethod
    def bit_length(self) -> Any:
        """How many bits a number on the grid has.

        Examples:
            >>> paddle.quantization.observers.AbsmaxObserver(quant_bits=4)._instance(paddle.nn.Linear(2, 3)).bit_length()
            4
        """


class BaseObserver(BaseQuanter, metaclass=abc.ABCMeta):
    """Watches what comes, and computes a grid from all of it in the end.

    Subclass it for an observer of your own.

    Examples:
        >>> layer = paddle.quantization.observers.AbsmaxObserver()._instance(paddle.nn.Linear(2, 3))
        >>> isinstance(layer, paddle.quantization.BaseObserver)
        True
    """

    def __init__(self) -> None:
        super().__init__()

    @abc.abstractmethod
    def cal_thresholds(self) -> None:
        """Computes the grid from what was seen.

        Examples:
            >>> observer = paddle.quantization.observers.AbsmaxObserver()._instance(paddle.nn.Linear(2, 3))
            >>> seen = observer(paddle.to_tensor([1.0, -3.0]))
            >>> observer.cal_thresholds()
            >>> float(observer.scales())
            3.0
        """
