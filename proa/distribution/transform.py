"""All transforms: the elementwise ones are here, the others in the files beside this one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core.errors import type_error
from ..eager.annotations import Number
from ..eager.tensor import Tensor
from . import variable
from .arguments import common_shape
from .functions import functional, paddle, softplus
from .transform_base import Transform, Type
from .transform_composed import ChainTransform, IndependentTransform, StackTransform
from .transform_events import ReshapeTransform, SoftmaxTransform, StickBreakingTransform

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "ChainTransform",
    "ExpTransform",
    "IndependentTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "Type",
]


class AbsTransform(Transform):
    """y = |x|. It is not injective: `inverse` gives both numbers, the negative one first.

    Examples:
        >>> transform = paddle.distribution.AbsTransform()
        >>> transform.forward(paddle.to_tensor([-2.0])).tolist()
        [2.0]
        >>> [x.tolist() for x in transform.inverse(paddle.to_tensor([2.0]))]
        [[-2.0], [2.0]]
    """

    _type = Type.SURJECTION

    @property
    def _codomain(self) -> variable.Variable:
        return variable.positive

    def _forward(self, x: Any) -> Any:
        return paddle.abs(x)

    def _inverse(self, y: Any) -> Any:
        return -y, y

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        zero = paddle.zeros([], dtype=y.dtype)
        return zero, zero


class AffineTransform(Transform):
    """y = loc + scale * x.

    Args:
        loc: a tensor.
        scale: a tensor.

    Raises:
        TypeError: one is no tensor.

    Examples:
        >>> transform = paddle.distribution.AffineTransform(paddle.to_tensor(1.0), paddle.to_tensor(2.0))
        >>> transform.forward(paddle.to_tensor([3.0])).tolist(), transform.inverse(paddle.to_tensor([7.0])).tolist()
        ([7.0], [3.0])
    """

    _type = Type.BIJECTION

    def __init__(self, loc: Number, scale: Number) -> None:
        for name, value in (("loc", loc), ("scale", scale)):
            if not isinstance(value, Tensor):
                raise type_error("AffineTransform", f"{name} must be a Tensor", f"{name}: {type(value).__name__}")
        self._loc = loc
        self._scale = scale

    @property
    def loc(self) -> Any:
        """What is added.

        Examples:
            >>> paddle.distribution.AffineTransform(paddle.to_tensor(1.0), paddle.to_tensor(2.0)).loc.item()
            1.0
        """
        return self._loc

    @property
    def scale(self) -> Any:
        """The factor.

        Examples:
            >>> paddle.distribution.AffineTransform(paddle.to_tensor(1.0), paddle.to_tensor(2.0)).scale.item()
            2.0
        """
        return self._scale

    def _forward(self, x: Any) -> Any:
        return self._loc + self._scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self._loc) / self._scale

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return paddle.log(paddle.abs(self._scale)) + paddle.zeros_like(x)

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return common_shape("AffineTransform", self._loc, self._scale, _Shaped(shape))

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._forward_shape(shape)


class _Shaped:
    """Something with a shape."""

    def __init__(self, shape: Sequence[int]) -> None:
        self.shape = shape


class ExpTransform(Transform):
    """y = exp(x).

    Examples:
        >>> transform = paddle.distribution.ExpTransform()
        >>> transform.forward(paddle.to_tensor([0.0])).tolist()
        [1.0]
        >>> transform.forward_log_det_jacobian(paddle.to_tensor([2.0])).tolist()
        [2.0]
    """

    _type = Type.BIJECTION

    @property
    def _codomain(self) -> variable.Variable:
        return variable.positive

    def _forward(self, x: Any) -> Any:
        return paddle.exp(x)

    def _inverse(self, y: Any) -> Any:
        return paddle.log(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return x


class PowerTransform(Transform):
    """y = x ** power, for positive x.

    Args:
        power: a tensor.

    Raises:
        TypeError: it is no tensor.

    Examples:
        >>> transform = paddle.distribution.PowerTransform(paddle.to_tensor(2.0))
        >>> transform.forward(paddle.to_tensor([3.0])).tolist(), transform.inverse(paddle.to_tensor([9.0])).tolist()
        ([9.0], [3.0])
    """

    _type = Type.BIJECTION

    def __init__(self, power: Tensor) -> None:
        if not isinstance(power, Tensor):
            raise type_error("PowerTransform", "power must be a Tensor", f"power: {type(power).__name__}")
        self._power = power

    @property
    def power(self) -> Any:
        """The power.

        Examples:
            >>> paddle.distribution.PowerTransform(paddle.to_tensor(2.0)).power.item()
            2.0
        """
        return self._power

    @property
    def _domain(self) -> variable.Variable:
        return variable.positive

    @property
    def _codomain(self) -> variable.Variable:
        return variable.positive

    def _forward(self, x: Any) -> Any:
        return x**self._power

    def _inverse(self, y: Any) -> Any:
        return y ** (1.0 / self._power)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return paddle.log(paddle.abs(self._power * x ** (self._power - 1.0)))

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return common_shape("PowerTransform", self._power, _Shaped(shape))

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._forward_shape(shape)


class SigmoidTransform(Transform):
    """y = 1 / (1 + exp(-x)).

    Examples:
        >>> transform = paddle.distribution.SigmoidTransform()
        >>> transform.forward(paddle.to_tensor([0.0])).tolist(), transform.inverse(paddle.to_tensor([0.5])).tolist()
        ([0.5], [0.0])
    """

    _type = Type.BIJECTION

    def _forward(self, x: Any) -> Any:
        return functional.sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return paddle.logit(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -softplus(-x) - softplus(x)


class TanhTransform(Transform):
    """y = tanh(x).

    Examples:
        >>> transform = paddle.distribution.TanhTransform()
        >>> transform.forward(paddle.to_tensor([0.0])).tolist(), transform.inverse(paddle.to_tensor([0.0])).tolist()
        ([0.0], [0.0])
    """

    _type = Type.BIJECTION

    def _forward(self, x: Any) -> Any:
        return paddle.tanh(x)

    def _inverse(self, y: Any) -> Any:
        return paddle.atanh(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))
