"""Autograd: a tape over operation calls, whose backward is again operation calls.

A tape node knows its operation, what its gradient rule saved, and an edge for each operand: another
node, a leaf tensor (whose `.grad` receives the gradient), or None. Rules are per operand and name
what they need:

    grad={"x": lambda g, y: g * y, "y": lambda g, x: g * x}

`g` is the gradient of the output (`g0, g1 …` of several), operand names mean their values, `out`
the result, `x_aval` the abstract value of an operand, attribute names the attributes.

Invariants
* An edge points to an older node: sequence numbers fall along every path, so "newest first" is an
  order in which every node has all of its gradient before it runs.
* A node never refers to the tensors it made (they refer to it): no cycles, so reference counts
  alone tell the recorder what is alive. A saved result is another tensor with the same value.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ...core.aval import Aval
from ...core.errors import runtime_error
from ...ir.operation import Operation
from ..signatures import parameters_with_defaults
from ..tensor import Tensor, alias

FREED = object()


class NOT_SAVED:
    """Stands among what a node saved for an operand that no gradient needs: `x` in `x * constant`."""

    _version = 0


# Not empty while some thread is inside `saved_tensors_hooks`; the hooks themselves are per thread.
SAVED_HOOKS: list[Any] = []


class GradNode:
    """One recorded call whose gradient may be asked for.

    The engine runs nodes of exactly this class on a fast path of its own; every other kind of node
    is run through `hooks`, `is_released`, `backward` and `release`.
    """

    __slots__ = (
        "__weakref__", "attributes", "avals", "edges", "hooks", "operation", "out_aval", "saved",
        "sequence", "version",
    )  # fmt: skip

    operation: Any
    edges: tuple[Any, ...]
    avals: tuple[Any, ...]
    saved: Any
    attributes: tuple[Any, ...]
    version: int
    sequence: int
    out_aval: Any
    hooks: dict[int, Callable[[Tensor], Any]] | None

    def backward(self, grad: Any, create_graph: bool) -> Sequence[Any]:
        """The gradients of the operands, in the order of `edges`."""
        return self.operation.gradient.run(self, grad, create_graph, self.edges)

    @property
    def label(self) -> str:
        """What error messages call this node."""
        return f"{self.operation.name}_grad"

    def name(self) -> str:
        return "".join(part.capitalize() for part in self.operation.name.split("_")) + "GradNode"

    @property
    def next_functions(self) -> list[Any]:
        """The nodes that this one hands gradients to."""
        return [edge for edge in self.edges if edge is not None and not isinstance(edge, Tensor)]

    def __repr__(self) -> str:
        return f"<{self.name()}>"

    def release(self) -> None:
        """Lets go of everything: of what was saved, and of the older part of the graph."""
        self.saved = FREED
        self.edges = ()

    @property
    def is_released(self) -> bool:
        return self.saved is FREED


class HookedGradNode(GradNode):
    """A GradNode that has hooks; a node becomes one when it gets its first."""

    __slots__ = ()


class MultiGradNode(GradNode):
    """The node of a call with several outputs; `out_aval` is the tuple of their abstract values.

    Its gradient is a list with one entry (or None) for each output, filled by the OutputNodes.
    """

    __slots__ = ("outputs",)

    def __init__(self) -> None:
        self.hooks = None
        # By position, weakly: the outputs refer to this node.
        self.outputs: dict[int, weakref.ref[OutputNode]] = {}


class OutputNode:
    """Output number `position` of a call: hands its gradient on to the call's node."""

    __slots__ = ("__weakref__", "edges", "hooks", "node", "out_aval", "position", "sequence")

    def __init__(self, node: Any, position: int, sequence: int, aval: Aval) -> None:
        self.node = node
        self.position = position
        self.sequence = sequence
        self.edges = (node,)
        self.out_aval = aval
        self.hooks: dict[int, Callable[[Tensor], Any]] | None = None
        node.outputs[position] = weakref.ref(self)

    is_released = False
    operation = property(lambda self: self.node.operation)
    label = property(lambda self: self.node.label)
    next_functions = property(lambda self: self.node.next_functions)

    def name(self) -> str:
        return self.node.name()

    def __repr__(self) -> str:
        return f"<{self.name()} output {self.position}>"


class PassNode:
    """Hands a gradient on as it is: the history of a stand-in for a leaf (see `with_history`)."""

    __slots__ = ("__weakref__", "avals", "edges", "hooks", "out_aval", "sequence")

    def __init__(self, target: Any, aval: Aval) -> None:
        from ..binder import next_sequence

        self.edges = (target,)
        self.avals = (aval,)
        self.out_aval = aval
        self.sequence = next_sequence()
        self.hooks: dict[int, Callable[[Tensor], Any]] | None = None

    label = "assign_grad"
    is_released = False

    def backward(self, grad: Any, create_graph: bool) -> Sequence[Any]:
        return (grad,)

    def name(self) -> str:
        return "AssignGradNode"

    @property
    def next_functions(self) -> list[Any]:
        return []

    def release(self) -> None:
        """Nothing is saved, so it may run any number of times."""


class CutNode(PassNode):
    """The history of a tensor overwritten by a constant: what it was before gets zeros."""

    __slots__ = ()

    label = "fill_grad"

    def backward(self, grad: Any, create_graph: bool) -> Sequence[Any]:
        from .engine import zeros_of

        return (zeros_of(self.avals[0]),)

    def name(self) -> str:
        return "FillGradNode"


def edge_of(tensor: Tensor) -> Any:
    """Where the gradient of a tensor goes: its node, itself if it is a leaf, None if nowhere."""
    return None if tensor.stop_gradient else tensor._node or tensor


def with_history(value: Tensor, edge: Any) -> Tensor:
    """A new tensor with the value of one tensor and the place in the graph that `edge` names."""
    result = alias(value)
    if edge is not None:
        result._node = PassNode(edge, value._aval) if isinstance(edge, Tensor) else edge
        result.stop_gradient = False
    return result


def stand_in(tensor: Tensor) -> Tensor:
    """Another tensor with the same value and history; in-place changes of one spare the other."""
    return with_history(tensor, edge_of(tensor))


class Gradient:
    """The gradient rules of an operation, compiled into one function for the engine."""

    __slots__ = ("num_outputs", "run", "saved", "users", "versioned")

    def __init__(
        self,
        operation: Operation,
        rules: dict[str, Callable[..., Any]],
        num_outputs: int,
        tensor_names: Sequence[str],
    ) -> None:
        self.num_outputs = num_outputs
        operands = operation.operand_names
        outputs = ["out"] if num_outputs == 1 else [f"out{i}" for i in range(num_outputs)]
        grads = ["g"] if num_outputs == 1 else [f"g{i}" for i in range(num_outputs)]
        unknown = set(rules) - set(operands)
        if unknown:
            raise TypeError(f"({operation.name}) gradient rules for {sorted(unknown)}, which are no operands")
        wanted: dict[str, list[str]] = {
            name: [parameter for parameter, has_default, _ in parameters_with_defaults(rule) if not has_default]
            for name, rule in rules.items()
        }
        needed = {parameter for parameters in wanted.values() for parameter in parameters}
        self.saved = [name for name in (*operands, *outputs) if name in needed]
        # For each operand that rules ask for, the operands whose rules do.
        self.users = {name: [o for o in rules if name in wanted[o]] for name in self.saved if name in operands}
        self.versioned = [(i, name) for i, name in enumerate(self.saved) if name in tensor_names]
        allowed = {
            *operands,
            *outputs,
            *grads,
            *operation.attribute_names,
            *(f"{o}_aval" for o in operands),
        }
        for name, parameters in wanted.items():
            for parameter in parameters:
                if parameter not in allowed:
                    raise TypeError(
                        f"({operation.name}) gradient rule of {name} asks for {parameter!r}, which is nothing"
                    )

        def run_first(node: Any, grad: Any, create_graph: bool, edges: Any) -> Any:
            # Generated when first needed: hundreds of them would lengthen `import proa`.
            self.run = self._generate(operation, rules, wanted, needed, outputs, grads)
            return self.run(node, grad, create_graph, edges)

        self.run: Callable[..., Any] = run_first

    def _generate(
        self,
        operation: Operation,
        rules: dict[str, Callable[..., Any]],
        wanted: dict[str, list[str]],
        needed: set[str],
        outputs: list[str],
        grads: list[str],
    ) -> Callable[..., Any]:
        operands, num_outputs = operation.operand_names, self.num_outputs
        scope: dict[str, Any] = {f"rule_{name}": rule for name, rule in rules.items()}
        scope.update(with_node=_with_node, check_versions=check_versions)
        lines = ["def run(node, grad, create_graph, edges):"]
        if self.saved:
            lines.append(f"    {', '.join(self.saved)}, = node.saved")
        lines += self._version_lines()
        if any(name in self.saved for name in outputs if name not in operands):
            lines.append("    if create_graph:")
            for position, name in enumerate(outputs):
                if name in self.saved:
                    where = position if num_outputs > 1 else None
                    lines.append(f"        {name} = with_node({name}, node, {where})")
        if operation.attribute_names and needed & set(operation.attribute_names):
            lines.append(f"    {', '.join(operation.attribute_names)}, = node.attributes")
        for position, name in enumerate(operands):
            if f"{name}_aval" in needed:
                lines.append(f"    {name}_aval = node.avals[{position}]")
        lines.append("    g = grad" if num_outputs == 1 else f"    {', '.join(grads)}, = grad")
        if len(rules) == 1 and len(operands) == 1:
            # Its only operand has an edge, or there would be no node.
            (name,) = rules
            results = [f"rule_{name}({', '.join(wanted[name])})"]
        else:
            results = [
                f"rule_{name}({', '.join(wanted[name])}) if edges[{position}] is not None else None"
                if name in rules else "None"
                for position, name in enumerate(operands)
            ]  # fmt: skip
        lines.append(f"    return ({', '.join(results)},)")
        exec(compile("\n".join(lines), f"<gradient of {operation.name}>", "exec"), scope)
        return scope["run"]

    def _version_lines(self) -> list[str]:
        """Source that raises if a saved operand was changed in place (not a packed one)."""
        if not self.versioned:
            return []
        total = " + ".join(f"{name}._version" for _, name in self.versioned)
        return [
            "    try:",
            f"        if node.version != {total}: check_versions(node)",
            # An absent operand, or a Python number in a tensor's place.
            "    except AttributeError:",
            "        check_versions(node)",
        ]


def _with_node(out: Tensor | None, node: Any, position: int | None) -> Tensor | None:
    """A saved output with its history back: for a backward pass that is differentiated itself."""
    if out is None:
        return None
    if position is None:
        return with_history(out, node)
    reference = node.outputs.get(position)
    output = None if reference is None else reference()
    if output is None:
        from ..binder import next_sequence

        output = OutputNode(node, position, next_sequence(), out._aval)
    return with_history(out, output)


def check_versions(node: GradNode) -> None:
    """RuntimeError if an operand that the node saved was changed in place since."""
    if node.version < 0:
        return
    versioned = node.operation.gradient.versioned
    total = 0
    for position, _ in versioned:
        tensor = node.saved[position]
        if isinstance(tensor, Tensor):
            total += tensor._version
    if total != node.version:
        names = ", ".join(name for _, name in versioned)
        raise changed_in_place(node.label, f"{node.operation.name} needs ({names})", total, node.version)


def pack_saved(node: GradNode) -> None:
    """Lets `saved_tensors_hooks` replace what a node keeps; for where there may be any."""
    from .saved import pack_node

    pack_node(node)


def changed_in_place(label: str, needed_by: str, found: int, expected: int) -> RuntimeError:
    """The error for a saved tensor that is no longer what it was when it was saved."""
    return runtime_error(
        label,
        f"a tensor that the gradient of {needed_by} was changed in place afterwards: "
        f"its version is {found}, expected {expected}",
        fix="use an out-of-place operation, or clone() before changing it",
    )
