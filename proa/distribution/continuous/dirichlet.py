"""The Dirichlet distribution: points of the probability simplex."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.errors import type_error, value_error
from ...eager.tensor import Tensor
from ..arguments import spread, tensors
from ..distribution import without_gradient
from ..exponential_family import ExponentialFamily
from ..functions import paddle, times_log


class Dirichlet(ExponentialFamily):
    """Density proportional to the product of x_i^(concentration_i - 1), over the last dimension."""

    def __init__(self, concentration: Any) -> None:
        if not isinstance(concentration, Tensor):
            raise type_error("Dirichlet", "concentration must be a Tensor", f"{type(concentration).__name__}")
        (self.concentration,) = tensors("Dirichlet", concentration=concentration)
        shape = tuple(self.concentration.shape)
        if not shape:
            raise value_error("Dirichlet", "concentration must have at least one dimension", f"{concentration._aval}")
        super().__init__(shape[:-1], shape[-1:])

    @property
    def mean(self) -> Any:
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def variance(self) -> Any:
        total = self.concentration.sum(-1, keepdim=True)
        return self.concentration * (total - self.concentration) / (paddle.square(total) * (total + 1.0))

    def sample(self, shape: Sequence[int] = []) -> Any:
        return without_gradient(self.rsample(shape))

    def rsample(self, shape: Sequence[int] = []) -> Any:
        drawn = paddle.standard_gamma(spread(self.concentration, self._extend_shape(shape)))
        return drawn / drawn.sum(-1, keepdim=True)

    def log_prob(self, value: Any) -> Any:
        powers = times_log(self.concentration - 1.0, self._value(value, self.concentration))
        return powers.sum(-1) - self._log_normalizer(self.concentration)

    def entropy(self) -> Any:
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
