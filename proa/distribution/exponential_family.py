"""`ExponentialFamily`: distributions with densities h(x) exp(<η, t(x)> - A(η))."""

from __future__ import annotations

from typing import Any

from .distribution import Distribution
from .functions import paddle, sum_rightmost


class ExponentialFamily(Distribution):
    """A subclass gives `_natural_parameters` (η), `_log_normalizer` (A) and `_mean_carrier_measure` (the expected
    value of log h, if it is not 0); entropy and divergence follow from the gradient of A."""

    @property
    def _natural_parameters(self) -> tuple[Any, ...]:
        raise self._missing("natural parameters")

    def _log_normalizer(self, *parameters: Any) -> Any:
        raise self._missing("a log normalizer")

    @property
    def _mean_carrier_measure(self) -> Any:
        raise self._missing("a mean carrier measure")

    def _normalizer_slopes(self) -> tuple[list[Any], Any, list[Any]]:
        """η as tensors of their own, A there, and the gradient of A, which can be differentiated again."""
        etas = [eta * 1.0 for eta in self._natural_parameters]
        for eta in etas:
            eta.stop_gradient = False
        value = self._log_normalizer(*etas)
        return etas, value, paddle.grad(value.sum(), etas, create_graph=True)

    def entropy(self) -> Any:
        etas, value, slopes = self._normalizer_slopes()
        rank = len(self._event_shape)
        result = value - self._mean_carrier_measure
        for eta, slope in zip(etas, slopes):
            result = result - sum_rightmost(eta * slope, rank)
        return result
