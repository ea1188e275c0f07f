"""The Bernoulli distribution: 1 with some probability, else 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import value_error
from ..arguments import tensors
from ..distribution import without_gradient
from ..exponential_family import ExponentialFamily
from ..functions import choose, paddle, softplus
from ..noise import standard_logistic, standard_uniform


def clip_probability(probs: Any) -> Any:
    """A probability that has finite log odds: at least one resolution of its type away from 0 and 1."""
    kind = probs._aval.dtype
    resolution = float(np.finfo(kind if kind.kind == "f" else np.float32).eps)
    return paddle.clip(probs, resolution, 1.0 - resolution)


class Bernoulli(ExponentialFamily):
    """Success with probability `probs`; `logits` are the log odds."""

    _warns_of_types = True

    probs: Any  # a parameter here, not the older name of prob()

    def __init__(self, probs: Any, name: str | None = None) -> None:
        self.name = "Bernoulli" if name is None else name
        (self.probs,) = tensors("Bernoulli", integers=False, probs=probs)
        self._clipped = clip_probability(self.probs)
        self.logits = paddle.logit(self._clipped)
        super().__init__(tuple(self.probs.shape))

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def variance(self) -> Any:
        return self.probs * (1.0 - self.probs)

    def sample(self, shape: Sequence[int] = []) -> Any:
        fraction = standard_uniform(self._extend_shape(shape), self.logits._aval.dtype)
        return without_gradient(paddle.cast(fraction < self.probs, self.logits.dtype))

    def rsample(self, shape: Sequence[int] = [], temperature: float = 1.0) -> Any:
        """The log odds of a relaxed draw (the Gumbel trick): its sigmoid is near 0 or 1, the more so the
        lower the temperature."""
        if isinstance(temperature, bool) or not isinstance(temperature, (int, float)) or not temperature > 0:
            raise value_error("Bernoulli", "the temperature must be a positive number", f"temperature: {temperature!r}")
        noise = standard_logistic(self._extend_shape(shape), self.logits._aval.dtype)
        return (self.logits + noise) / float(temperature)

    def cdf(self, value: Any) -> Any:
        """The probability of a number up to `value`."""
        value = self._value(value, self.logits)
        below = paddle.ones_like(value) * (1.0 - self.probs)
        return choose(value >= 0.0, choose(value < 1.0, below, 1.0), 0.0)

    def log_prob(self, value: Any) -> Any:
        return self._value(value, self.logits) * self.logits - softplus(self.logits)

    def entropy(self) -> Any:
        return softplus(self.logits) - self._clipped * self.logits
