"""Adagrad, Adadelta and RMSProp: gradients over a running root of their squares."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..core.aval import Aval
from ..eager.tensor import Tensor
from ..ops.basic import full_of
from .arguments import at_least_zero, number
from .groups import Bucket, Group
from .optimizer import Optimizer
from .updates_adaptive import adadelta_update, adagrad_update, rmsprop_update

if TYPE_CHECKING:
    from ..nn.clip import ClipGradBase
    from .lr import LRScheduler
    from .regularizer import WeightDecay


class Adagrad(Optimizer):
    """Divides by the root of the sum of all squared gradients so far.

    Args:
        learning_rate: a number, or a scheduler of `paddle.optimizer.lr`.
        epsilon: added to the divisor.
        parameters: those to change: a list, or a list of dictionaries (groups with settings of their own).
        weight_decay: the strength of L2 decay, or an `L1Decay` or `L2Decay`.
        grad_clip: how gradients are clipped first (`paddle.nn.ClipGradByGlobalNorm`, for instance).
        name: a label; it changes nothing.
        initial_accumulator_value: the sum at the start.

    Raises:
        ValueError: a number is out of its range, or a parameter is given twice.
        TypeError: something is of another type.

    Examples:
        >>> weight = paddle.to_tensor([1.0], stop_gradient=False)
        >>> optimizer = paddle.optimizer.Adagrad(learning_rate=0.1, parameters=[weight])
        >>> (weight ** 2).sum().backward()  # the gradient is 2
        >>> optimizer.step()
        >>> print(weight.numpy().round(4))
        [0.9]
    """

    _accumulator_names = ("moment",)
    _group_options = ("epsilon", "initial_accumulator_value")

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        epsilon: float = 1e-6,
        parameters: Iterable[Tensor | dict[str, Any]] | None = None,
        weight_decay: float | WeightDecay | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
        initial_accumulator_value: float = 0.0,
    ) -> None:
        self._epsilon = number("Adagrad", "epsilon", epsilon)
        self._initial_accumulator_value = number("Adagrad", "initial_accumulator_value", initial_accumulator_value)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _new_accumulator(self, name: str, aval: Aval) -> Tensor:
        return full_of(self._initial_accumulator_value, aval.shape, aval.dtype)._to_place(aval.place)

    def _update(self, group: Group, bucket: Bucket, rate: float) -> tuple[Any, list[float], tuple[Any, ...]]:
        attributes = (len(bucket.members), bucket.kind, bucket.states[0].master is not None)
        return adagrad_update.operation, [rate, bucket.decay, float(self._option(group, "epsilon"))], attributes


class Adadelta(Optimizer):
    """Adagrad that forgets, and whose steps take their size from the steps before.

    Args:
        learning_rate: a number, or a scheduler of `paddle.optimizer.lr`.
        epsilon: added under both roots.
        rho: the share of the old means at each step.
        parameters: those to change: a list, or a list of dictionaries (groups with settings of their own).
        weight_decay: the strength of L2 decay, or an `L1Decay` or `L2Decay`.
        grad_clip: how gradients are clipped first (`paddle.nn.ClipGradByGlobalNorm`, for instance).
        name: a label; it changes nothing.

    Raises:
        ValueError: a number is out of its range, or a parameter is given twice.
        TypeError: something is of another type.

    Examples:
        >>> weight = paddle.to_tensor([1.0], stop_gradient=False)
        >>> optimizer = paddle.optimizer.Adadelta(learning_rate=1.0, parameters=[weight])
        >>> (weight ** 2).sum().backward()  # the gradient is 2
        >>> optimizer.step()
        >>> print(weight.numpy().round(4))
        [0.9955]
    """

    _accumulator_names = ("_avg_squared_grad", "_avg_squared_update")
    _group_options = ("epsilon", "rho")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        epsilon: float = 1e-6,
        rho: float = 0.95,
        parameters: Iterable[Tensor | dict[str, Any]] | None = None,
        weight_decay: float | WeightDecay | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        self._epsilon, self._rho = number("Adadelta", "epsilon", epsilon), number("Adadelta", "rho", rho)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _update(self, group: Group, bucket: Bucket, rate: float) -> tuple[Any, list[float], tuple[Any, ...]]:
        scalars = [rate, bucket.decay, float(self._option(group, "epsilon")), float(self._option(group, "rho"))]
        attributes = (len(bucket.members), bucket.kind, bucket.states[0].master is not None)
        return adadelta_update.operation, scalars, attributes


class RMSProp(Optimizer):
    """Divides by the root of the running mean of squared gradients, with momentum.

    Args:
        learning_rate: a number, or a scheduler of `paddle.optimizer.lr`.
        rho: the share of the old mean at each step.
        epsilon: added under the root.
        momentum: the share of the old step.
        centered: takes the square of the running mean off first: the deviation in place of the square.
        parameters: those to change: a list, or a list of dictionaries (groups with settings of their own).
        weight_decay: the strength of L2 decay, or an `L1Decay` or `L2Decay`.
        grad_clip: how gradients are clipped first (`paddle.nn.ClipGradByGlobalNorm`, for instance).
        name: a label; it changes nothing.

    Raises:
        ValueError: a number is out of its range, or a parameter is given twice.
        TypeError: something is of another type.

    Examples:
        >>> weight = paddle.to_tensor([1.0], stop_gradient=False)
        >>> optimizer = paddle.optimizer.RMSProp(learning_rate=0.1, parameters=[weight])
        >>> (weight ** 2).sum().backward()  # the gradient is 2
        >>> optimizer.step()
        >>> print(weight.numpy().round(4))
        [0.5528]
    """

    _accumulator_names = ("momentum", "mean_square", "mean_grad")
    _group_options = ("epsilon", "rho", "momentum", "centered")

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        rho: float = 0.95,
        epsilon: float = 1e-6,
        momentum: float = 0.0,
        centered: bool = False,
        parameters: Iterable[Tensor | dict[str, Any]] | None = None,
        weight_decay: float | WeightDecay | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        self._rho = at_least_zero("RMSProp", "rho", rho)
        self._epsilon = at_least_zero("RMSProp", "epsilon", epsilon)
        self._momentum = at_least_zero("RMSProp", "momentum", momentum)
        self._centered = centered
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _update(self, group: Group, bucket: Bucket, rate: float) -> tuple[Any, list[float], tuple[Any, ...]]:
        options = [float(self._option(group, name)) for name in ("epsilon", "rho", "momentum")]
        centered = bool(self._option(group, "centered"))
        attributes = (len(bucket.members), bucket.kind, bucket.states[0].master is not None, centered)
        return rmsprop_update.operation, [rate, bucket.decay, *options], attributes
