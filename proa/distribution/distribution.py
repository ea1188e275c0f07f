"""`Distribution`: what every distribution has.

A distribution stands for a batch of independent ones: parameters broadcast to `batch_shape`, one
draw has the shape `event_shape`, and a sample has `shape + batch_shape + event_shape`. Everything
is composed of public tensor functions, so gradients of any order and compilation come for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import message, type_error, warn
from ..eager.tensor import Tensor
from .arguments import as_value, sample_shape, spread
from .functions import paddle


class Distribution:
    """The base of all distributions; what a subclass does not define raises NotImplementedError."""

    # Whether a value of another type than the parameters', which is converted, is worth a warning.
    _warns_of_types = False

    def __init__(self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = ()) -> None:
        self._batch_shape = tuple(batch_shape)
        self._event_shape = tuple(event_shape)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the batch of independent distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one distribution."""
        return self._event_shape

    @property
    def mean(self) -> Any:
        """The expected value."""
        raise self._missing("a mean")

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean."""
        raise self._missing("a variance")

    def sample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers; no gradient flows through them."""
        raise self._missing("sample()")

    def rsample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers as a function of the parameters, which gradients flow through."""
        raise self._missing("rsample()")

    def entropy(self) -> Any:
        """The expected value of `-log_prob`."""
        raise self._missing("entropy()")

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density (or probability) at `value`."""
        raise self._missing("log_prob()")

    def prob(self, value: Any) -> Any:
        """The density (or probability) at `value`."""
        return paddle.exp(self.log_prob(value))

    def probs(self, value: Any) -> Any:
        """An older name of `prob`."""
        return self.prob(value)

    def kl_divergence(self, other: Distribution) -> Any:
        """The Kullback-Leibler divergence from `other` to this distribution."""
        from .kl import divergence_rule

        rule = divergence_rule(type(self), type(other))
        if rule is not None:
            return rule(self, other)
        if isinstance(other, type(self)):
            raise self._missing("a Kullback-Leibler divergence")
        raise type_error(self._where, f"other must be a {type(self).__name__}", f"other: {type(other).__name__}")

    # ---- for subclasses ----

    @property
    def _where(self) -> str:
        return type(self).__name__

    def _missing(self, what: str) -> NotImplementedError:
        return NotImplementedError(message(self._where, f"this distribution does not have {what}"))

    def _extend_shape(self, shape: Any) -> tuple[int, ...]:
        """The shape of a sample."""
        return (*sample_shape(self._where, shape), *self._batch_shape, *self._event_shape)

    def _value(self, value: Any, like: Any) -> Any:
        """A given value as a tensor of the type of a parameter."""
        if self._warns_of_types and isinstance(value, Tensor) and value._aval.dtype != like._aval.dtype:
            warn(
                f"({self._where}) the value has the dtype {value._aval.dtype}, the parameters {like._aval.dtype}; "
                "the value is converted."
            )
        return as_value(self._where, value, np.dtype(like._aval.dtype))

    def _spread(self, x: Any) -> Any:
        """A parameter in the shape of the batch."""
        return spread(x, self._batch_shape)


def without_gradient(drawn: Any) -> Any:
    """A sample as a plain constant."""
    return drawn.detach()
