"""`ExponentialFamily`: distributions with densities h(x) exp(<η, t(x)> - A(η))."""

from __future__ import annotations

from typing import Any

from .distribution import Distribution
from .functions import paddle, sum_rightmost


class ExponentialFamily(Distribution):
    """Distributions with densities h(x) exp(<η, t(x)> - A(η)).

    A subclass gives `_natural_parameters` (η), `_log_normalizer` (A) and `_mean_carrier_measure` (the expected value of
    log h, if it is not 0); entropy and divergence follow from the gradient of A.

    Examples:
        >>> class Shown(paddle.distribution.ExponentialFamily):
        ...     def __init__(self, rate):
        ...         self.rate = paddle.to_tensor(rate)
        ...         super().__init__()
        ...     @property
        ...     def _natural_parameters(self):
        ...         return (-self.rate,)
        ...     def _log_normalizer(self, eta):
        ...         return -paddle.log(-eta)
        ...     @property
        ...     def _mean_carrier_measure(self):
        ...         return 0.0
        >>> round(Shown(2.0).entropy().item(), 4)
        0.3069
        >>> round(paddle.distribution.Exponential(paddle.to_tensor(2.0)).entropy().item(), 4)
        0.3069
    """

    @property
    def _natural_parameters(self) -> tuple[Any, ...]:
        raise self._missing("natural parameters")

    def _log_normalizer(self, *parameters: Any) -> Any:
        raise self._missing("a log normalizer")

    @property
    def _mean_carrier_measure(self) -> Any:
        raise self._missing("a mean carrier measure")

    def _normalizer_gradients(self) -> tuple[list[Any], Any, list[Any]]:
        """η as tensors of their own, A there, and the gradient of A, which can be differentiated again."""
        etas = [eta * 1.0 for eta in self._natural_parameters]
        for eta in etas:
            eta.stop_gradient = False
        value = self._log_normalizer(*etas)
        return etas, value, paddle.grad(value.sum(), etas, create_graph=True)

    def entropy(self) -> Any:
        """The expected value of `-log_prob`, from the gradient of the log normalizer.

        Examples:
            >>> round(paddle.distribution.Bernoulli(0.5).entropy().item(), 4)
            0.6931
        """
        etas, value, gradients = self._normalizer_gradients()
        rank = len(self._event_shape)
        result = value - self._mean_carrier_measure
        for eta, gradient in zip(etas, gradients):
            result = result - sum_rightmost(eta * gradient, rank)
        return result
