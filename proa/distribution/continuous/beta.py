"""The beta distribution on (0, 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...eager.annotations import Number
from ..arguments import broadcast, common_shape, tensors
from ..distribution import without_gradient
from ..exponential_family import ExponentialFamily
from ..functions import log_beta, paddle, times_log


class Beta(ExponentialFamily):
    """The beta distribution on (0, 1): density proportional to x^(alpha - 1) (1 - x)^(beta - 1).

    Args:
        alpha: a positive number, or a tensor of them.
        beta: the same.

    Examples:
        >>> beta = paddle.distribution.Beta(paddle.to_tensor([1.0, 3.0]), paddle.to_tensor([1.0, 1.0]))
        >>> beta.mean.tolist()
        [0.5, 0.75]
        >>> beta.sample([5]).shape
        paddle.Size([5, 2])
    """

    def __init__(self, alpha: Number, beta: Number) -> None:
        alpha, beta = tensors("Beta", lists=False, alpha=alpha, beta=beta)
        shape = common_shape("Beta", alpha, beta)
        self.alpha, self.beta = broadcast(alpha, shape), broadcast(beta, shape)
        super().__init__(shape)

    @property
    def mean(self) -> Any:
        """The expected value.

        Examples:
            >>> print(paddle.distribution.Beta(2.0, 3.0).mean.numpy().round(4))
            0.4
        """
        return self.alpha / (self.alpha + self.beta)

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean.

        Examples:
            >>> print(paddle.distribution.Beta(2.0, 3.0).variance.numpy().round(4))
            0.04
        """
        total = self.alpha + self.beta
        return self.alpha * self.beta / (paddle.square(total) * (total + 1.0))

    def sample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers; no gradient flows through them.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.Beta(2.0, 3.0).sample([2, 3]).shape
            paddle.Size([2, 3])
        """
        return without_gradient(self.rsample(shape))

    def rsample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers as a function of the parameters, which gradients flow through.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.Beta(2.0, 3.0).rsample([2, 3]).shape
            paddle.Size([2, 3])
        """
        extended = self._extend_shape(shape)
        successes = paddle.standard_gamma(broadcast(self.alpha, extended))
        failures = paddle.standard_gamma(broadcast(self.beta, extended))
        return successes / (successes + failures)

    def log_prob(self, value: Number) -> Any:
        """The logarithm of the density at a place.

        Args:
            value: the place.

        Examples:
            >>> print(paddle.distribution.Beta(2.0, 3.0).log_prob(paddle.to_tensor(0.5)).numpy().round(4))
            0.4055
        """
        value = self._value(value, self.alpha)
        powers = times_log(self.alpha - 1.0, value) + times_log(self.beta - 1.0, 1.0 - value)
        return powers - log_beta(self.alpha, self.beta)

    def entropy(self) -> Any:
        """The expected value of `-log_prob`.

        Examples:
            >>> print(paddle.distribution.Beta(2.0, 3.0).entropy().numpy().round(4))
            -0.2349
        """
        return (
            log_beta(self.alpha, self.beta)
            - (self.alpha - 1.0) * paddle.digamma(self.alpha)
            - (self.beta - 1.0) * paddle.digamma(self.beta)
            + (self.alpha + self.beta - 2.0) * paddle.digamma(self.alpha + self.beta)
        )

    @property
    def _natural_parameters(self) -> tuple[Any, ...]:
        return self.alpha, self.beta

    def _log_normalizer(self, *parameters: Any) -> Any:
        return log_beta(*parameters)
