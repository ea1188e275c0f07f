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
    """coeff * sum |w|: adds coeff * sign(w) to the gradient."""

    kind = "l1"


@public(module="regularizer")
class L2Decay(WeightDecay):
    """coeff / 2 * sum w²: adds coeff * w to the gradient."""

    kind = "l2"
