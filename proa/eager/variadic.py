"""Gradients of operations with any number of operands (concat, stack …)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.errors import runtime_error
from .backward.tape import changed_in_place
from .signatures import parameter_names
from .tensor import Tensor


class VariadicGradient:
    """Wraps `rule(grads, avals, attributes, needed)`.

    It gives one gradient (or None) for each operand. `grads` is the gradient of the output, or the
    list of them for several outputs; `avals` are the operands' abstract values. A rule whose second
    parameter is called `tensors` gets the operands themselves there, which then stay alive until
    the gradient is computed.
    """

    saves_outputs = False

    def __init__(self, rule: Callable[..., Sequence[Any]]) -> None:
        self.rule = rule
        self.saves_operands = parameter_names(rule)[1:2] == ["tensors"]

    def run(self, node: Any, grad: Any, create_graph: bool, edges: Any) -> Sequence[Any]:
        if self.saves_operands:
            check_all_versions(node)
        operands = list(node.saved) if self.saves_operands else node.avals
        results = self.rule(grad, operands, node.attributes, [edge is not None for edge in edges])
        if len(results) != len(node.edges):
            raise runtime_error(
                node.label,
                f"the gradient rule gave {len(results)} gradients for {len(node.edges)} operands",
            )
        return results


def check_all_versions(node: Any) -> None:
    """RuntimeError if any saved operand was changed in place since."""
    if node.version < 0:
        return
    found = sum(s._version for s in node.saved[: len(node.edges)] if isinstance(s, Tensor))
    if found != node.version:
        raise changed_in_place(node.label, f"{node.operation.name} needs", found, node.version)
