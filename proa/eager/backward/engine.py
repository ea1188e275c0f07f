"""The backward engine: walks the tape from results to leaves, newest call first.

`backward` accumulates into the leaves' `.grad`; `gradients` returns those of the asked-for tensors
instead (`paddle.grad`, see `hooks.py`). Gradients are ordinary recorded work: the engine itself
never looks at a value.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from typing import Any

from ...core.errors import failed_check, failed_type_check, runtime_error, type_error, value_error
from ...core.locks import new_lock
from ...core.symbols import same_sizes
from ...ir.observing import RUNTIME
from ...ir.recorder import LOCAL, meeting_point, set_scope, switch_gradients
from ...ir.recording.mode import Mode
from ..needed import NEEDED
from ..tensor import Tensor, alias
from ..views import assign_in_place
from .tape import FREED, GradNode, OutputNode, edge_of, stand_in

# A leaf may get gradients from several threads at once.
_ACCUMULATING = new_lock()


def zeros_of(aval: Any) -> Tensor:
    """Zeros in the shape, dtype and place of an abstract value."""
    return NEEDED.zeros_of_aval(aval)


def run_engine(
    roots: Iterable[tuple[Any, Any]],
    deliver: Callable[[Tensor, Tensor], None],
    retain_graph: bool,
    create_graph: bool,
    watched: dict[Any, Tensor | None] | None = None,
    needed: set[Any] | None = None,
) -> None:
    """Propagates gradients from `(edge, gradient)` pairs to leaves: `deliver(leaf, grad)`.

    For `gradients`: `watched` receives the gradients of inner results, by node; with `needed`,
    gradients go only along these edges.
    """
    grads: dict[Any, Any] = {}  # nodes that wait for their turn, with the sum of what has arrived
    leaves: dict[Tensor, Any] = {}
    enabled = switch_gradients(create_graph)
    scope = LOCAL.scope
    if scope is not None:
        # A gradient is computed in the dtypes of its operation, whatever holds where backward is called.
        set_scope(None)
    try:
        for edge, grad in roots:
            sums = leaves if isinstance(edge, Tensor) else grads
            before = sums.get(edge)
            sums[edge] = grad if before is None else before + grad
        _propagate(grads, leaves, retain_graph, create_graph, watched, needed)
        for leaf, grad in leaves.items():
            deliver(leaf, grad)
    finally:
        switch_gradients(enabled)
        if scope is not None:
            set_scope(scope)


def _propagate(
    grads: dict[Any, Any], leaves: dict[Tensor, Any], retain_graph: bool, create_graph: bool,
    watched: dict[Any, Tensor | None] | None, needed: set[Any] | None,
) -> None:  # fmt: skip
    """Runs the nodes in `grads` and all that they lead to, newest first; sums for leaves go to `leaves`."""
    waiting = list(grads)  # nodes in `grads` that are not in the heap yet
    heap: list[tuple[int, Any]] = []
    # While a single node waits it is held here: along a chain of calls nothing else is touched.
    held: Any = None
    held_grad: Any = None
    while True:
        if held is not None:
            node, grad = held, held_grad
            held = None
        elif grads:
            for node in waiting:
                heappush(heap, (-node.sequence, node))
            waiting.clear()
            node = heappop(heap)[1]  # the newest
            grad = grads.pop(node)
        else:
            return
        if node.__class__ is GradNode:
            if watched is not None and node in watched:
                watched[node] = grad
                if not any(edge in needed for edge in node.edges):  # type: ignore[operator]
                    continue
            if node.saved is FREED:
                raise _second_time(node.label)
            edges = node.edges
            if needed is not None and len(edges) > 1:
                # A gradient that nobody asked for is not even recorded.
                edges = [edge if edge in needed else None for edge in edges]
            results = node.operation.gradient.run(node, grad, create_graph, edges)
            if not retain_graph:
                node.saved, node.edges = FREED, ()
        else:
            edges, results = _run_other(node, grad, grads, waiting, retain_graph, create_graph, watched, needed)
        for edge, result, aval in zip(edges, results, node.avals if edges else ()):
            if edge is None or result is None or (needed is not None and edge not in needed):
                continue
            if result._aval is not aval:
                result = fit(result, aval)
            if edge.__class__ is not GradNode and isinstance(edge, Tensor):
                before = leaves.get(edge)
                leaves[edge] = result if before is None else before + result
            elif edge is held:
                held_grad = held_grad + result
            elif held is None and not grads:
                held, held_grad = edge, result
            else:
                if held is not None:
                    grads[held] = held_grad
                    waiting.append(held)
                    held = None
                if edge in grads:
                    grads[edge] = grads[edge] + result
                else:
                    grads[edge] = result
                    waiting.append(edge)


def _run_other(
    node: Any, grad: Any, grads: dict[Any, Any], waiting: list[Any], retain_graph: bool, create_graph: bool,
    watched: dict[Any, Tensor | None] | None, needed: set[Any] | None,
) -> tuple[Any, Any]:  # fmt: skip
    """The edges and gradients of a node that is no plain call; none where the gradient goes no further, or to its call."""
    if node.hooks:
        grad = run_hooks(node.hooks, grad)
    if watched is not None and node in watched:
        watched[node] = grad
        if not any(edge in needed for edge in node.edges):  # type: ignore[operator]
            return (), ()
    if node.__class__ is OutputNode:
        _collect(grads, waiting, node, grad)
        return (), ()
    if node.is_released:
        raise _second_time(node.label)
    edges = node.edges
    results = node.backward(grad, create_graph)
    if not retain_graph:
        node.release()
    return edges, results


def _collect(grads: dict[Any, Any], waiting: list[Any], output: OutputNode, grad: Any) -> None:
    """Puts the gradient of one of several outputs into its place at the call's node."""
    node = output.node
    slots = grads.get(node)
    if slots is None:
        slots = [None] * len(node.out_aval)
        grads[node] = slots
        waiting.append(node)
    before = slots[output.position]
    slots[output.position] = grad if before is None else before + grad


def _second_time(label: str) -> RuntimeError:
    return runtime_error(
        label,
        "backward runs a second time through this part of the graph, whose saved values are freed",
        fix="pass retain_graph=True to the first backward()",
    )


def fit(grad: Tensor, aval: Any) -> Tensor:
    """A gradient in its operand's shape and dtype: sums over what was broadcast."""
    symbolic = aval.symbolic or grad._aval.symbolic
    if not same_sizes(grad._aval.shape, aval.shape) if symbolic else grad._aval.shape != aval.shape:
        grad = NEEDED.sum_to(grad, aval.shape)
    if grad._aval.dtype != aval.dtype:
        if grad._aval.dtype.kind == "c" and aval.dtype.kind != "c":
            grad = grad.real()
        grad = NEEDED.cast(grad, aval.dtype)
    return grad


def run_hooks(hooks: dict[int, Callable[[Tensor], Any]], grad: Tensor) -> Tensor:
    """Lets hooks look at a gradient in turn, each at what the one before it left."""
    # A tensor of their own: the object may serve several branches, and a hook may change it.
    grad = stand_in(grad)
    for hook in list(hooks.values()):
        changed = hook(grad)
        if changed is None:
            continue
        if not isinstance(changed, Tensor):
            raise type_error("register_hook", "a hook must return a Tensor or None", type(changed).__name__)
        if changed._aval.shape != grad._aval.shape:
            raise value_error(
                "register_hook", "a hook must keep the shape of the gradient",
                f"{changed._aval} for {grad._aval}",
            )  # fmt: skip
        grad = changed
    return grad


def _deliver_to_leaf(leaf: Tensor, grad: Any) -> None:
    if leaf._hooks:
        grad = run_hooks(leaf._hooks, grad)
    with _ACCUMULATING:
        before: Any = leaf._grad
        if before is None:
            # A tensor of its own: the same gradient object may have gone to several leaves.
            leaf._grad = alias(grad)
        else:
            # In place: whoever holds the gradient sees the sum.
            assign_in_place(before, before + grad, "backward")
    after = leaf.__dict__.get("_accumulated_hooks")
    if after:
        for hook in list(after.values()):
            hook()


def _root(tensor: Tensor, grad: Tensor | None, name: str) -> tuple[Any, Tensor]:
    """Where a backward pass starts, and with which gradient."""
    if grad is None:
        grad = NEEDED.ones_of_aval(tensor._aval)
    elif not isinstance(grad, Tensor):
        raise failed_type_check(name, "the gradient of a result must be a Tensor or None", type(grad).__name__)
    elif grad._aval.shape != tensor._aval.shape:
        raise failed_check(name, "the gradient of a result must have its shape", f"{grad._aval} for {tensor._aval}")
    elif grad._aval is not tensor._aval:
        grad = fit(grad, tensor._aval)
    return edge_of(tensor), grad


def backward(
    tensors: Sequence[Tensor],
    grads: Sequence[Tensor | None] | None = None,
    retain_graph: bool = False,
) -> None:
    """Accumulates gradients of `tensors` into the `.grad` of the leaves they depend on.

    A tensor with `stop_gradient` set has nothing to propagate and is passed over.
    """
    given = list(grads) if grads is not None else [None] * len(tensors)
    if len(given) != len(tensors):
        raise value_error(
            "backward",
            "as many gradients as tensors are needed",
            f"{len(given)} for {len(tensors)}",
        )
    if Mode.sharded:
        meeting_point()
    roots = [_root(t, g, "backward") for t, g in zip(tensors, given) if not t.stop_gradient]
    _AFTER_BACKWARD.depth += 1
    try:
        RUNTIME.phase("backward", run_engine, roots, _deliver_to_leaf, retain_graph, False)
    except BaseException:
        if _AFTER_BACKWARD.depth == 1:
            _AFTER_BACKWARD.callbacks = None  # they were meant for gradients that will not come
        raise
    finally:
        _AFTER_BACKWARD.depth -= 1
    if _AFTER_BACKWARD.callbacks and not _AFTER_BACKWARD.depth:
        _run_callbacks()
    if Mode.sharded:
        meeting_point()


class _AfterBackward(threading.local):
    """What this thread does when a backward pass is over; one that a hook starts inside another is a part of that."""

    callbacks: dict[Any, Callable[[], None]] | None = None
    depth = 0


_AFTER_BACKWARD = _AfterBackward()


def after_backward(key: Any, callback: Callable[[], None]) -> None:
    """For hooks: has `callback` called once when this thread's backward pass is over and all gradients are in place."""
    if _AFTER_BACKWARD.callbacks is None:
        _AFTER_BACKWARD.callbacks = {}
    _AFTER_BACKWARD.callbacks.setdefault(key, callback)


def _run_callbacks() -> None:
    callbacks, _AFTER_BACKWARD.callbacks = _AFTER_BACKWARD.callbacks, None
    for callback in (callbacks or {}).values():
        callback()


def gradients(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    seeds: Sequence[Tensor | None] | None = None,
    create_graph: bool = False,
    constants: Iterable[Tensor] = (),
) -> list[Tensor | None]:
    """Gradients of `outputs` with respect to `inputs`; None for one they do not depend on.

    The graph is kept, whether or not the gradients can be differentiated again (`create_graph`).
    """
    given = [None] * len(outputs) if seeds is None else seeds
    if len(given) != len(outputs):
        raise value_error("grad", "grad_outputs must match outputs", f"{len(given)} for {len(outputs)}")
    roots = [_root(t, g, "grad") for t, g in zip(outputs, given) if not t.stop_gradient]
    keys = [tensor if tensor._node is None else tensor._node for tensor in inputs]
    blocked = {tensor if tensor._node is None else tensor._node for tensor in constants}
    needed = _leading_to([edge for edge, _ in roots], set(keys), blocked)
    results: dict[Any, Tensor | None] = dict.fromkeys(keys)

    def deliver(leaf: Tensor, value: Tensor) -> None:
        if leaf in results:
            results[leaf] = value

    leading = [root for root in roots if root[0] in needed]
    RUNTIME.phase("backward", run_engine, leading, deliver, True, create_graph, results, needed)
    # Tensors of the caller's own: the object may be a part of the graph, or a seed.
    own = stand_in if create_graph else alias
    return [None if (value := results[key]) is None else own(value) for key in keys]


def tensor_list(where: str, what: str, given: Any) -> list[Tensor]:
    """One tensor or several as a list; TypeError for anything else, and for none at all."""
    if isinstance(given, Tensor):
        return [given]
    tensors = list(given) if isinstance(given, (list, tuple)) else []
    if not tensors or not all(isinstance(tensor, Tensor) for tensor in tensors):
        raise failed_type_check(where, f"{what} must be a Tensor or a non-empty list of Tensors", type(given).__name__)
    return tensors


def _leading_to(roots: list[Any], targets: set[Any], blocked: set[Any]) -> set[Any]:
    """The edges from which a target is reached without passing a blocked one; targets included."""
    seen = {edge for edge in roots if edge not in blocked}
    stack = [edge for edge in seen if not isinstance(edge, Tensor)]
    while stack:
        node = stack.pop()
        if node.is_released:
            # It has forgotten its edges: whether it leads to a target can no longer be known.
            raise _second_time(node.label)
        for edge in node.edges:
            if edge is not None and edge not in seen and edge not in blocked:
                seen.add(edge)
                if not isinstance(edge, Tensor):
                    stack.append(edge)
    # Oldest first, so that what a node leads to is known before the node is asked.
    needed = targets & seen
    nodes = sorted((edge for edge in seen if not isinstance(edge, Tensor)), key=_sequence)
    for node in nodes:
        if node not in needed and any(edge in needed for edge in node.edges):
            needed.add(node)
    return needed


def _sequence(node: Any) -> int:
    return node.sequence
