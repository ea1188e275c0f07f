"""Tier 0: runs a Program op by op, now, without compiling it.

On the CPU the kernels run on NumPy, on an NVIDIA GPU on CuPy where that is installed (`cupy_tier.py`). Elsewhere (another
accelerator, sharded arrays) each operation is a small jitted call, which JAX caches by shape.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from ...core.place import CPU, Place, jax_device
from .. import meshes
from ..keys import attribute_key
from ..operation import Operation
from ..process.forking import host_array
from ..program import DynamicScalar, Instruction, Program
from ..xla import started_jax

_ndarray = np.ndarray
_NARROWEST = 1 << 7  # every integer type holds smaller numbers
# Elements made by a program that may keep them all until it ends.
_FEW = 1 << 18


class Problem(Exception):
    """An instruction failed or its result was rejected; carries the user's error and which values are lost."""

    def __init__(self, error: Exception, index: int) -> None:
        super().__init__(str(error))
        self.error = error
        self.index = index


def run_on_numpy(
    program: Program, inputs: list[Any], scalars: Sequence[Any], watch: Any = None, every: bool = True
) -> list[Any]:
    """Values of the Program's instructions (those still needed at the end), computed with NumPy.

    `watch(instruction, operands, results)`, if given, looks at results before they are used: at every one, or at those of
    flagged instructions.
    """

    inputs = [v if v.__class__ is _ndarray else host_array(v) for v in inputs]
    call = _call_on_numpy if watch is None else _watched(watch, every)
    if _QUIET is None:
        with np.errstate(all="ignore"):
            return program.evaluate(call, inputs, _arrays_of(scalars), program.size <= _FEW)
    variable, silence = _QUIET
    before = variable.set(silence)
    try:
        return program.evaluate(call, inputs, _arrays_of(scalars), program.size <= _FEW)
    finally:
        variable.reset(before)


def _find_silence() -> tuple[contextvars.ContextVar[Any], Any] | None:
    """Where NumPy keeps what it does about overflows and the like, and what stands there while it ignores them.

    Setting that is a tenth of what `np.errstate` costs, which is much of running two small operations.
    """
    with np.errstate(all="ignore"):
        inside = contextvars.copy_context()
    return next(((variable, inside[variable]) for variable in inside if variable.name == "numpy.ufunc.extobj"), None)


_QUIET = _find_silence()


def _watched(watch: Any, every: bool) -> Any:
    def call(instruction: Instruction, arguments: list[Any]) -> Any:
        results = _call_on_numpy(instruction, arguments)
        if every or instruction.flagged:
            watch(instruction, arguments, (results,) if results.__class__ is _ndarray else results)
        return results

    return call


def _call_on_numpy(instruction: Instruction, arguments: list[Any]) -> Any:
    """The result of an instruction that has one, a list of them otherwise."""
    operation = instruction.operation
    kernel = operation.kernels.get("numpy") or operation.kernel
    try:
        if operation.variadic:
            results = kernel(np, arguments, *instruction.attributes)
        else:
            results = kernel(np, *arguments, *instruction.attributes)
    except Exception as error:
        raise Problem(error, instruction.index) from error
    outputs = instruction.outputs
    if results.__class__ is not tuple and len(outputs) == 1:
        if results.__class__ is not _ndarray:
            results = np.asarray(results)
        dtype = outputs[0].dtype
        return results if results.dtype is dtype else results.astype(dtype)
    made: list[Any] = []
    for result, aval in zip(results, outputs, strict=True):
        if result.__class__ is not _ndarray:
            result = np.asarray(result)
        made.append(result if result.dtype is aval.dtype else result.astype(aval.dtype))
    return made


def _arrays_of(scalars: Sequence[Any]) -> Callable[[DynamicScalar], np.ndarray]:
    """Dynamic scalars as 0-d arrays of the dtypes they take."""

    def array_of(operand: DynamicScalar) -> np.ndarray:
        value = scalars[operand.number]
        kind = operand.dtype.kind
        if value.__class__ is float and kind == "f":
            return np.array(value, operand.dtype)
        if value.__class__ is int and kind == "i" and -_NARROWEST <= value < _NARROWEST:
            return np.array(value, operand.dtype)
        return np.asarray(value).astype(operand.dtype)  # an integer that is too large wraps around

    return array_of


def run_alone(program: Program, inputs: list[Any]) -> list[Any]:
    """The same for one operation that is never compiled with others: its kernel gets the values as they are."""

    def call(instruction: Instruction, arguments: list[Any]) -> Sequence[Any]:
        try:
            operation = instruction.operation
            given = [arguments] if operation.variadic else arguments
            results = operation.kernel(None, *given, *instruction.attributes)
        except Exception as error:
            raise Problem(error, instruction.index) from error
        return cast("tuple[Any, ...]", results) if isinstance(results, tuple) else (results,)

    return program.evaluate(call, inputs, _arrays_of(()))


_JITTED: dict[tuple[Operation, Any, tuple[Any, ...], tuple[Any, ...], str], Any] = {}


def run_on_jax(
    program: Program, inputs: list[Any], scalars: Sequence[Any], place: Place, watch: Any = None, devices: Any = None
) -> list[Any]:
    """The same on JAX arrays, one small jitted call an operation; `devices`: those that it spans, if several."""
    kind = meshes.kernel_kind(place, devices)

    def call(instruction: Instruction, arguments: list[Any]) -> Sequence[Any]:
        try:
            meshes.wait_for_last(devices)
            results = call_jitted(instruction, arguments, place, kind)
            meshes.note_last(devices, results)
        except Exception as error:
            raise Problem(error, instruction.index) from error
        if watch is not None:
            watch(instruction, arguments, results)
        return results

    return program.evaluate(call, inputs, _arrays_of(scalars))


def call_jitted(instruction: Instruction, arguments: list[Any], place: Place, kind: str = "") -> Any:
    """The results of one instruction on JAX arrays, by a call that JAX compiles for each shape, with kernels for a kind."""
    jax = started_jax()
    absent = tuple(argument is None for argument in arguments)
    dtypes = tuple([aval.dtype for aval in instruction.outputs])
    kind = kind or place.kind
    key = (instruction.operation, attribute_key(instruction.attributes), absent, dtypes, kind)
    jitted = _JITTED.get(key)
    if jitted is None:
        jitted = _JITTED[key] = jax.jit(_call_kernel(instruction, kind, absent, dtypes))
    present = [argument for argument in arguments if argument is not None]
    if place is not CPU and not any(isinstance(argument, jax.Array) for argument in present):
        with jax.default_device(jax_device(place)):
            return jitted(*present)
    return jitted(*present)


def _call_kernel(instruction: Instruction, kind: str, absent: tuple[bool, ...], dtypes: tuple[Any, ...]) -> Any:
    operation, attributes = instruction.operation, instruction.attributes
    kernel = operation.kernel_for(kind)

    def call(*present: Any) -> tuple[Any, ...]:
        import jax.numpy as jnp

        given = iter(present)
        arguments = [None if missing else next(given) for missing in absent]
        if operation.variadic:
            result = kernel(jnp, arguments, *attributes)
        else:
            result = kernel(jnp, *arguments, *attributes)
        results = cast("tuple[Any, ...]", result) if isinstance(result, tuple) else (result,)
        return tuple(cast(Any, jnp).asarray(r, d) for r, d in zip(results, dtypes, strict=True))

    call.__name__ = operation.name
    return call
