"""Tier 1: lowers a whole Program to one XLA executable.

Inputs that nothing else refers to are donated, so that XLA writes results over them. Dynamic scalars travel as one
vector for each Python type: a learning rate that changes every step changes data, never the program.
"""

from __future__ import annotations

import ctypes
import math
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, cast

import numpy as np

from ...core.place import CPU, Place, jax_device
from ...core.waiting import waiting
from .. import meshes
from ..observing import RUNTIME
from ..operation import SCALAR_DTYPES, OperandKind, Operation
from ..process import forking
from ..program import Instruction, Program
from ..transforms import exactness
from ..transforms.fusion import joined
from ..transforms.overwriting import endangered, kept_apart
from ..watch import can_be_nan, flags_of, inner_checks, is_watched, watch_results
from ..xla import jax_module, started_jax
from . import cost
from .compiler_options import quick_options, standing_options
from .interpreter import Problem, run_on_numpy

_KIND_ORDER = (float, int, complex)
_MUCH_MEMORY = 1 << 26  # bytes of inputs
# A program that was compiled quickly has earned to be compiled well when it has done so many times the work of compiling
# it: it gains some percent by that. And not before so many runs.
_TIMES_TO_EARN = 100.0
_RUNS_TO_EARN = 256
_well = ("XLA compiles a program that runs often once more, better", "5 to 30 s")
KEEPERS: list[Callable[[], None]] = []  # called when freed memory that somebody keeps should go back to the system


def call_kernel(jnp: Any, instruction: Instruction, arguments: list[Any], kind: str) -> tuple[Any, ...]:
    """Traces one instruction with the kernel for a kind of place; results have exactly the inferred dtypes."""
    operation = instruction.operation
    kernel = operation.kernel_for(kind, exactness.wanted())
    if operation.variadic:
        result = kernel(jnp, arguments, *instruction.attributes)
    else:
        result = kernel(jnp, *arguments, *instruction.attributes)
    results = cast("tuple[Any, ...]", result) if isinstance(result, tuple) else (result,)
    return tuple(
        r if getattr(r, "dtype", None) == a.dtype else jnp.asarray(r, a.dtype)
        for r, a in zip(results, instruction.outputs, strict=True)
    )


def call_watched(
    jnp: Any, instruction: Instruction, arguments: list[Any], kind: str, flags: list[Any], check_nan: bool = False
) -> tuple[Any, ...]:
    """The same for an instruction that may be checked: vectors of its flags are added to `flags`."""
    if not inner_checks(instruction):
        results, inside = call_kernel(jnp, instruction, arguments, kind), None
    else:
        kernel: Any = instruction.operation.kernel
        results, inside = kernel.watched(jnp, arguments, *instruction.attributes)
    if is_watched(instruction, check_nan):
        flags.append(jnp.reshape(_flag(jnp, instruction, arguments, results, check_nan), (1,)))
    if inside is not None:
        flags.append(inside)
    return results


def abstract_evaluation(
    operation: Operation, operands: Sequence[OperandKind], attributes: tuple[Any, ...], place: Place
) -> tuple[Any, ...]:
    """Shapes and dtypes of an operation's outputs by tracing its kernel on shapes alone."""
    jax = jax_module()
    followed = next((o.dtype for o in operands if o is not None and not isinstance(o, type)), None)
    specs: list[Any] = []
    for operand in operands:
        if operand is None:
            continue
        if isinstance(operand, type):
            dtype = followed if operation.follow_scalars and followed is not None else SCALAR_DTYPES[operand]
            specs.append(jax.ShapeDtypeStruct((), dtype))
        else:
            specs.append(jax.ShapeDtypeStruct(operand.shape, operand.dtype))

    def call(*present: Any) -> tuple[Any, ...]:
        given = iter(present)
        arguments = [None if operand is None else next(given) for operand in operands]
        kernel = operation.kernel_for(place.kind)
        if operation.variadic:
            result = kernel(jax.numpy, arguments, *attributes)
        else:
            result = kernel(jax.numpy, *arguments, *attributes)
        return cast("tuple[Any, ...]", result) if isinstance(result, tuple) else (result,)

    return jax.eval_shape(call, *specs)


class CompiledProgram:
    """A Program as an XLA executable, with what it cost to make."""

    __slots__ = (
        "__weakref__",
        "check_nan",
        "copies",
        "device",
        "devices",
        "donated",
        "executable",
        "improving",
        "last_scalars",
        "num_flags",
        "outputs",
        "program",
        "runs_to_trim",
        "scalar_groups",
        "seconds",
    )

    def __init__(
        self,
        program: Program,
        inputs: list[Any],
        scalars: list[Any],
        place: Place,
        donated: tuple[int, ...],
        check_nan: bool,
    ) -> None:
        self.program, self.check_nan = program, check_nan
        self.outputs = program.outputs
        self.donated = donated
        self.copies = self.runs_to_trim = 0
        self.improving: _Improving | None = None
        self.seconds = 0.0
        self.scalar_groups = _group_scalars(program)
        self.num_flags = len(flagged_instructions(program, check_nan))
        if not forking.State.lost or place is not CPU:
            self._compile(inputs, scalars, place)

    def _compile(self, inputs: list[Any], scalars: list[Any], place: Place) -> None:
        if sum(value.nbytes for value in inputs if isinstance(value, np.ndarray)) > _MUCH_MEMORY:
            give_back_freed_memory()
            self.runs_to_trim = 2  # by the second one the inputs themselves are free
        started_jax()
        started = time.perf_counter()
        self.devices = meshes.program_devices(self.program, inputs)
        sharded = self.devices is not None
        self.device = None if sharded else jax_device(place)
        # Content and vectors change together, in one step: two threads may be running this program.
        self.last_scalars: tuple[bytes, list[Any] | None] = (b"", None)
        with waiting(*_explanation(self.program)):
            lowered, context = lower_program(self.program, inputs, scalars, place, self.donated, self.check_nan)
            with warnings.catch_warnings(), context:
                # Buffers that fit no result are donated all the same: XLA may use them for intermediate values.
                warnings.filterwarnings("ignore", message="Some donated buffers were not usable")
                standing = standing_options(self.program, place, sharded)
                quick = quick_options(self.program, place, sharded)
                self.executable = lowered.compile(compiler_options={**standing, **quick} or None)
                if quick:
                    self.improving = _Improving(lowered, place, self.program, standing)
        self.seconds = time.perf_counter() - started

    def pack(self, scalars: list[Any]) -> list[np.ndarray]:
        return _packed(self.scalar_groups, scalars)

    def __call__(self, inputs: list[Any], scalars: list[Any]) -> Sequence[Any]:
        """The outputs, then (if any instruction is checked) the vector of flags."""
        observed = RUNTIME.observed
        return self.run(inputs, scalars) if observed is None else observed.run_compiled(self, inputs, scalars)

    def run(self, inputs: list[Any], scalars: list[Any]) -> Sequence[Any]:
        """The same, whoever watches."""
        if forking.State.lost:
            return self._interpret(inputs, scalars)
        if self.runs_to_trim:
            self.runs_to_trim -= 1
            if not self.runs_to_trim:
                give_back_freed_memory()
        if self.improving is not None:
            self._improve(inputs)
        if self.devices is not None:
            return self._run_on_many(inputs, scalars)
        if not self.scalar_groups:
            return self.executable(*inputs)
        vectors: Sequence[Any] = self.pack(scalars)
        # Numbers that stay the same from call to call stay on the device: a transfer costs more than a small program.
        content = b"".join([vector.tobytes() for vector in vectors])  # bytes tell 0.0 from -0.0
        last_content, last_vectors = self.last_scalars
        if content != last_content:
            self.last_scalars = (content, None)
        else:
            if last_vectors is None:
                last_vectors = [jax_module().device_put(vector, self.device) for vector in vectors]
                self.last_scalars = (content, last_vectors)
            vectors = last_vectors
        return self.executable(*inputs, *vectors)

    def _run_on_many(self, inputs: list[Any], scalars: list[Any]) -> Sequence[Any]:
        assert self.devices is not None
        inputs = list(inputs)
        meshes.bring_together(inputs, self.devices)
        meshes.wait_for_last(self.devices)
        results = self.executable(*inputs, *self.pack(scalars))
        meshes.note_last(self.devices, results)
        return results

    def _improve(self, inputs: list[Any]) -> None:
        """Notes a run of a quickly compiled program; compiles it well when its time has come."""
        improving = self.improving
        assert improving is not None
        improving.runs -= 1
        if not improving.runs:
            self.improving = None
            self.executable = improving.compile(inputs) or self.executable

    def _interpret(self, inputs: list[Any], scalars: list[Any]) -> Sequence[Any]:
        """The same in a forked process, which has no XLA; what is not acceptable raises at once."""
        try:
            values = run_on_numpy(self.program, inputs, scalars, watch_results(self.check_nan))
        except Problem as problem:
            raise problem.error from problem.error.__cause__
        results = [values[index] for index in self.outputs]
        return [*results, np.ones(self.num_flags, np.bool_)] if self.num_flags else results


class _Improving:
    """A program that was compiled quickly, and how often it has to run until it is worth compiling well.

    That happens between two runs, not beside them: kernels that are timed while the device works may be chosen badly, and
    trying them out takes memory that the program may need.
    """

    __slots__ = ("lowered", "options", "place", "runs")

    def __init__(self, lowered: Any, place: Place, program: Program, options: dict[str, Any]) -> None:
        self.lowered, self.place, self.options = lowered, place, options
        price = _TIMES_TO_EARN * cost.compiling_work(program, None, place)
        self.runs = max(_RUNS_TO_EARN, math.ceil(price / max(cost.cold_work(program, place), 1.0)))

    def compile(self, inputs: list[Any]) -> Any:
        """The better executable; None if there is none."""
        jax = started_jax()
        with suppress(Exception), waiting(*_well), jax.default_device(jax_device(self.place)):
            jax.block_until_ready(inputs)
            return self.lowered.compile(compiler_options=self.options or None)
        return None


def _explanation(program: Program) -> tuple[str, str]:
    """What compiling this program is called, and how long that takes as a rule."""
    size = len(program.instructions)
    usually = "1 to 5 s" if size < 300 else "5 to 30 s" if size < 3000 else "a minute or more"
    return f"XLA compiles a program of {size:,} operations, or loads it from the cache", usually


def lower_program(
    program: Program, inputs: list[Any], scalars: list[Any], place: Place, donated: tuple[int, ...] = (),
    check_nan: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """The Program as JAX's lowered form (StableHLO), and the context to compile it in."""
    jax = started_jax()
    groups = _group_scalars(program)
    devices = meshes.program_devices(program, inputs)
    kind = meshes.kernel_kind(place, devices)
    if not check_nan:  # which names the operation that was recorded
        program = joined(program, kind)

    def run(*arguments: Any) -> tuple[Any, ...]:
        results = _trace(jax.numpy, program, groups, arguments, place, kind, check_nan)
        if devices is None or len(results) == len(program.outputs):
            return results
        flags = jax.lax.with_sharding_constraint(results[-1], meshes.whole_on(devices))  # every process reads them
        return (*results[:-1], flags)

    run.__name__ = f"segment_of_{len(program.instructions)}"
    given = inputs if devices is None else meshes.abstract_inputs(program, inputs, devices)
    arguments = [*given, *_packed(groups, scalars)]
    # What is not bound to a device (arrays of NumPy, results of such a program) would silently go to JAX's default one.
    with warnings.catch_warnings(), jax.default_device(jax_device(place)):
        warnings.filterwarnings("ignore", message="Some donated buffers were not usable")
        # What is donated but not read is there to be written over, so it has to arrive.
        lowered = jax.jit(run, donate_argnums=donated, keep_unused=bool(donated)).lower(*arguments)
    return lowered, jax.default_device(jax_device(place))


def give_back_freed_memory() -> None:
    """Lets the system have what the C library keeps of freed memory.

    The runs before this one were NumPy's. XLA's threads allocate from heaps of their own, so what NumPy has freed by then
    would be of use to nobody, and the process twice as large as it need be.
    """
    for keeper in KEEPERS:
        keeper()
    if sys.platform != "linux":
        return
    with suppress(AttributeError, OSError):  # of another C library
        ctypes.CDLL(None).malloc_trim(0)


def _packed(groups: list[tuple[type, list[int]]], scalars: list[Any]) -> list[np.ndarray]:
    return [np.array([scalars[i] for i in numbers], SCALAR_DTYPES[kind]) for kind, numbers in groups]


def _group_scalars(program: Program) -> list[tuple[type, list[int]]]:
    """The numbers of a Program's scalars, by the Python type that they travel as."""
    groups: dict[type, list[int]] = {}
    for scalar in program.scalars:
        groups.setdefault(int if scalar.kind is bool else scalar.kind, []).append(scalar.number)
    return [(kind, groups[kind]) for kind in _KIND_ORDER if kind in groups]


def flagged_instructions(program: Program, check_nan: bool) -> list[Instruction]:
    """The instructions that report into the vector of flags, in its order."""
    return [instruction for instruction, _ in flags_of(program, check_nan)]


def _trace(
    jnp: Any, program: Program, groups: list[tuple[type, list[int]]], arguments: tuple[Any, ...], place: Place,
    kind: str, check_nan: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """The Program on XLA's tracers: those of its inputs, then a vector for each group of scalars."""
    inputs, vectors = arguments[: len(program.inputs)], arguments[len(program.inputs) :]
    scalars: dict[int, Any] = {}
    for (_, numbers), vector in zip(groups, vectors, strict=True):
        scalars.update((number, vector[row]) for row, number in enumerate(numbers))
    flags: list[Any] = []
    apart: frozenset[int] = endangered(program) if place is CPU else frozenset()

    def call(instruction: Instruction, given: list[Any]) -> tuple[Any, ...]:
        if instruction.index in apart:
            given = kept_apart(jax_module(), given)
        return call_watched(jnp, instruction, given, kind, flags, check_nan)

    values = program.evaluate(
        call,
        [jnp.asarray(value) for value in inputs],
        lambda operand: scalars[operand.number].astype(operand.dtype),
    )
    outputs = tuple(values[index] for index in program.outputs)
    return (*outputs, jnp.concatenate(flags)) if flags else outputs


def _flag(jnp: Any, instruction: Instruction, arguments: list[Any], results: tuple[Any, ...], check_nan: bool) -> Any:
    """True when the instruction's values are acceptable."""
    good = jnp.asarray(True)
    check = instruction.operation.check
    if instruction.flagged:
        assert check is not None
        good = check.condition(jnp, *arguments, *instruction.attributes)
    if check_nan:
        for result, aval in zip(results, instruction.outputs, strict=True):
            if can_be_nan(aval):
                good = good & jnp.isfinite(result).all()
    return good
