"""What an optimiser keeps: the states of parameters, the buckets that are updated together, groups with their options."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.dtype import FLOAT64
from ..core.errors import type_error
from ..eager.tensor import Tensor
from ..ops.basic import full_of

MASTER = "_fp32_master_0"


class ParameterState:
    """What an optimiser keeps for one parameter."""

    __slots__ = ("accumulators", "master", "parameter", "steps")

    def __init__(self, parameter: Tensor) -> None:
        self.parameter = parameter
        self.accumulators: dict[str, Tensor] = {}
        self.master: Tensor | None = None
        self.steps = 0

    @property
    def key(self) -> str:
        return self.parameter.name + (MASTER if self.master is not None else "")


class Bucket:
    """Parameters that one operation updates together."""

    __slots__ = (
        "decay",
        "extra",
        "factor",
        "kind",
        "members",
        "positions",
        "states",
        "steps",
        "tail",
        "targets",
    )

    def __init__(
        self,
        positions: list[int],
        states: list[ParameterState],
        factor: float,
        decay: tuple[str, float],
        extra: Any,
        device_scalars: Iterable[float],
    ) -> None:
        self.positions = positions
        self.states = states
        self.factor = factor
        self.kind, self.decay = decay
        self.extra = extra
        self.steps = states[0].steps
        self.members = [state.parameter for state in states]
        names = states[0].accumulators
        self.tail = [state.accumulators[name] for name in names for state in states]
        self.tail += [state.master for state in states if state.master is not None]
        self.tail += [full_of(number, (), FLOAT64) for number in device_scalars]
        self.targets = self.members + self.tail


class Group(dict[str, Any]):
    """A parameter group: parameters with options of their own.

    It is the dictionary itself that programs find in `optimizer._param_groups`, with the parameters under "params".
    """

    __slots__ = ("active", "buckets", "factors", "parameters", "terms")

    def __init__(self, parameters: list[Any], options: dict[str, Any]) -> None:
        super().__init__(options, params=parameters)
        self.parameters = parameters
        self.active: list[Any] = []
        self.factors: list[float] = []
        self.buckets: list[Bucket] = []
        self.terms: dict[int, tuple[str, float]] = {}  # regularizers that are added to gradients, by position

    @property
    def options(self) -> dict[str, Any]:
        """What the group was given beside its parameters."""
        return self


def decay_setting(where: str, given: Any) -> tuple[str, float]:
    """Kind ("l1", "l2" or "") and size of a weight decay: a number means L2."""
    if given is None:
        return "", 0.0
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return ("l2", float(given)) if given else ("", 0.0)
    kind, size = getattr(given, "kind", None), getattr(given, "coeff", None)
    if kind not in ("l1", "l2") or size is None:
        raise type_error(where, "weight_decay must be a float, L1Decay or L2Decay", type(given).__name__)
    return kind, float(size)
