"""Tier 0 on an NVIDIA GPU: a Program runs op by op on CuPy, and nothing is compiled for a new shape.

Values at the borders of a segment are JAX arrays; inside, they are CuPy's. Both see the same memory (DLPack). An operation
that CuPy cannot do is a small jitted call instead, as everywhere else; which those are is remembered.

Order
* CuPy works on a stream of its own. An array of XLA's makes that stream wait for the work that gives the array (DLPack's
  handshake), and what comes back makes XLA's wait for CuPy's, all results of a run together: nothing waits on the host.
  What a run before made is CuPy's own, and in order anyway.
* XLA gives memory of its arrays away when Python lets go of them, and may write over what it is given, without knowing what
  CuPy still reads. So the inputs of a run are held until its work is done (`READING`), and a program that writes over its
  inputs waits for that (`settle`).
* CuPy's memory that became a JAX array returns to CuPy's pool when XLA lets go of it, which is when the programs that read
  it are done. But a program that writes its result over such an array lets go of it while the result lives there: so these
  arrays are known (`LENT`) and copied before they are donated (`donation.py`).

Memory. CuPy gets a pool beside XLA's, never larger than the part of the device that XLA leaves free. What does not fit, or
is as large as to be worth compiling at first sight, is XLA's.
"""

from __future__ import annotations

import functools
import importlib.util
import os
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ...core import flags
from ...core.errors import warn
from ...core.place import Place
from ..operation import Operation
from ..process import forking
from ..program import DynamicScalar, Instruction, Program
from .cupy_device import DEVICES, LOCK, CupyDevice, UnknownType
from .interpreter import Problem, call_jitted, run_on_jax
from .lent import Lent, brought_out

flags.define(
    "FLAGS_cupy", True, "Whether new code on an NVIDIA GPU runs op by op on CuPy, where that is installed.", "PROA_CUPY"
)

_LARGE = 1 << 28  # bytes from which on an array from the host is left to XLA
# Runs whose inputs are held at a time: more than this many are waited for.
_MOST_READING = 64
_MOST_OF_POOL = 0.7  # the rest is for what kernels need beside their results

READING: deque[tuple[Any, list[Any]]] = deque()  # an event behind each run, and the inputs that it reads
# What CuPy cannot do: operations, and which operand types of them.
_REFUSING: set[Operation] = set()
REFUSED: dict[tuple[Operation, tuple[Any, ...]], str] = {}


@functools.cache
def _device(place: Place) -> CupyDevice | None:
    """CuPy on that place; None where it cannot be used, which is said once."""
    why = why_not()
    if why:
        return None
    try:
        os.environ.setdefault("CUPY_TF32", "1")  # products as XLA multiplies float32 there, too
        import cupy  # type: ignore[import-not-found] # pyright: ignore

        return CupyDevice(cupy, place)
    except Exception as error:
        text = str(error).strip().splitlines()
        warn(
            f"CuPy cannot be used on {place}, new code is compiled op by op: {text[0] if text else error!r}",
            RuntimeWarning,
        )
        return None


def why_not() -> str:
    """Why CuPy is not used on GPUs, as far as that can be told without one; empty where it is."""
    if not flags.get("FLAGS_cupy"):
        return "FLAGS_cupy (PROA_CUPY) is off"
    if importlib.util.find_spec("cupy") is None:
        return "CuPy is not installed"
    return ""


def serves(place: Place) -> bool:
    """Whether cold code on that place runs on CuPy."""
    return place.kind == "gpu" and not forking.State.lost and flags.get("FLAGS_cupy") and _device(place) is not None


def suits(program: Program, place: Place) -> bool:
    """Whether a large Program runs as well op by op as compiled: its work is that of ready kernels (cuDNN's, of which XLA
    would try many for every shape), with nothing that XLA would have to compile, in the memory that CuPy may have."""
    device = _device(place) if serves(place) else None
    return device is not None and _is_quick(program) and _peak(program) <= _MOST_OF_POOL * device.pool.get_limit()


def _is_quick(program: Program) -> bool:
    products = ready = 0
    for instruction in program.instructions:
        operation = instruction.operation
        if getattr(operation.kernel, "has_effect", False) or (operation, _types(instruction)) in REFUSED:
            return False
        if any(a.dtype.kind in "fV" and a.dtype.name != "float32" for a in instruction.outputs):
            return False  # the other kernels are written for float32
        if operation.contracts:
            is_ready = getattr(operation.kernels.get("cupy"), "is_ready", None)
            products += 1
            ready += is_ready is not None and is_ready()
    return 2 * ready > products


def _peak(program: Program) -> int:
    """The most bytes that a run's values have at a time."""
    sizes: dict[int, int] = {}
    held = most = 0
    for instruction, ended in zip(program.instructions, program.last_uses(), strict=True):
        for number, aval in zip(instruction.made, instruction.outputs, strict=True):
            sizes[number] = aval.size * aval.dtype.itemsize
            held += sizes[number]
        most = max(most, held)
        held -= sum([sizes.get(number, 0) for number in ended])
    return most


def namespace(place: Place) -> Any:
    """The array namespace of what `run_on_cupy` shows to who watches it."""
    device = _device(place)
    assert device is not None
    return device.xp


def run_on_cupy(
    program: Program, inputs: list[Any], scalars: list[Any], place: Place, watch: Any = None, stays: bool = False
) -> list[Any]:
    """Values of the Program's outputs, computed with CuPy: as JAX arrays, or, if the result `stays` here, as `Lent`.

    `watch(instruction, operands, results)`, if given, looks at every result before it is used. It takes arrays of JAX's as
    well: what CuPy has no type or no memory for runs on XLA from the start.
    """
    device = _device(place)
    assert device is not None
    try:
        with LOCK:
            return _run(device, program, inputs, scalars, watch, stays)
    except (UnknownType, device.full):
        device.give_back()
    inputs = [brought_out(value) for value in inputs]
    return run_on_jax(program, inputs, scalars, place, watch)


def _run(
    device: CupyDevice, program: Program, inputs: list[Any], scalars: list[Any], watch: Any, stays: bool
) -> list[Any]:
    _let_go()
    with device.device, device.stream, device.cupy.cuda.using_allocator(device.pool.malloc):
        try:
            values = _interpret(device, program, inputs, scalars, watch)
            exported: set[int] = set()
            device.unseen = True
            for index in program.outputs:
                alone = device.alone(values[index], exported)
                values[index] = Lent(device, alone) if stays else device.as_jax(alone)
        finally:
            device.unseen = True
            READING.append((device.stream.record(), device.borrowed))
            device.borrowed = []
    return values


def filled(value: Any, real: tuple[int, ...], longer: tuple[int, ...], shape: tuple[int, ...], place: Place) -> Any:
    """An array of JAX's, seen as one of the shape `real`, with zeros up to `longer`, in the end of `shape`; XLA would
    compile that for every size."""

    def work(device: CupyDevice) -> Any:
        made = device.cupy.zeros(longer, value.dtype)
        made[tuple([slice(0, size) for size in real])] = device.entered(value).reshape(real)
        return made if longer == shape else made.reshape(shape)

    return _at_once(work, place)


def from_host(array: np.ndarray, place: Place) -> Any:
    """An array of the host's on a GPU; None where CuPy cannot have it. XLA copies it first, and takes two to three times as
    long."""
    if not array.size or array.dtype.kind not in "fiubc" or array.nbytes > _LARGE or not serves(place):
        return None
    device = _device(place)
    assert device is not None
    with suppress(device.full):
        return _at_once(lambda device: device.cupy.asarray(array), place)
    device.give_back()
    return None


def cut(value: Any, part: tuple[slice, ...], place: Place) -> Any:
    """A part of an array of JAX's, as an array of its own."""
    return _at_once(lambda device: device.entered(value)[part], place)


def _at_once(work: Callable[[CupyDevice], Any], place: Place) -> Any:
    """What CuPy makes of arrays of JAX's, as one of these."""
    device = _device(place)
    assert device is not None
    with LOCK:
        _let_go()
        with device.device, device.stream, device.cupy.cuda.using_allocator(device.pool.malloc):
            try:
                result = work(device)
                device.unseen = True
                return device.left(result, set())
            finally:
                READING.append((device.stream.record(), device.borrowed))
                device.borrowed = []


def _interpret(device: CupyDevice, program: Program, inputs: list[Any], scalars: list[Any], watch: Any) -> list[Any]:
    def call(instruction: Instruction, arguments: list[Any]) -> Sequence[Any]:
        results = _call(device, instruction, arguments)
        watch(instruction, arguments, results)
        return results

    def scalar(operand: DynamicScalar) -> Any:
        """A number goes into CuPy's kernels as an argument; an array would have to be copied there first."""
        value, dtype = scalars[operand.number], operand.dtype
        if value.__class__ is float and dtype.kind == "f":
            return dtype.type(value)
        return np.asarray(value).astype(dtype)[()]

    return program.evaluate(
        functools.partial(_call, device) if watch is None else call, _Entered(device, inputs), scalar
    )


class _Entered(list[Any]):
    """Inputs as CuPy sees them, each from when it is first used."""

    def __init__(self, device: CupyDevice, inputs: list[Any]) -> None:
        super().__init__([None] * len(inputs))
        self.device, self.inputs = device, inputs

    def __getitem__(self, position: Any) -> Any:
        found = super().__getitem__(position)
        if found is None:
            found = self[position] = self.device.entered(self.inputs[position])
        return found


def _call(device: CupyDevice, instruction: Instruction, arguments: list[Any]) -> Sequence[Any]:
    """The results of one instruction: on CuPy, or through XLA where CuPy refuses."""
    operation = instruction.operation
    if operation in _REFUSING and (operation, _types(instruction)) in REFUSED:
        return _call_xla(device, instruction, arguments)
    kernel = operation.kernels.get("cupy") or operation.kernel
    if getattr(operation.kernel, "has_effect", False):  # which is not to be seen twice
        return _call_xla(device, instruction, arguments)
    try:
        if operation.variadic:
            results = kernel(device.xp, arguments, *instruction.attributes)
        else:
            results = kernel(device.xp, *arguments, *instruction.attributes)
        outputs = instruction.outputs
        if results.__class__ is device.array_type:
            aval = outputs[0]  # the usual case: one result, and as it should be
            if results.dtype == aval.dtype and results.shape == aval.shape and len(outputs) == 1:
                return (results,)
        return _as_inferred(device, instruction, results if results.__class__ is tuple else (results,))
    except device.full:
        raise
    except Exception as error:
        # Whatever it was, XLA has the last word: it does what CuPy cannot, and raises what is the user's own error.
        results = _call_xla(device, instruction, arguments)
        _REFUSING.add(operation)
        REFUSED[operation, _types(instruction)] = f"{type(error).__name__}: {error}"
        return results


def _types(instruction: Instruction) -> tuple[Any, ...]:
    return tuple([getattr(kind, "dtype", kind) for kind in instruction.kinds])


def _as_inferred(device: CupyDevice, instruction: Instruction, results: tuple[Any, ...]) -> list[Any]:
    """What a kernel gave, as arrays of CuPy's of the inferred types; TypeError where it is something else."""
    name = instruction.operation.name
    found: list[Any] = []
    for result, aval in zip(results, instruction.outputs, strict=True):
        if not isinstance(result, device.array_type):
            if not isinstance(result, (np.ndarray, np.generic)):
                raise TypeError(f"the kernel of {name} gives a {type(result).__name__}")
            result = device.cupy.asarray(result)
        if result.dtype != aval.dtype:
            result = result.astype(aval.dtype)
        if result.shape != aval.shape:
            raise TypeError(f"the kernel of {name} gives the shape {result.shape} instead of {aval.shape}")
        found.append(result)
    return found


def _call_xla(device: CupyDevice, instruction: Instruction, arguments: list[Any]) -> list[Any]:
    """The same through a small jitted call; its operands and results go over the border."""
    shared: set[int] = set()
    device.unseen = True
    try:
        given = [device.left(a, shared) if isinstance(a, device.array_type) else a for a in arguments]
        results = call_jitted(instruction, given, device.place)
        return [device.entered(result) for result in results]
    except (Problem, UnknownType, device.full):
        raise
    except Exception as error:
        raise Problem(error, instruction.index) from error


def _let_go() -> None:
    """Forgets the inputs of runs that are done."""
    while READING and (READING[0][0].done or len(READING) > _MOST_READING):
        READING[0][0].synchronize()
        READING.popleft()


def pool_bytes() -> int:
    """The memory that CuPy's pools have taken from the devices of this process."""
    return sum(device.pool.total_bytes() for device in DEVICES)


def settle() -> None:
    """Waits until CuPy has read all that it was given: before a program that writes over its inputs."""
    with LOCK:
        while READING:
            READING[0][0].synchronize()
            READING.popleft()
