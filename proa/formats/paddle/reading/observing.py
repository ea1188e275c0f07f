"""Running a model operation by operation while somebody looks at every value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....eager.modes import no_grad
from ....eager.tensor import Tensor
from ..model import Model, Op, Value
from .translation import Translation

Hook = Callable[[str, str, Tensor], None]


class ObservedTranslation(Translation):
    """Calls hooks with (operation, name of the value, tensor): "input" ones before, "output" ones after an operation."""

    def __init__(self, model: Model, parameters: dict[str, Tensor], hooks: Sequence[tuple[str, Hook]]) -> None:
        super().__init__(model, parameters, immediate=True)
        self.hooks = hooks

    def run(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        with no_grad():
            return super().run(tensors)

    def operation(self, op: Op) -> None:
        self._tell("input", op, op.inputs)
        super().operation(op)
        self._tell("output", op, op.outputs)

    def _tell(self, kind: str, op: Op, values: Sequence[Any]) -> None:
        for value in values:
            if isinstance(value, list):
                self._tell(kind, op, value)
            elif isinstance(value, Value) and isinstance(self.values.get(value), Tensor):
                for wanted, hook in self.hooks:
                    if wanted == kind:
                        hook(op.name, value.name, self.values[value])
