"""`TransformedDistribution`: a distribution seen through transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import type_error, value_error
from ..eager.annotations import Number
from .distribution import Distribution
from .functions import sum_rightmost
from .independent import Independent
from .transform_base import Transform
from .transform_composed import ChainTransform


class TransformedDistribution(Distribution):
    """Draws from a distribution, then applies transforms in order.

    Args:
        base: the distribution.
        transforms: a list of transforms.

    Raises:
        TypeError: something is no distribution or no transform.
        ValueError: the transforms need more axes.

    Examples:
        >>> base = paddle.distribution.Normal(0.0, 1.0)
        >>> lognormal = paddle.distribution.TransformedDistribution(base, [paddle.distribution.ExpTransform()])
        >>> bool(lognormal.sample([100]).min() > 0)
        True
    """

    def __init__(self, base: Distribution, transforms: Sequence[Transform]) -> None:
        if not isinstance(base, Distribution):
            raise type_error("TransformedDistribution", "base must be a Distribution", f"base: {type(base).__name__}")
        if isinstance(transforms, ChainTransform):
            transforms = transforms.transforms
        if not isinstance(transforms, (list, tuple)) or not all(isinstance(t, Transform) for t in transforms):
            raise type_error(
                "TransformedDistribution", "transforms must be a list of Transforms", f"transforms: {transforms!r}"
            )
        chain = ChainTransform(transforms)
        shape = base.batch_shape + base.event_shape
        needed = chain._domain.event_rank
        if len(shape) < needed:
            raise value_error(
                "TransformedDistribution", f"the transforms need a base with {needed} dimensions or more",
                f"base with the shape {list(shape)}",
            )  # fmt: skip
        missing = needed - len(base.event_shape)
        if transforms and missing > 0:
            base = Independent(base, missing)
        self._base = base
        self._transforms = list(transforms)
        transformed = chain.forward_shape(shape)
        rank = len(base.event_shape) + (chain._codomain.event_rank - chain._domain.event_rank if transforms else 0)
        cut = len(transformed) - rank
        super().__init__(tuple(transformed[:cut]), tuple(transformed[cut:]))

    def sample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers; no gradient flows through them.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> from proa.distribution import ExpTransform, Normal, TransformedDistribution
            >>> law = TransformedDistribution(Normal(0.0, 1.0), [ExpTransform()])
            >>> law.sample([2, 3]).shape
            paddle.Size([2, 3])
        """
        return self._transformed(self._base.sample(shape))

    def rsample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers as a function of the parameters, which gradients flow through.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> from proa.distribution import ExpTransform, Normal, TransformedDistribution
            >>> law = TransformedDistribution(Normal(0.0, 1.0), [ExpTransform()])
            >>> law.rsample([2, 3]).shape
            paddle.Size([2, 3])
        """
        return self._transformed(self._base.rsample(shape))

    def _transformed(self, x: Any) -> Any:
        for transform in self._transforms:
            x = transform.forward(x)
        return x

    def log_prob(self, value: Number) -> Any:
        """The logarithm of the density at a place.

        Args:
            value: the place.

        Examples:
            >>> from proa.distribution import ExpTransform, Normal, TransformedDistribution
            >>> law = TransformedDistribution(Normal(0.0, 1.0), [ExpTransform()])
            >>> print(law.log_prob(paddle.to_tensor(1.0)).numpy().round(4))
            -0.9189
        """
        rank = len(self._event_shape)
        y: Any = value
        total: Any = 0.0
        for transform in reversed(self._transforms):
            x = transform.inverse(y)
            rank += transform._domain.event_rank - transform._codomain.event_rank
            total = total - sum_rightmost(transform.forward_log_det_jacobian(x), rank - transform._domain.event_rank)
            y = x
        return total + sum_rightmost(self._base.log_prob(y), rank - len(self._base.event_shape))
