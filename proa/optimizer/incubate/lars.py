"""LARS: momentum whose steps are in proportion to each parameter's length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...core.errors import value_error
from ...eager.declare import op
from ...ir.padding import rules
from ..arguments import number
from ..groups import Bucket, Group
from ..optimizer import Optimizer
from ..updates import each, infer_update, with_decay

if TYPE_CHECKING:
    from ...nn.clip import ClipGradBase
    from ..lr import LRScheduler


@op(
    "x",
    variadic=True,
    outputs="list",
    infer=infer_update,
    follow_scalars=False,
    padding=rules.refused("a parameter or its gradient has a padded axis"),
)
def lars_update(xp: Any, arrays: Sequence[Any], count: int, decay_kind: str, has_masters: bool) -> Any:
    """`v = m v + local rate * (g + d w); w -= v`.

    Scalars: rate, decay of a regularizer, m, LARS' coefficient, its own decay d, epsilon, scale of g. Without own decay
    the local rate is the rate.
    """
    rate, decay, momentum, coefficient, own_decay, epsilon, rescale = arrays[:7]

    def rule(value: Any, grad: Any, velocity: Any) -> tuple[Any, Any]:
        kind = value.dtype
        local, shrink = rate.astype(kind), own_decay.astype(kind)
        grad = with_decay(xp, grad * rescale.astype(kind), value, decay, decay_kind)
        size, steepness = xp.sqrt(xp.sum(value * value)), xp.sqrt(xp.sum(grad * grad))
        adapts = (shrink > 0) & (size > 0) & (steepness > 0)
        below = xp.where(adapts, epsilon.astype(kind) + steepness + shrink * size, xp.ones((), kind))
        local = xp.where(adapts, local * coefficient.astype(kind) * size / below, local)
        velocity = momentum.astype(kind) * velocity + local * (grad + shrink * value)
        return value - velocity, velocity

    return each(arrays, 7, count, has_masters, rule)


class LarsMomentumOptimizer(Optimizer):
    """Momentum with a learning rate for each parameter: `lars_coeff` times its length over that of its gradient.

    Args:
        learning_rate: a number or a scheduler.
        momentum: the share of the last step that is kept.
        lars_coeff: the factor of the parameters' own rates.
        lars_weight_decay: the weight decay.
        parameter_list: the parameters.
        regularization: a regulariser, or None.
        grad_clip: how gradients are clipped, or None.
        exclude_from_weight_decay: parameters whose name contains one of these do not decay and keep the plain
            learning rate.
        epsilon: what keeps divisions finite.
        multi_precision: whether 16-bit parameters have float32 copies.
        rescale_grad: the factor of gradients.
        name: a label; it changes nothing.

    Examples:
        >>> layer = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.incubate.optimizer.LarsMomentumOptimizer(0.1, 0.9, parameter_list=layer.parameters())
        >>> before = layer.weight.clone()
        >>> layer(paddle.ones([1, 2])).sum().backward()
        >>> optimizer.step()
        >>> (layer.weight < before).all().item()
        True
    """

    _accumulator_names = ("velocity",)

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        momentum: float,
        lars_coeff: float = 0.001,
        lars_weight_decay: float = 0.0005,
        parameter_list: Any = None,
        regularization: Any = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
        exclude_from_weight_decay: list[str] | None = None,
        epsilon: float = 0,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
    ) -> None:
        where = type(self).__name__
        if learning_rate is None:
            raise value_error(where, "the learning rate must be given", "None")
        given = {
            "momentum": momentum, "lars_coeff": lars_coeff, "epsilon": epsilon, "rescale_grad": rescale_grad,
        }  # fmt: skip
        self._scalars = {label: number(where, label, value) for label, value in given.items()}
        self._own_decay = number(where, "lars_weight_decay", lars_weight_decay)
        self._excluded = list(exclude_from_weight_decay or ())
        super().__init__(learning_rate, parameter_list, regularization, grad_clip, name)
        self._multi_precision = multi_precision

    def _extra(self, group: Group, parameter: Any) -> float:
        return 0.0 if any(part in parameter.name for part in self._excluded) else self._own_decay

    def _update(self, group: Group, bucket: Bucket, rate: float) -> tuple[Any, list[float], tuple[Any, ...]]:
        given = self._scalars
        scalars = [
            rate, bucket.decay, given["momentum"], given["lars_coeff"], bucket.extra, given["epsilon"],
            given["rescale_grad"],
        ]  # fmt: skip
        attributes = (len(bucket.members), bucket.kind, bucket.states[0].master is not None)
        return lars_update.operation, scalars, attributes
