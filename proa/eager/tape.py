"""Autograd: a tape over operation calls, whose backward is again operation calls.

A tape node knows its operation, what its gradient rule saved, and an edge for each operand: another node, a leaf tensor
(whose `.grad` receives the gradient), or None. Rules are per operand and name what they need:

    grad={"x": lambda g, y: g * y, "y": lambda g, x: g * x}

`g` is the gradient of the output (`g0, g1 …` of several), operand names mean their values, `out` the result,
`x_aval` the abstract value of an operand, attribute names the attributes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from ..core.aval import Aval
from ..core.errors import runtime_error
from ..ir.operation import Operation
from ..ir.recorder import LOCAL
from .tensor import Tensor

FREED = object()
# Not empty while some thread is inside `saved_tensors_hooks`; the hooks themselves are per thread.
SAVED_HOOKS: list[Any] = []


class GradNode:
    """One recorded call whose gradient may be asked for."""

    __slots__ = (
        "__weakref__", "attributes", "avals", "edges", "hooks", "operation", "out_aval", "saved", "sequence", "version",
    )  # fmt: skip

    operation: Any
    edges: tuple[Any, ...]
    avals: tuple[Any, ...]
    saved: Any
    attributes: tuple[Any, ...]
    version: int
    sequence: int
    out_aval: Any

    def backward(self, grad: Any, create_graph: bool) -> Sequence[Any]:
        gradient = self.operation.gradient
        if gradient.num_versions and self.version >= 0:
            _check_versions(self, gradient)
        return gradient.run(self, grad, create_graph)

    def accumulate(self, grads: dict[Any, Any], grad: Tensor) -> None:
        """Adds to the gradient that waits for this node."""
        before = grads.get(self)
        grads[self] = grad if before is None else before + grad

    @property
    def name(self) -> str:
        return f"{self.operation.name}_grad"

    def __repr__(self) -> str:
        return f"<GradNode {self.operation.name}>"

    def release(self) -> None:
        self.saved = FREED

    @property
    def is_released(self) -> bool:
        return self.saved is FREED


class OutputNode:
    """Output number `position` of a call with several outputs: hands its gradient on to the call's node."""

    __slots__ = ("__weakref__", "edges", "hooks", "node", "out_aval", "position", "sequence")

    def __init__(self, node: Any, position: int, sequence: int, aval: Aval) -> None:
        self.node = node
        self.position = position
        self.sequence = sequence
        self.edges = (node,)
        self.out_aval = aval

    def accumulate(self, grads: dict[Any, Any], grad: Tensor) -> None:
        before = grads.get(self)
        grads[self] = grad if before is None else before + grad

    def backward(self, grad: Any, create_graph: bool) -> Sequence[Any]:
        return (_OutputGradient(self.position, grad),)

    @property
    def name(self) -> str:
        return self.node.name

    operation = property(lambda self: self.node.operation)

    def release(self) -> None:
        pass

    is_released = False


class _OutputGradient:
    """The gradient of one of several outputs, on its way to the call's node."""

    __slots__ = ("grad", "position")

    def __init__(self, position: int, grad: Tensor) -> None:
        self.position = position
        self.grad = grad


class MultiGradNode(GradNode):
    """The node of a call with several outputs; `out_aval` is the tuple of their abstract values."""

    __slots__ = ()

    def accumulate(self, grads: dict[Any, Any], grad: Any) -> None:
        slots = grads.get(self)
        if slots is None:
            slots = grads[self] = [None] * len(self.out_aval)
        before = slots[grad.position]
        slots[grad.position] = grad.grad if before is None else before + grad.grad


class Gradient:
    """The gradient rules of an operation, compiled into one function for the engine."""

    __slots__ = ("num_outputs", "num_versions", "run", "saved", "versioned")

    def __init__(
        self, operation: Operation, rules: dict[str, Callable[..., Any]], num_outputs: int, tensor_names: Sequence[str]
    ) -> None:
        self.num_outputs = num_outputs
        operands = operation.operand_names
        outputs = ["out"] if num_outputs == 1 else [f"out{i}" for i in range(num_outputs)]
        grads = ["g"] if num_outputs == 1 else [f"g{i}" for i in range(num_outputs)]
        unknown = set(rules) - set(operands)
        if unknown:
            raise TypeError(f"({operation.name}) gradient rules for {sorted(unknown)}, which are no operands")
        wanted: dict[str, list[str]] = {name: list(inspect.signature(rule).parameters) for name, rule in rules.items()}
        needed = {parameter for parameters in wanted.values() for parameter in parameters}
        self.saved = [name for name in (*operands, *outputs) if name in needed]
        self.versioned = [(i, name) for i, name in enumerate(self.saved) if name in tensor_names]
        self.num_versions = len(self.versioned)
        allowed = {*operands, *outputs, *grads, *operation.attribute_names, *(f"{o}_aval" for o in operands)}
        for name, parameters in wanted.items():
            for parameter in parameters:
                if parameter not in allowed:
                    raise TypeError(f"({operation.name}) gradient rule of {name} asks for {parameter!r}, which is nothing")
        scope: dict[str, Any] = {f"rule_{name}": rule for name, rule in rules.items()}
        scope["with_node"] = _with_node
        lines = ["def run(node, grad, create_graph):"]
        if self.saved:
            lines.append(f"    {', '.join(self.saved)}, = node.saved")
        if any(name.startswith("out") and name in self.saved for name in outputs):
            lines.append("    if create_graph:")
            for position, name in enumerate(outputs):
                if name in self.saved:
                    lines.append(f"        {name} = with_node({name}, node, {position if num_outputs > 1 else None})")
        if operation.attribute_names and needed & set(operation.attribute_names):
            lines.append(f"    {', '.join(operation.attribute_names)}, = node.attributes")
        for position, name in enumerate(operands):
            if f"{name}_aval" in needed:
                lines.append(f"    {name}_aval = node.avals[{position}]")
        lines.append("    g = grad" if num_outputs == 1 else f"    {', '.join(grads)}, = grad")
        lines.append("    edges = node.edges")
        results = []
        for position, name in enumerate(operands):
            if name in rules:
                results.append(f"rule_{name}({', '.join(wanted[name])}) if edges[{position}] is not None else None")
            else:
                results.append("None")
        lines.append(f"    return ({', '.join(results)},)")
        exec(compile("\n".join(lines), f"<gradient of {operation.name}>", "exec"), scope)
        self.run = scope["run"]


def _with_node(out: Tensor | None, node: Any, position: int | None) -> Tensor | None:
    """A saved output with its history back: only needed when the backward pass is differentiated itself."""
    if out is None:
        return None
    from .tensor import alias

    again = alias(out)
    again._node = node if position is None else OutputNode(node, position, node.sequence, again._aval)
    again.stop_gradient = False
    return again


def _check_versions(node: GradNode, gradient: Gradient) -> None:
    total = 0
    for position, _ in gradient.versioned:
        tensor = node.saved[position]
        if tensor is not None:
            total += tensor._version
    if total != node.version:
        names = ", ".join(name for _, name in gradient.versioned)
        raise runtime_error(
            f"{node.operation.name}_grad",
            f"a tensor that the gradient of {node.operation.name} needs ({names}) was changed in place afterwards: "
            f"its version is {total}, expected {node.version}",
            fix="use an out-of-place operation, or clone() before changing it",
        )


def pack_saved(node: GradNode) -> None:
    """Lets the thread's `saved_tensors_hooks` replace what a node keeps."""
    hooks = getattr(LOCAL, "saved_hooks", None)
    if not hooks:
        return
    pack, unpack = hooks[-1]
    node.saved = PackedValues(tuple(pack(s) if isinstance(s, Tensor) else s for s in node.saved),
                              tuple(isinstance(s, Tensor) for s in node.saved), unpack)
    node.version = -1


class PackedValues:
    """Saved values that went through a pack hook; unpacked when the node is run."""

    __slots__ = ("is_packed", "unpack", "values")

    def __init__(self, values: tuple[Any, ...], is_packed: tuple[bool, ...], unpack: Callable[[Any], Any]) -> None:
        self.values = values
        self.is_packed = is_packed
        self.unpack = unpack

    def __iter__(self) -> Any:
        return iter([self.unpack(v) if p else v for v, p in zip(self.values, self.is_packed, strict=True)])


by_sequence = attrgetter("sequence")
