"""Stochastic gradient descent, plain and with momentum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..core.errors import value_error
from ..eager.tensor import Tensor
from .groups import Bucket, Group
from .optimizer import Optimizer
from .updates import momentum_update, sgd_update

if TYPE_CHECKING:
    from ..nn.clip import ClipGradBase
    from .lr import LRScheduler
    from .regularizer import WeightDecay


class SGD(Optimizer):
    """Gradient descent: `w -= learning_rate * gradient`.

    Args:
        learning_rate: a number, or a scheduler of `paddle.optimizer.lr`.
        parameters: those to change: a list, or a list of dictionaries (groups with settings of their own).
        weight_decay: the strength of L2 decay, or an `L1Decay` or `L2Decay`.
        grad_clip: how gradients are clipped first (`paddle.nn.ClipGradByGlobalNorm`, for instance).
        multi_precision: keeps float32 copies of half-precision parameters and updates those.
        name: a label; it changes nothing.

    Raises:
        ValueError: a number is out of its range, or a parameter is given twice.
        TypeError: something is of another type.

    Examples:
        >>> weight = paddle.to_tensor([1.0], stop_gradient=False)
        >>> optimizer = paddle.optimizer.SGD(learning_rate=0.1, parameters=[weight])
        >>> (weight ** 2).sum().backward()  # the gradient is 2
        >>> optimizer.step()
        >>> print(weight.numpy().round(4))
        [0.8]
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        parameters: Iterable[Tensor | dict[str, Any]] | None = None,
        weight_decay: float | WeightDecay | None = None,
        grad_clip: ClipGradBase | None = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._multi_precision = multi_precision

    def _update(self, group: Group, bucket: Bucket, rate: float) -> tuple[Any, list[float], tuple[Any, ...]]:
        attributes = (len(bucket.members), bucket.kind, bucket.states[0].master is not None)
        return sgd_update.operation, [rate, bucket.decay], attributes


class Momentum(Optimizer):
    """Gradient descent with momentum: `v = momentum * v + gradient; w -= learning_rate * v`.

    Args:
        learning_rate: a number, or a scheduler of `paddle.optimizer.lr`.
        momentum: the share of the old velocity at each step.
        parameters: those to change: a list, or a list of dictionaries (groups with settings of their own).
        use_nesterov: steps by `learning_rate * (gradient + momentum * v)` instead.
        weight_decay: the strength of L2 decay, or an `L1Decay` or `L2Decay`.
        grad_clip: how gradients are clipped first (`paddle.nn.ClipGradByGlobalNorm`, for instance).
        multi_precision: keeps float32 copies of half-precision parameters and updates those.
        rescale_grad: the factor of gradients before anything else.
        use_multi_tensor: accepted for compatibility; parameters are updated together anyway.
        name: a label; it changes nothing.

    Raises:
        ValueError: a number is out of its range, or a parameter is given twice.
        TypeError: something is of another type.

    Examples:
        >>> weight = paddle.to_tensor([1.0], stop_gradient=False)
        >>> optimizer = paddle.optimizer.Momentum(learning_rate=0.1, momentum=0.9, parameters=[weight])
        >>> (weight ** 2).sum().backward()  # the gradient is 2
        >>> optimizer.step()
        >>> print(weight.numpy().round(4))
        [0.8]
    """

    _accumulator_names = ("velocity",)
    _group_options = ("momentum", "use_nesterov", "rescale_grad")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        momentum: float = 0.9,
        parameters: Iterable[Tensor | dict[str, Any]] | None = None,
        use_nesterov: bool = False,
        weight_decay: float | WeightDecay | None = None,
        grad_clip: ClipGradBase | None = None,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ) -> None:
        if momentum is None:
            raise value_error("Momentum", "momentum must be given", "None")
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._momentum, self._use_nesterov = momentum, use_nesterov
        self._rescale_grad, self._multi_precision = rescale_grad, multi_precision

    def _update(self, group: Group, bucket: Bucket, rate: float) -> tuple[Any, list[float], tuple[Any, ...]]:
        momentum, rescale = self._option(group, "momentum"), self._option(group, "rescale_grad")
        nesterov = bool(self._option(group, "use_nesterov"))
        attributes = (
            len(bucket.members),
            bucket.kind,
            bucket.states[0].master is not None,
            nesterov,
        )
        scalars = [rate, bucket.decay, float(momentum), float(rescale)]
        return momentum_update.operation, scalars, attributes
