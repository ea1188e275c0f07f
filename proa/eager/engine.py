"""The backward engine: walks the tape from results to leaves, newest call first.

`backward` accumulates into the leaves' `.grad`; `grad` returns the gradients of the asked-for tensors instead.
Gradients are ordinary recorded work: the engine itself never looks at a value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.errors import runtime_error, type_error, value_error
from ..ir.recorder import LOCAL
from .tape import GradNode, MultiGradNode, OutputNode, by_sequence
from .tensor import Tensor

_sum_to: Callable[[Tensor, tuple[int, ...]], Tensor]
_cast: Callable[[Tensor, Any], Tensor]
_ones_like: Callable[[Tensor], Tensor]
_zeros: Callable[[Any], Tensor]


def provide(sum_to: Any, cast: Any, ones_like: Any, zeros: Any) -> None:
    """The few operations that the engine itself uses (they are declared above it, in `proa.ops`)."""
    global _sum_to, _cast, _ones_like, _zeros
    _sum_to, _cast, _ones_like, _zeros = sum_to, cast, ones_like, zeros


def _reachable(roots: list[Any]) -> list[Any]:
    """All nodes that the roots depend on, newest first."""
    seen = set(roots)
    stack = list(roots)
    while stack:
        for edge in stack.pop().edges:
            if edge is not None and edge not in seen and not isinstance(edge, Tensor):
                seen.add(edge)
                stack.append(edge)
    return sorted(seen, key=by_sequence, reverse=True)


def run_engine(
    roots: list[tuple[Any, Tensor]],
    deliver: Callable[[Tensor, Tensor], None],
    retain_graph: bool,
    create_graph: bool,
    watched: dict[Any, Callable[[Tensor], None]] | None = None,
    blocked: set[Any] | None = None,
) -> None:
    """Propagates gradients. `deliver(leaf, grad)` gets those of leaves; `watched[node](grad)` those of inner results."""
    grads: dict[Any, Any] = {}
    for target, grad in roots:
        if isinstance(target, Tensor):
            deliver(target, grad)
        else:
            target.accumulate(grads, grad)
    order = _reachable(list(grads))
    leaves: dict[Tensor, Tensor] = {}
    enabled = LOCAL.grad_enabled
    LOCAL.grad_enabled = create_graph
    try:
        for node in order:
            grad = grads.pop(node, None)
            if grad is None:
                continue
            if node.__class__ is not MultiGradNode:
                hooks = getattr(node, "hooks", None)
                if hooks:
                    for hook in list(hooks.values()):
                        changed = hook(grad)
                        if changed is not None:
                            grad = changed
                if watched is not None and node in watched:
                    watched[node](grad)
                if blocked is not None and node in blocked:
                    continue
            if node.is_released:
                raise runtime_error(
                    f"{node.operation.name}_grad",
                    "backward runs a second time through this part of the graph, whose saved values are freed",
                    fix="pass retain_graph=True to the first backward() or grad()",
                )
            results = node.backward(grad, create_graph)
            if not retain_graph:
                node.release()
            if node.__class__ is OutputNode:
                node.edges[0].accumulate(grads, results[0])
                continue
            avals = node.avals
            position = 0
            for edge, result in zip(node.edges, results, strict=True):
                if edge is not None and result is not None:
                    aval = avals[position]
                    if result._aval is not aval:
                        result = _fit(result, aval)
                    if edge.__class__ is GradNode:
                        before = grads.get(edge)
                        grads[edge] = result if before is None else before + result
                    elif isinstance(edge, Tensor):
                        before = leaves.get(edge)
                        leaves[edge] = result if before is None else before + result
                    else:
                        edge.accumulate(grads, result)
                position += 1
        for leaf, grad in leaves.items():
            if blocked is None or leaf not in blocked:
                deliver(leaf, grad)
    finally:
        LOCAL.grad_enabled = enabled


def _fit(grad: Tensor, aval: Any) -> Tensor:
    """A gradient in its operand's shape and dtype: sums over what was broadcast."""
    if grad._aval.shape != aval.shape:
        grad = _sum_to(grad, aval.shape)
    if grad._aval.dtype != aval.dtype:
        if grad._aval.dtype.kind == "c" and aval.dtype.kind != "c":
            grad = grad.real()  # type: ignore[attr-defined]
        grad = _cast(grad, aval.dtype)
    return grad


def _run_hooks(leaf: Tensor, grad: Tensor) -> Tensor:
    if leaf._hooks:
        for hook in list(leaf._hooks.values()):
            changed = hook(grad)
            if changed is not None:
                grad = changed
    return grad


def _deliver_to_leaf(leaf: Tensor, grad: Tensor) -> None:
    grad = _run_hooks(leaf, grad)
    before = leaf._grad
    leaf._grad = grad if before is None else before + grad
    after = leaf.__dict__.get("_accumulated_hooks")
    if after:
        for hook in list(after.values()):
            hook(leaf)


def _root(tensor: Tensor, grad: Tensor | None, name: str) -> tuple[Any, Tensor]:
    if grad is None:
        grad = _ones_like(tensor)
    elif not isinstance(grad, Tensor):
        raise type_error(name, "the gradient of a result must be a Tensor or None", type(grad).__name__)
    elif grad._aval.shape != tensor._aval.shape:
        raise value_error(name, "the gradient of a result must have its shape", f"{grad._aval} for {tensor._aval}")
    return (tensor if tensor._node is None else tensor._node), grad


def backward(tensors: Sequence[Tensor], grads: Sequence[Tensor | None] | None = None, retain_graph: bool = False) -> None:
    """Accumulates gradients of `tensors` into the `.grad` of the leaves they depend on."""
    given = list(grads) if grads is not None else [None] * len(tensors)
    if len(given) != len(tensors):
        raise value_error("backward", "as many gradients as tensors are needed", f"{len(given)} for {len(tensors)}")
    roots = []
    for tensor, grad in zip(tensors, given, strict=True):
        if tensor.stop_gradient and tensor._node is None and len(tensors) > 1:
            continue
        roots.append(_root(tensor, grad, "backward"))
    run_engine(roots, _deliver_to_leaf, retain_graph, create_graph=False)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Tensor | Sequence[Tensor] | None = None,
    name: str | None = None,
) -> list[Tensor | None]:
    """Gradients of `outputs` with respect to `inputs`, returned instead of accumulated.

    With `create_graph` they can be differentiated again. An input that the outputs do not depend on gives None when
    `allow_unused` is set and is an error otherwise. Gradients do not pass through `no_grad_vars`.
    """
    if not only_inputs:
        raise value_error("grad", "only_inputs=False is not supported", fix="use backward() to fill the leaves")
    output_list = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    input_list = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    given = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs or [None] * len(output_list))
    for what, items in (("outputs", output_list), ("inputs", input_list)):
        if not items or not all(isinstance(item, Tensor) for item in items):
            raise type_error("grad", f"{what} must be a Tensor or a non-empty list of Tensors")
    if len(given) != len(output_list):
        raise value_error("grad", "grad_outputs must match outputs", f"{len(given)} for {len(output_list)}")
    blocked_list = [no_grad_vars] if isinstance(no_grad_vars, Tensor) else list(no_grad_vars or [])
    results: dict[Any, Tensor] = {}
    keys = [tensor if tensor._node is None else tensor._node for tensor in input_list]

    def deliver(leaf: Tensor, value: Tensor) -> None:
        if leaf in wanted:
            results[leaf] = _run_hooks(leaf, value)

    wanted = {key for key in keys if isinstance(key, Tensor)}
    watched = {key: _keeper(results, key) for key in keys if not isinstance(key, Tensor)}
    roots = [_root(t, g, "grad") for t, g in zip(output_list, given, strict=True)]
    if create_graph:
        enabled, LOCAL.grad_enabled = LOCAL.grad_enabled, True
    blocked: set[Any] = {t if t._node is None else t._node for t in blocked_list}
    run_engine(
        roots, deliver, create_graph if retain_graph is None else retain_graph, create_graph, watched, blocked or None
    )
    if create_graph:
        LOCAL.grad_enabled = enabled
    found: list[Tensor | None] = []
    for position, key in enumerate(keys):
        value = results.get(key)
        if value is None and not allow_unused:
            raise value_error(
                "grad", f"input {position} ({input_list[position]._aval}) is not used by the outputs",
                fix="pass allow_unused=True to get None for it",
            )  # fmt: skip
        found.append(value)
    return found


def _keeper(results: dict[Any, Tensor], key: Any) -> Callable[[Tensor], None]:
    def keep(value: Tensor) -> None:
        before = results.get(key)
        results[key] = value if before is None else before + value

    return keep
