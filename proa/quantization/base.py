"""What observers and quanters are: layers that give their input on and can say what grid they found."""

from __future__ import annotations

import abc
from typing import Any

from ..nn.layer import Layer


class BaseQuanter(Layer, metaclass=abc.ABCMeta):
    """Rounds what comes to a grid, in training."""

    def __init__(self) -> None:
        super().__init__()

    @abc.abstractmethod
    def forward(self, input: Any) -> Any:
        """The input, rounded or watched."""

    @abc.abstractmethod
    def scales(self) -> Any:
        """How far the grid reaches: one number, or one for each channel; None as long as nothing is known."""

    @abc.abstractmethod
    def zero_points(self) -> Any:
        """Where zero lies on the grid; None for a symmetric grid."""

    @abc.abstractmethod
    def quant_axis(self) -> Any:
        """The axis along which there is a scale for each channel; -1 or None where there is one for all."""

    @abc.abstractmethod
    def bit_length(self) -> Any:
        """How many bits a number on the grid has."""


class BaseObserver(BaseQuanter, metaclass=abc.ABCMeta):
    """Watches what comes, and computes a grid from all of it in the end."""

    def __init__(self) -> None:
        super().__init__()

    @abc.abstractmethod
    def cal_thresholds(self) -> None:
        """Computes the grid from what was seen."""
