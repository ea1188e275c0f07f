"""Gradients that nobody wrote: derived from an operation's XLA kernel by JAX, any number of times.

The derived gradient is itself an operation (`<name>_vjp`), so it is recorded, compiled and
differentiated like any other. On the CPU's tier 0 it runs as a small jitted call, since it has no
NumPy form: rules are written by hand where that matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.aval import make_aval
from ...core.dtype import is_differentiable
from ...ir.keys import attribute_key
from ...ir.operation import Operation, register
from ...ir.xla import started_jax
from ..dispatch import record
from ..needed import NEEDED
from ..variadic import check_all_versions
from .tape import check_versions


class DerivedGradient:
    """Stands for rules in `Operation.gradient`; makes the vjp operation when it is first needed."""

    def __init__(self, operation: Operation, tensor_names: Sequence[str]) -> None:
        self.operation = operation
        self.saved = list(operation.operand_names)
        self.users: dict[str, list[str]] = {}  # the derived gradient needs all operands
        self.versioned = [(i, name) for i, name in enumerate(self.saved) if name in tensor_names]
        self._vjp: Operation | None = None

    def run(self, node: Any, grad: Any, create_graph: bool, edges: Any) -> Sequence[Any]:
        if self.versioned:
            check_versions(node)
        operands = list(node.saved)
        several = self.operation.returns_tuple
        grads = list(grad) if several else [grad]
        if several:
            grads = [g if g is not None else _zeros(a) for g, a in zip(grads, node.out_aval, strict=True)]
        count = len(operands)
        wanted = tuple(
            edge is not None and is_differentiable(aval.dtype) for edge, aval in zip(edges, node.avals, strict=True)
        )
        if not any(wanted):
            return (None,) * count
        vjp = self._vjp_operation()
        results = iter(record(vjp, [*operands, *grads], (count, wanted, node.attributes)))
        return tuple(next(results) if flag else None for flag in wanted)

    def _vjp_operation(self) -> Operation:
        if self._vjp is None:
            self._vjp = _make_vjp(self.operation)
        return self._vjp


def _zeros(aval: Any) -> Any:
    return NEEDED.zeros_of_aval(aval)


def _make_vjp(operation: Operation) -> Operation:
    def kernel(
        xp: Any,
        arrays: list[Any],
        count: int,
        wanted: tuple[bool, ...],
        attributes: tuple[Any, ...],
    ) -> Any:
        if xp is np:
            return _run_jitted(vjp, arrays, (count, wanted, attributes))
        return _vjp_arrays(xp, operation, arrays, count, wanted, attributes)

    def infer(_op: Any, kinds: Sequence[Any], attributes: tuple[Any, ...], place: Any) -> tuple[Any, ...]:
        _, wanted, _ = attributes
        return tuple(make_aval(k.shape, k.dtype, place) for k, flag in zip(kinds, wanted, strict=False) if flag)

    vjp = Operation(
        f"{operation.name}_vjp", kernel, ["x"], ["count", "wanted", "attributes"], infer=infer,
        variadic=True,
        returns_tuple=True, follow_scalars=operation.follow_scalars,
    )  # fmt: skip
    vjp.gradient = DerivedVariadicGradient(vjp)
    return register(vjp)


class DerivedVariadicGradient(DerivedGradient):
    """The gradient of a vjp: the same once more, for the flat list of operands."""

    saves_operands = True
    saves_outputs = False

    def __init__(self, operation: Operation) -> None:
        super().__init__(operation, [])

    def run(self, node: Any, grad: Any, create_graph: bool, edges: Any) -> Sequence[Any]:
        check_all_versions(node)
        return super().run(node, grad, create_graph, edges)


def _vjp_arrays(
    xp: Any,
    operation: Operation,
    arrays: list[Any],
    count: int,
    wanted: tuple[bool, ...],
    attributes: tuple[Any, ...],
) -> tuple[Any, ...]:
    import jax

    kernel = operation.kernel_for("xla")
    operands, grads = arrays[:count], arrays[count:]
    positions = [i for i, flag in enumerate(wanted) if flag]

    def forward(*variables: Any) -> Any:
        arguments = list(operands)
        for position, variable in zip(positions, variables, strict=True):
            arguments[position] = variable
        if operation.variadic:
            return kernel(xp, arguments, *attributes)
        return kernel(xp, *arguments, *attributes)

    outputs, pull = jax.vjp(forward, *[operands[p] for p in positions])
    if isinstance(outputs, tuple):
        seeds = tuple(_seed(o, g) for o, g in zip(outputs, grads, strict=True))
    else:
        seeds = _seed(outputs, grads[0])
    # JAX's convention for complex gradients is the conjugate of Paddle's.
    conjugate = any(np.dtype(a.dtype).kind == "c" for a in arrays if a is not None)
    if conjugate:
        seeds = jax.tree.map(_conj, seeds)
        return tuple(_conj(result) for result in pull(seeds))
    return tuple(pull(seeds))


def _seed(output: Any, grad: Any) -> Any:
    import jax

    if not is_differentiable(np.dtype(output.dtype)):
        return np.zeros(output.shape, jax.dtypes.float0)
    return grad.astype(output.dtype)


def _conj(array: Any) -> Any:
    return array.conj() if getattr(array, "dtype", None) is not None and np.dtype(array.dtype).kind == "c" else array


_JITTED: dict[Any, Any] = {}


def _run_jitted(vjp: Operation, arrays: list[Any], attributes: tuple[Any, ...]) -> tuple[Any, ...]:
    jax = started_jax()
    key = (vjp, attribute_key(attributes), tuple(a is None for a in arrays))
    jitted = _JITTED.get(key)
    if jitted is None:
        missing = key[2]

        def call(*present: Any) -> tuple[Any, ...]:
            given = iter(present)
            return vjp.kernel(jax.numpy, [None if absent else next(given) for absent in missing], *attributes)

        jitted = _JITTED[key] = jax.jit(call)
    results = jitted(*[a for a in arrays if a is not None])
    return tuple(np.asarray(result) for result in results)
