"""The Dirichlet distribution: points of the probability simplex."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.errors import type_error, value_error
from ...eager.annotations import Number
from ...eager.tensor import Tensor
from ..arguments import broadcast, tensors
from ..distribution import without_gradient
from ..exponential_family import ExponentialFamily
from ..functions import paddle, times_log


class Dirichlet(ExponentialFamily):
    """Points of the probability simplex: density proportional to the product of x_i^(concentration_i - 1).

    Args:
        concentration: a tensor, with the event along its last axis.

    Examples:
        >>> dirichlet = paddle.distribution.Dirichlet(paddle.to_tensor([1.0, 1.0, 2.0]))
        >>> dirichlet.mean.tolist(), dirichlet.event_shape
        ([0.25, 0.25, 0.5], (3,))
    """

    def __init__(self, concentration: Number) -> None:
        if not isinstance(concentration, Tensor):
            raise type_error("Dirichlet", "concentration must be a Tensor", f"{type(concentration).__name__}")
        (self.concentration,) = tensors("Dirichlet", concentration=concentration)
        shape = tuple(self.concentration.shape)
        if not shape:
            raise value_error("Dirichlet", "concentration must have at least one dimension", f"{concentration._aval}")
        super().__init__(shape[:-1], shape[-1:])

    @property
    def mean(self) -> Any:
        """The expected value.

        Examples:
            >>> print(paddle.distribution.Dirichlet(paddle.to_tensor([1.0, 3.0])).mean.numpy().round(4))
            [0.25 0.75]
        """
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean.

        Examples:
            >>> print(paddle.distribution.Dirichlet(paddle.to_tensor([1.0, 3.0])).variance.numpy().round(4))
            [0.0375 0.0375]
        """
        total = self.concentration.sum(-1, keepdim=True)
        return self.concentration * (total - self.concentration) / (paddle.square(total) * (total + 1.0))

    def sample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers; no gradient flows through them.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.Dirichlet(paddle.to_tensor([1.0, 3.0])).sample([4]).shape
            paddle.Size([4, 2])
        """
        return without_gradient(self.rsample(shape))

    def rsample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers as a function of the parameters, which gradients flow through.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.Dirichlet(paddle.to_tensor([1.0, 3.0])).rsample([4]).shape
            paddle.Size([4, 2])
        """
        drawn = paddle.standard_gamma(broadcast(self.concentration, self._extend_shape(shape)))
        return drawn / drawn.sum(-1, keepdim=True)

    def log_prob(self, value: Number) -> Any:
        """The logarithm of the density at a place.

        Args:
            value: the place.

        Examples:
            >>> law = paddle.distribution.Dirichlet(paddle.to_tensor([1.0, 3.0]))
            >>> print(law.log_prob(paddle.to_tensor([0.5, 0.5])).numpy().round(4))
            -0.2877
        """
        powers = times_log(self.concentration - 1.0, self._value(value, self.concentration))
        return powers.sum(-1) - self._log_normalizer(self.concentration)

    def entropy(self) -> Any:
        """The expected value of `-log_prob`.

        Examples:
            >>> print(paddle.distribution.Dirichlet(paddle.to_tensor([1.0, 3.0])).entropy().numpy().round(4))
            -0.4319
        """
        total = self.concentration.sum(-1)
        return (
            self._log_normalizer(self.concentration)
            + (total - float(self._event_shape[0])) * paddle.digamma(total)
            - ((self.concentration - 1.0) * paddle.digamma(self.concentration)).sum(-1)
        )

    @property
    def _natural_parameters(self) -> tuple[Any, ...]:
        return (self.concentration,)

    def _log_normalizer(self, *parameters: Any) -> Any:
        (concentration,) = parameters
        return paddle.lgamma(concentration).sum(-1) - paddle.lgamma(concentration.sum(-1))
