"""Adam and AdamW."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..core.errors import failed_check, type_error
from ..eager.tensor import Tensor
from .arguments import at_least_zero, below_one
from .groups import Bucket, Group, ParameterState, decay_setting
from .optimizer import Optimizer
from .updates import adam_update

if TYPE_CHECKING:
    from ..nn.clip import ClipGradBase
    from .lr import LRScheduler
    from .regularizer import WeightDecay

# Below this a power of beta in float32 has lost digits, and says no more than "many steps".
_SMALLEST_POWER = 1e-37
_MANY_STEPS = 1_000_000


class Adam(Optimizer):
    """Steps along the running mean of gradients, divided by the root of their running mean square.

    `weight_decay` is part of the loss here (see `AdamW` for the other kind). The bias correction is computed in double
    precision.

    Args:
        learning_rate: a number, or a scheduler of `paddle.optimizer.lr`.
        beta1: the share of the old mean of gradients at each step.
        beta2: the share of the old mean of squares.
        epsilon: added to the divisor.
        parameters: those to change: a list, or a list of dictionaries (groups with settings of their own).
        weight_decay: the strength of L2 decay, or an `L1Decay` or `L2Decay`.
        grad_clip: how gradients are clipped first (`paddle.nn.ClipGradByGlobalNorm`, for instance).
        lazy_mode: rows of an `Embedding(sparse=True)` that the step did not look up keep their values and states.
        multi_precision: keeps float32 copies of half-precision parameters and updates those.
        use_multi_tensor: accepted for compatibility; parameters are updated together anyway.
        amsgrad: divides by the largest mean square so far.
        name: a label; it changes nothing.

    Raises:
        ValueError: a number is out of its range, or a parameter is given twice.
        TypeError: something is of another type.

    Examples:
        >>> weight = paddle.to_tensor([1.0], stop_gradient=False)
        >>> optimizer = paddle.optimizer.Adam(learning_rate=0.1, parameters=[weight])
        >>> (weight ** 2).sum().backward()  # the gradient is 2
        >>> optimizer.step()
        >>> print(weight.numpy().round(4))
        [0.9]
    """

    _accumulator_names = ("moment1", "moment2")
    _group_options = ("beta1", "beta2", "epsilon", "lazy_mode")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Iterable[Tensor | dict[str, Any]] | None = None,
        weight_decay: float | WeightDecay | None = None,
        grad_clip: ClipGradBase | None = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        use_multi_tensor: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ) -> None:
        where = type(self).__name__
        self._beta1, self._beta2 = below_one(where, "beta1", beta1), below_one(where, "beta2", beta2)
        self._epsilon = at_least_zero(where, "epsilon", epsilon)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._multi_precision, self._amsgrad, self._lazy_mode = multi_precision, amsgrad, bool(lazy_mode)
        if amsgrad:
            self._accumulator_names = ("moment1", "moment2", "moment2_max")

    def _update(self, group: Group, bucket: Bucket, rate: float) -> tuple[Any, list[float], tuple[Any, ...]]:
        options = group.options
        if options:
            beta1, beta2 = float(self._option(group, "beta1")), float(self._option(group, "beta2"))
            epsilon = float(self._option(group, "epsilon"))
        else:
            beta1, beta2, epsilon = self._beta1, self._beta2, self._epsilon
        scalars = [rate, epsilon, bucket.decay, beta1, beta2]
        attributes = (
            len(bucket.members), bucket.kind, bucket.states[0].master is not None, self._amsgrad, bucket.extra,
        )  # fmt: skip
        return adam_update.operation, scalars, attributes

    def _extra(self, group: Group, parameter: Any) -> bool:
        """Whether rows that the step did not look up stay as they are; a dense gradient has no such rows."""
        return bool(self._option(group, "lazy_mode")) and parameter.__dict__.get("_rows_looked_up", False)

    def _device_scalars(self, group: Group, state: ParameterState) -> tuple[float, ...]:
        return (float(state.steps),)

    def _scalar_state(self, state: ParameterState) -> dict[str, Any]:
        # Paddle keeps the powers for the step to come.
        return {f"{name}_pow_acc": beta ** (state.steps + 1) for name, beta in self._betas(state).items()}

    def _load_scalar_state(self, state: ParameterState, found: dict[str, float]) -> None:
        steps = steps_of((found.get(f"{name}_pow_acc"), beta) for name, beta in self._betas(state).items())
        if steps is not None:
            state.steps = max(steps - 1, 0)

    def _betas(self, state: ParameterState) -> dict[str, float]:
        group = self._group_of(state.parameter)
        return {name: float(self._option(group, name)) for name in ("beta1", "beta2")}


def steps_of(powers: Iterable[tuple[float | None, float]]) -> int | None:
    """How often a factor was multiplied to get its power: from the first (power, factor) pair that still tells."""
    saved = [(power, factor) for power, factor in powers if power is not None]
    for power, factor in saved:
        if power > _SMALLEST_POWER and factor > 0:
            return round(math.log(power) / math.log(factor))
    return _MANY_STEPS if saved else None


class AdamW(Adam):
    """Adam whose weight decay shrinks the weights directly, beside the gradient.

    Args:
        learning_rate: a number, or a scheduler of `paddle.optimizer.lr`.
        beta1: the share of the old mean of gradients at each step.
        beta2: the share of the old mean of squares.
        epsilon: added to the divisor.
        parameters: those to change: a list, or a list of dictionaries (groups with settings of their own).
        weight_decay: how strongly weights shrink: by `learning_rate * weight_decay * w` a step.
        use_lowprecision_moment: accepted for compatibility.
        lr_ratio: a function of a parameter that gives a factor of its learning rate.
        apply_decay_param_fun: a function of a parameter's name that says whether it decays.
        grad_clip: how gradients are clipped first (`paddle.nn.ClipGradByGlobalNorm`, for instance).
        lazy_mode: rows of an `Embedding(sparse=True)` that the step did not look up keep their values and states.
        multi_precision: keeps float32 copies of half-precision parameters and updates those.
        amsgrad: divides by the largest mean square so far.
        name: a label; it changes nothing.

    Raises:
        ValueError: a number is out of its range, or a parameter is given twice.
        TypeError: something is of another type.

    Examples:
        >>> weight = paddle.to_tensor([1.0], stop_gradient=False)
        >>> optimizer = paddle.optimizer.AdamW(learning_rate=0.1, parameters=[weight], weight_decay=0.5)
        >>> (weight ** 2).sum().backward()  # the gradient is 2
        >>> optimizer.step()
        >>> print(weight.numpy().round(4))
        [0.85]
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Iterable[Tensor | dict[str, Any]] | None = None,
        weight_decay: float | WeightDecay = 0.01,
        use_lowprecision_moment: bool = False,
        lr_ratio: Callable[[Any], float] | None = None,
        apply_decay_param_fun: Callable[[str], bool] | None = None,
        grad_clip: ClipGradBase | None = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ) -> None:
        if isinstance(weight_decay, Tensor):
            weight_decay = weight_decay.item()
        if isinstance(weight_decay, bool) or not isinstance(weight_decay, (int, float)):
            raise type_error("AdamW", "weight_decay must be a float", type(weight_decay).__name__)
        if lr_ratio is not None and not callable(lr_ratio):
            raise failed_check("AdamW", "lr_ratio must be a function of a parameter", type(lr_ratio).__name__)
        super().__init__(
            learning_rate, beta1, beta2, epsilon, parameters, weight_decay, grad_clip, lazy_mode,
            multi_precision, False, amsgrad, name,
        )  # fmt: skip
        self._lr_ratio, self._apply_decay_param_fun = lr_ratio, apply_decay_param_fun

    def _decay(self, group: Group, parameter: Any) -> tuple[str, float]:
        if self._apply_decay_param_fun is not None and not self._apply_decay_param_fun(parameter.name):
            return "", 0.0
        size = group.options.get("weight_decay", self._weight_decay)
        return ("decoupled", float(size)) if size else ("", 0.0)

    def _gradient_term(self, parameter: Any) -> tuple[str, float]:
        """A regularizer of a parameter's own acts on its gradient, beside the decay of the weights."""
        own = getattr(parameter, "regularizer", None)
        return ("", 0.0) if own is None else decay_setting("AdamW", own)

    def _factor(self, parameter: Any) -> float:
        ratio = 1.0 if self._lr_ratio is None else float(self._lr_ratio(parameter))
        return super()._factor(parameter) * ratio
