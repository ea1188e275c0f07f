"""Computing a part of a model twice instead of keeping its intermediate results until the backward pass.

The part runs once as usual, and what it saved is dropped at once; only its inputs and what it refers to (parameters, other
tensors) are kept. In the backward pass it runs again, from the same inputs, random state and mixed-precision scope.
Both runs are recorded in the same program, where a compiler would find them equal and keep the first one's results after
all: so the second run goes through a `barrier`, which also makes it wait for the gradient it is needed for.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ..core.errors import runtime_error
from ..core.generator import GeneratorState, default_generator
from ..eager.backward.engine import fit, run_engine
from ..eager.backward.tape import OutputNode, edge_of, with_history
from ..eager.binder import next_sequence
from ..eager.declare import op
from ..eager.tensor import Tensor, alias
from ..ir.padding import rules
from ..ir.recorder import LOCAL, set_scope, switch_gradients


def _infer_barrier(operation: Any, operands: Sequence[Any], attributes: tuple[Any, ...], place: Any) -> tuple[Any, ...]:
    return tuple(operands[1:])


def _barrier_grad(grads: Any, avals: Sequence[Any], attributes: tuple[Any, ...], needed: Sequence[bool]) -> Any:
    return [None, *(grad if wanted else None for grad, wanted in zip(grads, needed[1:], strict=True))]


@op(
    variadic=True, outputs="list", infer=_infer_barrier, grad=_barrier_grad, follow_scalars=False, name="barrier",
    padding=rules.untouched.each, ordering=True,
)  # fmt: skip
def barrier(xp: Any, arrays: Sequence[Any]) -> Any:
    """The arrays behind the first, which the compiler must take for new ones that exist only when the last one does.

    The first is zero, which the compiler does not know.
    """
    return tuple(arrays[1:])


def _xla_barrier(xp: Any, arrays: Sequence[Any]) -> Any:
    from jax import lax

    # Decided by what is compiled for: a mesh of a CPU's devices takes the kernels that are no device's own.
    return lax.platform_dependent(*arrays, cpu=_barrier_on_cpu, default=_optimization_barrier)


def _optimization_barrier(zero: Any, *values: Any) -> Any:
    from jax import lax

    return tuple(lax.optimization_barrier(values))


def _barrier_on_cpu(zero: Any, *values: Any) -> Any:
    """XLA takes its own barriers away on CPUs before it looks for equal work: so the bits are changed by a zero."""
    from jax import lax
    from jax import numpy as jnp

    if values and values[-1].size:
        last = values[-1]
        # Where the array is cut, its first element is all that devices tell each other.
        first = lax.slice(last, [0] * last.ndim, [1] * last.ndim).reshape(())
        zero = zero & _bits(jnp, first)[0].astype(zero.dtype)
    return tuple(_changed(jnp, value, zero) for value in values)


def _bits(xp: Any, value: Any) -> tuple[Any, ...]:
    """A value as unsigned integers: one, or two for a complex number."""
    from jax import lax

    kind = value.dtype.kind
    if kind == "c":
        return (*_bits(xp, lax.real(value)), *_bits(xp, lax.imag(value)))
    if kind in "biu":
        return (value,)
    return (lax.bitcast_convert_type(value, xp.dtype(f"uint{8 * value.dtype.itemsize}")),)


def _changed(xp: Any, value: Any, zero: Any) -> Any:
    from jax import lax

    if value.dtype.kind == "c":
        return lax.complex(_changed(xp, lax.real(value), zero), _changed(xp, lax.imag(value), zero))
    (bits,) = _bits(xp, value)
    changed = bits ^ zero.astype(bits.dtype)
    return changed if bits.dtype == value.dtype else lax.bitcast_convert_type(changed, value.dtype)


barrier.operation.kernels["xla"] = _xla_barrier


# ---- structures of arguments ---------------------------------------------------------------------


def _map_tensors(value: Any, function: Callable[[Tensor], Any]) -> Any:
    """A structure of lists, tuples and dictionaries with its tensors exchanged."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, (list, tuple)):
        items = [_map_tensors(item, function) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: _map_tensors(item, function) for key, item in value.items()}
    return value


def _tensors_of(value: Any) -> list[Tensor]:
    found: list[Tensor] = []
    _map_tensors(value, found.append)
    return found


def _outer_edges(outputs: Sequence[Tensor], begin: int) -> list[Any]:
    """Where gradients of `outputs` leave what was recorded since `begin`: leaves, and nodes older than that.

    The graph between is taken apart on the way: what it saved is not to be kept.
    """
    seen: set[Any] = set()
    found: list[Any] = []
    inner: list[Any] = []
    stack = [edge for output in outputs if (edge := edge_of(output)) is not None]
    while stack:
        edge = stack.pop()
        if edge in seen:
            continue
        seen.add(edge)
        if isinstance(edge, Tensor) or edge.sequence <= begin:
            found.append(edge)
        else:
            stack += [further for further in edge.edges if further is not None]
            inner.append(edge)
    for node in inner:
        if not isinstance(node, OutputNode):
            node.release()
    return found


# ---- the node ------------------------------------------------------------------------------------


class Call:
    """A function with arguments, and all that a second run needs to do exactly what the first did."""

    def __init__(self, function: Callable[..., Any], args: Any, kwargs: Any, preserve_rng_state: bool) -> None:
        self.function = function
        self.arguments = (args, kwargs)
        self.inputs = list(dict.fromkeys(_tensors_of(self.arguments)))
        self.versions = [tensor._version for tensor in self.inputs]
        self.random: GeneratorState | None = default_generator.get_state() if preserve_rng_state else None
        self.scope = LOCAL.scope

    def run(self, entries: Sequence[Tensor]) -> Any:
        """Calls the function with the entries in place of its inputs."""
        instead = dict(zip(self.inputs, entries, strict=True))
        args, kwargs = _map_tensors(self.arguments, instead.__getitem__)
        return self.function(*args, **kwargs)

    def run_again(self, entries: Sequence[Tensor]) -> list[Tensor]:
        """The tensors that the second run gives, with gradients recorded."""
        if [tensor._version for tensor in self.inputs] != self.versions:
            raise runtime_error(
                "recompute", "an input was changed in place after the first run", fix="clone() it first"
            )
        enabled, scope, random = switch_gradients(True), LOCAL.scope, default_generator.get_state()
        set_scope(self.scope)
        if self.random is not None:
            default_generator.set_state(self.random)
        try:
            return _tensors_of(self.run(entries))
        finally:
            if self.random is not None:
                default_generator.set_state(random)
            set_scope(scope)
            switch_gradients(enabled)


class RecomputeNode:
    """The tape node of a part that is computed again in the backward pass."""

    __slots__ = ("__weakref__", "avals", "call", "edges", "entries", "hooks", "out_aval", "outputs", "sequence")

    label = "recompute_grad"

    def __init__(self, call: Call, entries: Sequence[Tensor], outer: Sequence[Any], outputs: Sequence[Tensor]) -> None:
        positions = {id(entry): position for position, entry in enumerate(entries)}
        self.call: Call | None = call
        # For each edge: which input it is of, or the edge itself (a parameter, a tensor the function refers to).
        self.entries = tuple(positions.get(id(edge), edge) for edge in outer)
        self.edges: tuple[Any, ...] = tuple(
            edge_of(call.inputs[entry]) if isinstance(entry, int) else entry for entry in self.entries
        )
        self.avals = tuple(edge._aval if isinstance(edge, Tensor) else edge.out_aval for edge in outer)
        self.out_aval = tuple(output._aval for output in outputs)
        self.outputs: dict[int, weakref.ref[OutputNode]] = {}
        self.sequence = next_sequence()
        self.hooks = None

    def name(self) -> str:
        return "RecomputeGradNode"

    def __repr__(self) -> str:
        return f"<{self.name()}>"

    @property
    def next_functions(self) -> list[Any]:
        return [edge for edge in self.edges if edge is not None and not isinstance(edge, Tensor)]

    @property
    def is_released(self) -> bool:
        return self.call is None

    def release(self) -> None:
        self.call = None
        self.edges = ()

    def backward(self, grads: list[Tensor | None], create_graph: bool) -> list[Tensor | None]:
        call = self.call
        assert call is not None
        given = [grad for grad in grads if grad is not None]
        # Differentiated once more, the inputs keep their history; otherwise the second run starts from bare values.
        sources = [with_history(t, edge_of(t)) if create_graph else alias(t) for t in call.inputs]
        passed = barrier([0, *sources, *given])
        entries, given = list(passed[: len(sources)]), iter(passed[len(sources) :])
        wanted = {entry for entry in self.entries if isinstance(entry, int)}
        for position, entry in enumerate(entries):
            if position in wanted and entry._node is None:
                entry.stop_gradient = False
        outputs = call.run_again([with_history(e, edge_of(e)) for e in entries])
        if [output._aval for output in outputs] != list(self.out_aval):
            raise runtime_error(
                "recompute", "the second run gave other results than the first",
                f"{[str(o._aval) for o in outputs]} after {[str(aval) for aval in self.out_aval]}",
                "make what the function does depend on its arguments alone",
            )  # fmt: skip
        roots = [
            (edge_of(output), fit(next(given), output._aval))
            for output, grad in zip(outputs, grads, strict=True)
            if grad is not None
        ]
        keys = [entries[e]._node or entries[e] if isinstance(e, int) else e for e in self.entries]
        results = _gradients_of([root for root in roots if root[0] is not None], keys, create_graph)
        return [results[key] for key in keys]


def _gradients_of(roots: list[tuple[Any, Tensor]], keys: list[Any], create_graph: bool) -> dict[Any, Tensor | None]:
    """Gradients at the given places of the graph; nothing behind these places is touched."""
    results: dict[Any, Tensor | None] = dict.fromkeys(keys)
    needed = _leading_to([edge for edge, _ in roots], set(keys))

    def deliver(leaf: Tensor, grad: Tensor) -> None:
        if leaf in results:
            results[leaf] = grad

    run_engine([root for root in roots if root[0] in needed], deliver, create_graph, create_graph, results, needed)
    return results


def _leading_to(roots: list[Any], targets: set[Any]) -> set[Any]:
    """The edges on the ways from roots to targets, where the ways end."""
    seen = set(roots)
    stack = [edge for edge in seen if not isinstance(edge, Tensor) and edge not in targets]
    nodes = list(stack)
    while stack:
        for edge in stack.pop().edges:
            if edge is not None and edge not in seen:
                seen.add(edge)
                if not isinstance(edge, Tensor) and edge not in targets:
                    stack.append(edge)
                    nodes.append(edge)
    needed = targets & seen
    for node in sorted(nodes, key=lambda node: node.sequence):  # oldest first
        if any(edge in needed for edge in node.edges):
            needed.add(node)
    return needed


def recompute_call(function: Callable[..., Any], args: Any, kwargs: Any, preserve_rng_state: bool = True) -> Any:
    """`function(*args, **kwargs)`, whose intermediate results are computed again for the backward pass."""
    if not LOCAL.grad_enabled:
        return function(*args, **kwargs)
    call = Call(function, args, kwargs, preserve_rng_state)
    begin = next_sequence()
    entries = [alias(tensor) for tensor in call.inputs]
    for entry, tensor in zip(entries, call.inputs, strict=True):
        entry.stop_gradient = tensor.stop_gradient
    # Not the entries themselves: a function may change its arguments in place, which leaves do not allow.
    results = call.run([with_history(entry, edge_of(entry)) for entry in entries])
    outputs = _tensors_of(results)
    outer = _outer_edges(outputs, begin)
    if not outer:
        return results
    node = RecomputeNode(call, entries, outer, outputs)
    positions = iter(range(len(outputs)))

    def attach(output: Tensor) -> Tensor:
        position = next(positions)
        result = alias(output)
        result.stop_gradient = output.stop_gradient
        if not output.stop_gradient:
            result._node = OutputNode(node, position, next_sequence(), output._aval)
        return result

    return _map_tensors(results, attach)
