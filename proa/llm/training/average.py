"""An exponential moving average of the weights, which often evaluates better than the weights themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...autograd import no_grad
from ...eager.views import replace_value


class Average:
    """`shadow += (weight - shadow) * (1 - decay)` after each step, in float32."""

    def __init__(self, parameters: dict[str, Any], decay: float) -> None:
        self._parameters, self._decay = parameters, decay
        with no_grad():
            self.shadows = {name: parameter.astype("float32").clone() for name, parameter in parameters.items()}

    def update(self) -> None:
        with no_grad():
            for name, parameter in self._parameters.items():
                shadow = self.shadows[name]
                replace_value(shadow, shadow + (parameter.astype("float32") - shadow) * (1.0 - self._decay))

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The parameters are their averages inside the block."""
        with no_grad():
            before = {name: parameter.clone() for name, parameter in self._parameters.items()}
            for name, parameter in self._parameters.items():
                replace_value(parameter, self.shadows[name].astype(parameter.dtype))
        try:
            yield
        finally:
            for name, parameter in self._parameters.items():
                replace_value(parameter, before[name])
