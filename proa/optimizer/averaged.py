"""ASGD, which steps along an average of gradients, and Rprop, which looks at their signs only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.aval import Aval
from ..core.errors import type_error, value_error
from ..eager.backward.engine import zeros_of
from ..eager.tensor import Tensor
from ..ops.basic import full_of
from .arguments import number
from .groups import Bucket, Group, ParameterState
from .optimizer import Optimizer
from .updates_adaptive import asgd_update, rprop_update

if TYPE_CHECKING:
    from ..nn.clip import ClipGradBase
    from .lr import LRScheduler
    from .regularizer import WeightDecay


class ASGD(Optimizer):
    """Steps along the mean of the newest gradients of `batch_num` batches, which it keeps.

    Args:
        learning_rate: a number, or a scheduler of `paddle.optimizer.lr`.
        batch_num: how many batches an epoch has.
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
        >>> optimizer = paddle.optimizer.ASGD(learning_rate=0.1, batch_num=1, parameters=[weight])
        >>> (weight ** 2).sum().backward()  # the gradient is 2
        >>> optimizer.step()
        >>> print(weight.numpy().round(4))
        [0.8]
    """

    _accumulator_names = ("d", "y")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        batch_num: int = 1,
        parameters: Iterable[Tensor | dict[str, Any]] | None = None,
        weight_decay: float | WeightDecay | None = None,
        grad_clip: ClipGradBase | None = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        if batch_num is None:
            raise value_error("ASGD", "batch_num must be given", "batch_num: None")
        if isinstance(batch_num, bool) or not isinstance(batch_num, int):
            raise type_error("ASGD", "batch_num must be an int", f"batch_num: {type(batch_num).__name__}")
        if batch_num <= 0:
            raise value_error("ASGD", "batch_num must be greater than 0", f"batch_num: {batch_num}")
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._batch_num, self._multi_precision = batch_num, multi_precision

    def _new_accumulator(self, name: str, aval: Aval) -> Tensor:
        return zeros_of(aval.with_shape((self._batch_num, *aval.shape)) if name == "y" else aval)

    def _device_scalars(self, group: Group, state: ParameterState) -> tuple[float, ...]:
        return (float(state.steps),)

    def _update(self, group: Group, bucket: Bucket, rate: float) -> tuple[Any, list[float], tuple[Any, ...]]:
        has_masters = bucket.states[0].master is not None
        attributes = (len(bucket.members), bucket.kind, has_masters, self._batch_num)
        return asgd_update.operation, [rate, bucket.decay], attributes

    def _scalar_state(self, state: ParameterState) -> dict[str, Any]:
        return {"m": np.array([state.steps], np.int64)}

    def _load_scalar_state(self, state: ParameterState, found: dict[str, float]) -> None:
        if "m" in found:
            state.steps = int(found["m"])


class Rprop(Optimizer):
    """Steps by the sign of the gradient, for training on all data at once.

    Each element has a step length of its own, first `learning_rate`: times `etas[1]` while the sign stays, times
    `etas[0]` when it turns, within `learning_rate_range`.

    Args:
        learning_rate: the first step length.
        learning_rate_range: the smallest and the largest.
        parameters: those to change: a list, or a list of dictionaries (groups with settings of their own).
        etas: the factors when the sign turns and while it stays.
        grad_clip: how gradients are clipped first (`paddle.nn.ClipGradByGlobalNorm`, for instance).
        multi_precision: keeps float32 copies of half-precision parameters and updates those.
        name: a label; it changes nothing.

    Raises:
        ValueError: a number is out of its range, or a parameter is given twice.
        TypeError: something is of another type.

    Examples:
        >>> weight = paddle.to_tensor([1.0], stop_gradient=False)
        >>> optimizer = paddle.optimizer.Rprop(learning_rate=0.1, parameters=[weight])
        >>> (weight ** 2).sum().backward()  # the gradient is 2
        >>> optimizer.step()
        >>> print(weight.numpy().round(4))
        [0.9]
    """

    _accumulator_names = ("prevs", "learning_rates")
    _group_options = ("learning_rate_range", "etas")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        learning_rate_range: tuple[float, float] = (1e-5, 50),
        parameters: Iterable[Tensor | dict[str, Any]] | None = None,
        etas: tuple[float, float] = (0.5, 1.2),
        grad_clip: ClipGradBase | None = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        rate = number("Rprop", "learning_rate", learning_rate)
        smallest, largest = _pair("learning_rate_range", learning_rate_range)
        if not 0 < smallest <= rate <= largest:
            raise value_error(
                "Rprop",
                "the learning rate must lie in learning_rate_range, and that above 0",
                f"learning_rate: {rate}, learning_rate_range: {learning_rate_range}",
            )
        shrink, grow = _pair("etas", etas)
        if not 0 < shrink < 1 < grow:
            raise value_error("Rprop", "0 < etas[0] < 1 < etas[1] is needed", f"etas: {etas}")
        super().__init__(learning_rate, parameters, None, grad_clip, name)
        self._learning_rate_range, self._etas = (smallest, largest), (shrink, grow)
        self._first_rate, self._multi_precision = rate, multi_precision

    def _new_accumulator(self, name: str, aval: Aval) -> Tensor:
        if name == "prevs":
            return zeros_of(aval)
        return full_of(self._first_rate, aval.shape, aval.dtype)._to_place(aval.place)

    def _update(self, group: Group, bucket: Bucket, rate: float) -> tuple[Any, list[float], tuple[Any, ...]]:
        smallest, largest = self._option(group, "learning_rate_range")
        shrink, grow = self._option(group, "etas")
        scalars = [bucket.decay, float(smallest), float(largest), float(shrink), float(grow)]
        attributes = (len(bucket.members), bucket.kind, bucket.states[0].master is not None)
        return rprop_update.operation, scalars, attributes


def _pair(name: str, given: Any) -> tuple[float, float]:
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise type_error("Rprop", f"{name} must be a pair of floats", f"{name}: {given}")
    return number("Rprop", name, given[0]), number("Rprop", name, given[1])
