"""Where gradients end in a captured program.

A Program does not say that something was computed under `no_grad`, or from a detached tensor. The tape of the capture
does: what an instruction's tape node has no edge for, though the operand wants a gradient, is noted here, and a replay
hands the instruction a detached operand in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..eager.backward.tape import GradNode, OutputNode, PassNode
from ..eager.tensor import Tensor
from ..ir.block import blocks_in
from ..ir.program import Program


class Stops:
    """For each instruction with stopped operands their positions; whether some gradient was written by the user."""

    __slots__ = ("custom", "operands", "results_want", "wants")

    def __init__(self, segment: Any, program: Program, results: Sequence[Tensor] = ()) -> None:
        self.operands: dict[int, tuple[int, ...]] = {}
        # A PyLayer: its gradient is code that a replay does not know.
        self.custom = any(not _is_known(tensor._node) for tensor in results)
        self.results_want = any(not tensor.stop_gradient for tensor in results)
        # Values that a gradient is wanted for.
        self.wants: set[int] = {~i for i, tensor in enumerate(segment.inputs) if not tensor.stop_gradient}
        makers = {t._index: t for t in segment.refs if t._segment is segment and t._value is None and t._index >= 0}
        for instruction in program.instructions:
            self.custom |= any(b.stops is not None and b.stops.custom for b in blocks_in(instruction.attributes))
            wanted = [p for p, o in enumerate(instruction.operands) if o.__class__ is int and o in self.wants]
            indices = instruction.made
            tensors = [makers[index] for index in indices if index in makers]
            self.custom |= any(not _is_known(edge) for t in tensors for edge in (t._node, *_edges(t._node)))
            if not wanted or instruction.operation.gradient is None:
                continue
            stopped = self._stopped(instruction, wanted, tensors)
            if stopped:
                self.operands[instruction.index] = tuple(stopped)
            if len(stopped) < len(wanted):
                self.wants.update(indices)

    def _stopped(self, instruction: Any, wanted: list[int], tensors: list[Any]) -> list[int]:
        for tensor in tensors:
            node: Any = tensor._node
            if isinstance(node, OutputNode):
                node = node.node
            if node is None and tensor.stop_gradient and len(tensors) == 1:
                return wanted
            if node is None or getattr(node, "operation", None) is not instruction.operation:
                continue
            if len(node.edges) == len(instruction.operands):
                return [p for p in wanted if node.edges[p] is None]
        return [] if any(not tensor.stop_gradient for tensor in tensors) or not tensors else wanted


def _edges(node: Any) -> Any:
    node = node.node if isinstance(node, OutputNode) else node
    return node.edges if isinstance(node, GradNode) else ()


def _is_known(node: Any) -> bool:
    """Whether a place on the tape belongs to an operation, so that a replay makes the same."""
    if isinstance(node, OutputNode):
        node = node.node
    return node is None or isinstance(node, (Tensor, GradNode, PassNode))
