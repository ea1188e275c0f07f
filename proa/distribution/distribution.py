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
from ..eager.annotations import Number
from ..eager.tensor import Tensor
from .arguments import as_value, broadcast, sample_shape
from .functions import paddle


class Distribution:
    """The base class of distributions: a batch of independent ones.

    Parameters broadcast to `batch_shape`, one draw has the shape `event_shape`, and a sample has
    `shape + batch_shape + event_shape`. What a subclass does not define raises NotImplementedError.

    Args:
        batch_shape: the shape of the batch.
        event_shape: the shape of one draw.

    Examples:
        >>> normal = paddle.distribution.Normal(paddle.zeros([3]), paddle.ones([3]))
        >>> isinstance(normal, paddle.distribution.Distribution), normal.batch_shape, normal.sample([2]).shape
        (True, (3,), paddle.Size([2, 3]))
    """

    # Whether a value of another type than the parameters', which is converted, is worth a warning.
    _warns_of_types = False

    def __init__(self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = ()) -> None:
        self._batch_shape = tuple(batch_shape)
        self._event_shape = tuple(event_shape)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the batch of independent distributions.

        Examples:
            >>> paddle.distribution.Normal(paddle.zeros([3]), paddle.ones([3])).batch_shape
            (3,)
        """
        return self._batch_shape

    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one distribution.

        Examples:
            >>> paddle.distribution.Dirichlet(paddle.ones([2, 3])).event_shape
            (3,)
        """
        return self._event_shape

    @property
    def mean(self) -> Any:
        """The expected value; subclasses define it.

        Examples:
            >>> paddle.distribution.Laplace(3.0, 1.0).mean.item()
            3.0
        """
        raise self._missing("a mean")

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean; subclasses define it.

        Examples:
            >>> paddle.distribution.Laplace(3.0, 1.0).variance.item()
            2.0
        """
        raise self._missing("a variance")

    def sample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers; no gradient flows through them. Subclasses define it.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.Distribution().sample()
            Traceback (most recent call last):
                ...
            NotImplementedError: (Distribution) this distribution does not have sample().
        """
        raise self._missing("sample()")

    def rsample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers as a function of the parameters, which gradients flow through. Subclasses define it.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> loc = paddle.to_tensor(1.0, stop_gradient=False)
            >>> paddle.distribution.Normal(loc, paddle.to_tensor(2.0)).rsample().backward()
            >>> loc.grad.item()
            1.0
        """
        raise self._missing("rsample()")

    def entropy(self) -> Any:
        """The expected value of `-log_prob`; subclasses define it.

        Examples:
            >>> round(paddle.distribution.Uniform(0.0, 4.0).entropy().item(), 4)
            1.3863
        """
        raise self._missing("entropy()")

    def log_prob(self, value: Number) -> Any:
        """The logarithm of the density (or probability) at a place; subclasses define it.

        Args:
            value: the place.

        Examples:
            >>> round(paddle.distribution.Normal(0.0, 1.0).log_prob(paddle.to_tensor(0.0)).item(), 4)
            -0.9189
        """
        raise self._missing("log_prob()")

    def prob(self, value: Number) -> Any:
        """The density (or probability) at a place.

        Args:
            value: the place.

        Examples:
            >>> round(paddle.distribution.Normal(0.0, 1.0).prob(paddle.to_tensor(0.0)).item(), 4)
            0.3989
        """
        return paddle.exp(self.log_prob(value))

    def probs(self, value: Number) -> Any:
        """An older name of `prob`.

        Args:
            value: the place.

        Examples:
            >>> round(paddle.distribution.Normal(0.0, 1.0).probs(paddle.to_tensor(0.0)).item(), 4)
            0.3989
        """
        return self.prob(value)

    def kl_divergence(self, other: Distribution) -> Any:
        """The Kullback-Leibler divergence of this distribution from another: as `paddle.distribution.kl_divergence`.

        Args:
            other: the other distribution.

        Raises:
            TypeError: it is of another kind.

        Examples:
            >>> round(paddle.distribution.Normal(0.0, 1.0).kl_divergence(paddle.distribution.Normal(1.0, 1.0)).item(), 4)
            0.5
        """
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
        return broadcast(x, self._batch_shape)


def without_gradient(drawn: Any) -> Any:
    """A sample as a plain constant.

    Examples:
        >>> from proa.distribution.continuous.lkj_cholesky import without_gradient
        >>> without_gradient(paddle.to_tensor([1.0], stop_gradient=False)).stop_gradient
        True
    """
    return drawn.detach()
