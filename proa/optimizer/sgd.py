"""Stochastic gradient descent, plain and with momentum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..core.errors import value_error
from ..eager.tensor import Tensor
from .optimizer import Bucket, Group, Optimizer
from .updates import momentum_update, sgd_update

if TYPE_CHECKING:
    from ..nn.clip import ClipGradBase
    from .lr import LRScheduler
    from .regularizer import WeightDecayRegularizer


class SGD(Optimizer):
    """`w -= learning_rate * gradient`."""

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        parameters: Iterable[Tensor | dict[str, Any]] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
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
    """`v = momentum * v + gradient; w -= learning_rate * v`.

    With `use_nesterov` the step is `learning_rate * (gradient + momentum * v)`.
    """

    _accumulator_names = ("velocity",)
    _group_options = ("momentum", "use_nesterov", "rescale_grad")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        momentum: float = 0.9,
        parameters: Iterable[Tensor | dict[str, Any]] | None = None,
        use_nesterov: bool = False,
        weight_decay: float | WeightDecayRegularizer | None = None,
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
