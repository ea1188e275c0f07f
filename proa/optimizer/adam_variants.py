"""Adamax, NAdam, RAdam and Lamb: what became of Adam."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import type_error
from ..eager.tensor import Tensor
from .adam import steps_of
from .arguments import at_least_zero, below_one, number
from .groups import Bucket, Group, ParameterState
from .optimizer import Optimizer
from .updates_adaptive import adamax_update, lamb_update, nadam_momentum, nadam_update, radam_update

if TYPE_CHECKING:
    from ..nn.clip import ClipGradBase
    from .lr import LRScheduler
    from .regularizer import WeightDecay


class _Kin(Optimizer):
    """What they share: two betas, an epsilon, and steps that are counted on the device."""

    _accumulator_names = ("moment1", "moment2")
    _group_options = ("beta1", "beta2", "epsilon")
    _operation: Any = None

    def __init__(
        self,
        learning_rate: Any,
        betas: tuple[float, float],
        epsilon: float,
        parameters: Any,
        weight_decay: Any,
        grad_clip: Any,
        name: str | None,
    ) -> None:
        where = type(self).__name__
        self._beta1, self._beta2 = below_one(where, "beta1", betas[0]), below_one(where, "beta2", betas[1])
        self._epsilon = at_least_zero(where, "epsilon", epsilon)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _update(self, group: Group, bucket: Bucket, rate: float) -> tuple[Any, list[float], tuple[Any, ...]]:
        beta1, beta2, epsilon = (float(self._option(group, name)) for name in ("beta1", "beta2", "epsilon"))
        attributes = (len(bucket.members), bucket.kind, bucket.states[0].master is not None)
        return self._operation, [rate, epsilon, bucket.decay, beta1, beta2], attributes

    def _device_scalars(self, group: Group, state: ParameterState) -> tuple[float, ...]:
        return (float(state.steps),)

    def _of(self, state: ParameterState, name: str) -> float:
        return float(self._option(self._group_of(state.parameter), name))


def _check_rate(where: str, learning_rate: Any) -> None:
    if isinstance(learning_rate, (int, float)):
        at_least_zero(where, "learning_rate", learning_rate)


class Adamax(_Kin):
    """Adam that divides by the largest gradient, slowly forgotten, instead of the root mean square.

    Args:
        learning_rate: a number, or a scheduler of `paddle.optimizer.lr`.
        beta1: the share of the old mean of gradients at each step.
        beta2: the share of the old mean of squares.
        epsilon: added to the divisor.
        parameters: those to change: a list, or a list of dictionaries (groups with settings of their own).
        weight_decay: the strength of L2 decay, or an `L1Decay` or `L2Decay`.
        grad_clip: how gradients are clipped first (`paddle.nn.ClipGradByGlobalNorm`, for instance).
        name: a label; it changes nothing.

    Raises:
        ValueError: a number is out of its range, or a parameter is given twice.
        TypeError: something is of another type.

    Examples:
        >>> weight = paddle.to_tensor([1.0], stop_gradient=False)
        >>> optimizer = paddle.optimizer.Adamax(learning_rate=0.1, parameters=[weight])
        >>> (weight ** 2).sum().backward()  # the gradient is 2
        >>> optimizer.step()
        >>> print(weight.numpy().round(4))
        [0.9]
    """

    _accumulator_names = ("moment", "inf_norm")
    _operation = adamax_update.operation

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Iterable[Tensor | dict[str, Any]] | None = None,
        weight_decay: float | WeightDecay | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, (beta1, beta2), epsilon, parameters, weight_decay, grad_clip, name)

    def _scalar_state(self, state: ParameterState) -> dict[str, Any]:
        # The power for the step to come, as Paddle keeps it.
        return {"beta1_pow_acc": self._of(state, "beta1") ** (state.steps + 1)}

    def _load_scalar_state(self, state: ParameterState, found: dict[str, float]) -> None:
        steps = steps_of([(found.get("beta1_pow_acc"), self._of(state, "beta1"))])
        if steps is not None:
            state.steps = max(steps - 1, 0)


class NAdam(_Kin):
    """Adam with Nesterov's momentum.

    Args:
        learning_rate: a number, or a scheduler of `paddle.optimizer.lr`.
        beta1: the share of the old mean of gradients at each step.
        beta2: the share of the old mean of squares.
        epsilon: added to the divisor.
        momentum_decay: how fast the momentum grows towards `beta1`.
        parameters: those to change: a list, or a list of dictionaries (groups with settings of their own).
        weight_decay: the strength of L2 decay, or an `L1Decay` or `L2Decay`.
        grad_clip: how gradients are clipped first (`paddle.nn.ClipGradByGlobalNorm`, for instance).
        name: a label; it changes nothing.

    Raises:
        ValueError: a number is out of its range, or a parameter is given twice.
        TypeError: something is of another type.

    Examples:
        >>> weight = paddle.to_tensor([1.0], stop_gradient=False)
        >>> optimizer = paddle.optimizer.NAdam(learning_rate=0.1, parameters=[weight])
        >>> (weight ** 2).sum().backward()  # the gradient is 2
        >>> optimizer.step()
        >>> print(weight.numpy().round(4))
        [0.8944]
    """

    _group_options = ("beta1", "beta2", "epsilon", "momentum_decay")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.002,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        momentum_decay: float = 0.004,
        parameters: Iterable[Tensor | dict[str, Any]] | None = None,
        weight_decay: float | WeightDecay | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        _check_rate("NAdam", learning_rate)
        self._momentum_decay = at_least_zero("NAdam", "momentum_decay", momentum_decay)
        super().__init__(learning_rate, (beta1, beta2), epsilon, parameters, weight_decay, grad_clip, name)

    def _update(self, group: Group, bucket: Bucket, rate: float) -> tuple[Any, list[float], tuple[Any, ...]]:
        _, scalars, attributes = super()._update(group, bucket, rate)
        return nadam_update.operation, [*scalars, float(self._option(group, "momentum_decay"))], attributes

    def _device_scalars(self, group: Group, state: ParameterState) -> tuple[float, ...]:
        return float(state.steps), self._momentum_product(state)

    def _momentum_product(self, state: ParameterState) -> float:
        steps = np.arange(1, state.steps + 1, dtype=np.float64)
        return float(np.prod(nadam_momentum(steps, self._of(state, "beta1"), self._of(state, "momentum_decay"))))

    def _scalar_state(self, state: ParameterState) -> dict[str, Any]:
        return {
            "momentum_decay_pow": _spread(0.96**state.steps, state),
            "beta2_pow": _spread(self._of(state, "beta2") ** state.steps, state),
            "mu_product": _spread(self._momentum_product(state), state),
        }

    def _load_scalar_state(self, state: ParameterState, found: dict[str, float]) -> None:
        pairs = [(found.get("beta2_pow"), self._of(state, "beta2")), (found.get("momentum_decay_pow"), 0.96)]
        steps = steps_of(pairs)
        if steps is not None:
            state.steps = steps


class RAdam(_Kin):
    """Adam that begins with plain momentum, until the mean of squares has seen enough to divide by.

    Args:
        learning_rate: a number, or a scheduler of `paddle.optimizer.lr`.
        beta1: the share of the old mean of gradients at each step.
        beta2: the share of the old mean of squares.
        epsilon: added to the divisor.
        parameters: those to change: a list, or a list of dictionaries (groups with settings of their own).
        weight_decay: the strength of L2 decay, or an `L1Decay` or `L2Decay`.
        grad_clip: how gradients are clipped first (`paddle.nn.ClipGradByGlobalNorm`, for instance).
        name: a label; it changes nothing.

    Raises:
        ValueError: a number is out of its range, or a parameter is given twice.
        TypeError: something is of another type.

    Examples:
        >>> weight = paddle.to_tensor([1.0], stop_gradient=False)
        >>> optimizer = paddle.optimizer.RAdam(learning_rate=0.1, parameters=[weight])
        >>> (weight ** 2).sum().backward()  # the gradient is 2
        >>> optimizer.step()
        >>> print(weight.numpy().round(4))
        [0.8]
    """

    _operation = radam_update.operation

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Iterable[Tensor | dict[str, Any]] | None = None,
        weight_decay: float | WeightDecay | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        _check_rate("RAdam", learning_rate)
        super().__init__(learning_rate, (beta1, beta2), epsilon, parameters, weight_decay, grad_clip, name)

    def _scalar_state(self, state: ParameterState) -> dict[str, Any]:
        steps, power = state.steps, self._of(state, "beta2") ** state.steps
        # Paddle's "rho" is the part of the length of the estimate that changes; 1 before the first step.
        rho = steps * power / (1 - power) if steps else 1.0
        return {
            "beta1_pow": _spread(self._of(state, "beta1") ** steps, state),
            "beta2_pow": _spread(power, state),
            "rho": _spread(rho, state),
        }

    def _load_scalar_state(self, state: ParameterState, found: dict[str, float]) -> None:
        steps = steps_of((found.get(f"{name}_pow"), self._of(state, name)) for name in ("beta2", "beta1"))
        if steps is not None:
            state.steps = steps


def _spread(number: float, state: ParameterState) -> np.ndarray:
    """A number in the shape of the parameter: Paddle keeps one for each element."""
    aval = state.parameter._aval
    return np.full(aval.shape, number, np.float64 if aval.dtype == np.float64 else np.float32)


class Lamb(_Kin):
    """Adam for large batches: a step is as long as the learning rate times the parameter's own length.

    Args:
        learning_rate: a number, or a scheduler of `paddle.optimizer.lr`.
        lamb_weight_decay: how strongly weights shrink.
        beta1: the share of the old mean of gradients at each step.
        beta2: the share of the old mean of squares.
        epsilon: added to the divisor.
        parameters: those to change: a list, or a list of dictionaries (groups with settings of their own).
        grad_clip: how gradients are clipped first (`paddle.nn.ClipGradByGlobalNorm`, for instance).
        exclude_from_weight_decay_fn: a function of a parameter that says whether it does not decay.
        multi_precision: keeps float32 copies of half-precision parameters and updates those.
        always_adapt: takes the parameter's length without decay too; the length is Adam's there otherwise.
        name: a label; it changes nothing.

    Raises:
        ValueError: a number is out of its range, or a parameter is given twice.
        TypeError: something is of another type.

    Examples:
        >>> weight = paddle.to_tensor([1.0], stop_gradient=False)
        >>> optimizer = paddle.optimizer.Lamb(learning_rate=0.1, parameters=[weight])
        >>> (weight ** 2).sum().backward()  # the gradient is 2
        >>> optimizer.step()
        >>> print(weight.numpy().round(4))
        [0.9]
    """

    _group_options = ("beta1", "beta2", "epsilon", "lamb_weight_decay", "exclude_from_weight_decay_fn")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        lamb_weight_decay: float = 0.01,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        parameters: Iterable[Tensor | dict[str, Any]] | None = None,
        grad_clip: ClipGradBase | None = None,
        exclude_from_weight_decay_fn: Callable[[Any], bool] | None = None,
        multi_precision: bool = False,
        always_adapt: bool = False,
        name: str | None = None,
    ) -> None:
        self._lamb_weight_decay = number("Lamb", "lamb_weight_decay", lamb_weight_decay)
        if exclude_from_weight_decay_fn is not None and not callable(exclude_from_weight_decay_fn):
            received = type(exclude_from_weight_decay_fn).__name__
            raise type_error("Lamb", "exclude_from_weight_decay_fn must be a function of a parameter", received)
        super().__init__(learning_rate, (beta1, beta2), epsilon, parameters, None, grad_clip, name)
        self._exclude_from_weight_decay_fn = exclude_from_weight_decay_fn
        self._multi_precision, self._always_adapt = multi_precision, always_adapt

    def _extra(self, group: Group, parameter: Any) -> float:
        """Lamb's own decay of a parameter, 0 where it is excluded."""
        excluded = self._option(group, "exclude_from_weight_decay_fn")
        if excluded is not None and excluded(parameter):
            return 0.0
        return float(self._option(group, "lamb_weight_decay"))

    def _update(self, group: Group, bucket: Bucket, rate: float) -> tuple[Any, list[float], tuple[Any, ...]]:
        _, scalars, attributes = super()._update(group, bucket, rate)
        adapts = bool(self._always_adapt or bucket.extra > 0)
        return lamb_update.operation, [*scalars, bucket.extra], (*attributes, adapts)

    def _scalar_state(self, state: ParameterState) -> dict[str, Any]:
        # The powers for the step to come, as Paddle keeps them.
        return {f"{name}_pow_acc": self._of(state, name) ** (state.steps + 1) for name in ("beta1", "beta2")}

    def _load_scalar_state(self, state: ParameterState, found: dict[str, float]) -> None:
        steps = steps_of((found.get(f"{name}_pow_acc"), self._of(state, name)) for name in ("beta1", "beta2"))
        if steps is not None:
            state.steps = max(steps - 1, 0)
