"""Gradients of operations with any number of operands (concat, stack, optimiser updates)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class VariadicGradient:
    """Wraps `rule(grads, operands, attributes, needed)`, which gives one gradient (or None) for each operand.

    `grads` is the gradient of the output, or the list of them for several outputs.
    """

    saves_operands = True
    saves_outputs = False
    num_versions = 0

    def __init__(self, rule: Callable[..., Sequence[Any]]) -> None:
        self.rule = rule

    def run(self, node: Any, grad: Any, create_graph: bool) -> Sequence[Any]:
        needed = [edge is not None for edge in node.edges]
        return self.rule(grad, node.avals, node.attributes, needed)
