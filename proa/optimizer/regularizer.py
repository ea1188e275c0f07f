"""Weight decay as a term of the loss: `paddle.regularizer.L1Decay` and `L2Decay`."""

from __future__ import annotations

from ..core.errors import value_error
from ..eager.declare import public


class WeightDecay:
    """Base; `kind` names the term, `coeff` its size."""

    kind = ""

    def __init__(self, coeff: float = 0.0) -> None:
        if coeff < 0:
            raise value_error(type(self).__name__, "coeff cannot be negative", f"coeff: {coeff}")
        self.coeff = self._coeff = float(coeff)

    def __str__(self) -> str:
        return f"{type(self).__name__}, coeff={self.coeff:f}"


@public(module="regularizer")
class L1Decay(WeightDecay):
    """`coeff * sum |w|` as a term of the loss: adds `coeff * sign(w)` to the gradient.

    Args:
        coeff: how strong it is.

    Raises:
        ValueError: `coeff` is negative.

    Examples:
        >>> weight = paddle.to_tensor([4.0], stop_gradient=False)
        >>> decay = paddle.regularizer.L1Decay(0.5)
        >>> optimizer = paddle.optimizer.SGD(1.0, parameters=[weight], weight_decay=decay)
        >>> (weight * 0).sum().backward()
        >>> optimizer.step()
        >>> weight.tolist()
        [3.5]
    """

    kind = "l1"


@public(module="regularizer")
class L2Decay(WeightDecay):
    """`coeff / 2 * sum w²` as a term of the loss: adds `coeff * w` to the gradient.

    Args:
        coeff: how strong it is.

    Raises:
        ValueError: `coeff` is negative.

    Examples:
        >>> weight = paddle.to_tensor([4.0], stop_gradient=False)
        >>> decay = paddle.regularizer.L2Decay(0.5)
        >>> optimizer = paddle.optimizer.SGD(1.0, parameters=[weight], weight_decay=decay)
        >>> (weight * 0).sum().backward()
        >>> optimizer.step()
        >>> weight.tolist()
        [2.0]
    """

    kind = "l2"
