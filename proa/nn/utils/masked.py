"""An optimiser that keeps pruned weights zero: `incubate.asp` and `compress` wrap one in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...ir.recorder import recording_gradients


class MaskedOptimizer:
    """Multiplies weights by their masks after each step; `masks` is looked up by name each time, so it may grow later."""

    def __init__(self, optimizer: Any, masks: Mapping[str, Any]) -> None:
        self._optimizer = optimizer
        self._masks = masks

    def _keep(self) -> None:
        with recording_gradients(False):
            for parameter in self._optimizer._members:
                mask = self._masks.get(parameter.name)
                if mask is not None:
                    parameter.set_value(parameter.detach() * mask)

    def step(self) -> None:
        self._optimizer.step()
        self._keep()

    def minimize(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        result = self._optimizer.minimize(loss, *args, **kwargs)
        self._keep()
        return result

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_optimizer" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self._optimizer, name)
