"""`proa.debug.nan()`: where the first NaN or infinity came from, by layer and by line, in a compiled step too.

    with proa.debug.nan():
        for x, y in loader:
            train_step(x, y)

Inside the block every result is checked where it is computed (`ir/watch.py`): cold code at that operation, a compiled
step by a flag that it returns for each operation. The layer comes from what was recorded while the layer was being
called. What went into the operation of a compiled step is found by running that step once more, op by op, from its kept
inputs.
"""

from __future__ import annotations

import contextlib
import functools
import linecache
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import flags
from ..core.dtype import is_differentiable, name_of
from ..ir.layer_ranges import program_of
from ..ir.observing import RUNTIME, Observer
from ..ir.recorder import LOCAL, flush_current, verify_values
from ..ir.tiers.interpreter import run_on_numpy
from ..ir.watch import NonFiniteError

_FLAG = "FLAGS_check_nan_inf"
_KEPT_RUNS = 8


@dataclass
class OperandStatistics:
    """What an operation was given, or what it gave, in figures.

    Examples:
        >>> print(paddle.debug.OperandStatistics("x", "float32", [3], -1.0, 2.0, num_nan=1, num_inf=0))
        float32[3], finite elements from -1 to 2, 1 NaN, 0 infinite
    """

    name: str
    dtype: str
    shape: list[int]
    minimum: float | None  # of the finite elements
    maximum: float | None
    num_nan: int
    num_inf: int

    def __str__(self) -> str:
        if self.minimum is None:
            extent = "no finite element"
        else:
            extent = f"finite elements from {self.minimum:.6g} to {self.maximum:.6g}"
        return f"{self.dtype}{self.shape}, {extent}, {self.num_nan} NaN, {self.num_inf} infinite"


@dataclass
class NanReport:
    """Where a NaN or infinity came from; prints as a small table.

    Examples:
        >>> x = paddle.to_tensor([-1.0, 4.0])
        >>> try:
        ...     with paddle.debug.nan():
        ...         y = float(paddle.sqrt(x).sum())
        ... except FloatingPointError as error:
        ...     print(error.report.operation)
        sqrt
    """

    operation: str
    layer: str | None  # path below the outermost layer; in a backward pass, of the layer whose values it works on
    phase: str  # forward, backward or update
    file: str
    line: int
    source: str
    result: OperandStatistics | None
    operands: list[OperandStatistics]
    compiled: bool

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" + (f": {self.source}" if self.source else "")
        rows = [
            ("layer", self.layer or "outside of all layers"),
            ("phase", f"{self.phase}, {'compiled' if self.compiled else 'op by op'}"),
            ("operation", self.operation),
            ("line", where),
            *((operand.name, str(operand)) for operand in self.operands),
        ]
        if self.result is not None:
            rows.append(("result", str(self.result)))
        width = max(len(name) for name, _ in rows)
        return "\n".join(["The first NaN or infinity:", *(f"  {name:<{width}}  {text}" for name, text in rows)])


class _Location(tuple):  # type: ignore[type-arg]
    """The file and line of a recorded operation, with its layer and phase."""

    layer: str
    phase: str


class _Watcher(Observer):
    """Writes layers and phases beside the recorded lines, and keeps the inputs of the last compiled runs."""

    keeps_inputs = True

    def __init__(self) -> None:
        self.segment: Any = LOCAL.segment
        self.index = self.segment.node.next_index
        self.phases: list[str] = []
        self.layers: list[str] = []
        self.runs: deque[tuple[Any, list[Any], list[Any]]] = deque(maxlen=_KEPT_RUNS)
        self.tables: deque[dict[int, Any]] = deque([self.segment.locations], maxlen=2 * _KEPT_RUNS)
        self.failed_in: str | None = None

    def mark(self) -> None:
        """Everything recorded since the last mark belongs to the layer and phase of now."""
        segment = LOCAL.segment
        layer, phase = self.layers[-1] if self.layers else "", self.phases[-1] if self.phases else "forward"
        if segment is not self.segment:
            _annotate(self.segment.locations, self.index, layer, phase)
            self.segment, self.index = segment, 0
            self.tables.append(segment.locations)
        _annotate(segment.locations, self.index, layer, phase)
        self.index = segment.node.next_index

    def layer_entered(self, path: str, layer: Any) -> None:
        self.mark()
        self.layers.append(f"{path} ({type(layer).__name__})")

    def layer_left(self, path: str, layer: Any, begin: int, end: int) -> None:
        self.mark()
        self.layers.pop()

    def layer_failed(self, path: str, error: BaseException) -> None:
        if self.failed_in is None:
            self.failed_in = self.layers[-1]

    def phase_entered(self, name: str) -> None:
        self.mark()
        self.phases.append(name)

    def phase_left(self, name: str, begin: int, end: int) -> None:
        self.mark()
        self.phases.pop()

    def ran_compiled(self, executable: Any, inputs: Any, scalars: Any, begin: int, end: int) -> None:
        program = program_of(executable)
        if program is not None:
            self.runs.append((program, list(inputs), list(scalars)))


def _annotate(locations: dict[int, Any], begin: int, layer: str, phase: str) -> None:
    for index in reversed(locations):  # in the order of recording
        if index < begin or isinstance(locations[index], _Location):
            break
        location = _Location(locations[index])
        location.layer, location.phase = layer, phase
        locations[index] = location


class nan(contextlib.ContextDecorator):
    """Raises at the first NaN or infinity inside the block (or the decorated function) and says where it came from.

    The error is a FloatingPointError whose `report` is a `NanReport`; the block's own object has it as `report` too.
    Work inside is slower: each result is checked, and steps are compiled anew with their checks.

    Examples:
        >>> x = paddle.to_tensor([-1.0, 4.0])
        >>> try:
        ...     with paddle.debug.nan():
        ...         y = float(paddle.sqrt(x).sum())
        ... except FloatingPointError as error:
        ...     print(error.report.operation, error.report.phase)
        sqrt forward
    """

    def __init__(self) -> None:
        self.report: NanReport | None = None

    def _recreate_cm(self) -> nan:
        return nan()

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with nan():
                return func(*args, **kwargs)

        return inside

    def __enter__(self) -> nan:
        self._before = flags.get(_FLAG)
        flags.set_flags({_FLAG: True})
        self._watcher = _Watcher()
        RUNTIME.attach(self._watcher)
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        failure = error
        try:
            if error is None:
                flush_current()
                verify_values()
        except NonFiniteError as found:
            failure = found
            raise
        finally:
            self._watcher.mark()
            if isinstance(failure, NonFiniteError):
                self._explain(failure)
            RUNTIME.detach(self._watcher)
            # What is still pending would be checked again here; the first error is the one that counts.
            with contextlib.suppress(NonFiniteError) if failure is not None else contextlib.nullcontext():
                flags.set_flags({_FLAG: self._before})

    def _explain(self, error: NonFiniteError) -> None:
        known = error.report
        if known is None:
            known = error.report = make_report(error, self._watcher)
            error.add_note(str(known))
        self.report = known


def make_report(error: NonFiniteError, watcher: _Watcher) -> NanReport:
    """What is known about an error that came up while `watcher` watched."""
    instruction = error.instruction
    location = getattr(error, "proa_location", None) or ("<unknown>", 0)
    operands, compiled = error.operands, False
    if operands is None:
        operands, compiled = _replay(instruction, watcher.runs), True
    layer, phase = getattr(location, "layer", None), getattr(location, "phase", None)
    if phase is None:  # it came up before the layer was left
        layer, phase = watcher.failed_in, watcher.phases[-1] if watcher.phases else "forward"
    if not layer:
        layer = next((found for t in watcher.tables if (found := _layer_of_operands(instruction, t, location))), None)
    names = instruction.operation.operand_names
    if instruction.operation.variadic:
        names = [f"x[{i}]" for i in range(len(instruction.operands))]
    found = [
        _statistics(name, np.asarray(value))
        for name, value in zip(names, operands or [], strict=False)
        if value is not None
    ]
    return NanReport(
        operation=instruction.operation.name,
        layer=layer or None,
        phase=phase,
        file=location[0],
        line=location[1],
        source=linecache.getline(location[0], location[1]).strip(),
        result=_result(instruction, operands),
        operands=found,
        compiled=compiled,
    )


def _layer_of_operands(instruction: Any, locations: dict[int, Any], location: Any) -> str:
    """The layer that computed the newest value the operation works on: for gradients, the layer they belong to."""
    if locations.get(instruction.index) != location:
        return ""
    indices = sorted(instruction.used, reverse=True)
    return next((layer for i in indices if (layer := getattr(locations.get(i), "layer", ""))), "")


class _Found(Exception):
    """Ends a replay: the operation's operands are there."""


def _replay(instruction: Any, runs: deque[tuple[Any, list[Any], list[Any]]]) -> list[Any] | None:
    """What the operation was given in the compiled run that went wrong, computed again op by op."""
    operands: list[Any] | None = None

    def watch(other: Any, arguments: list[Any], results: Any) -> None:
        nonlocal operands
        if other is instruction:
            operands = list(arguments)
            if not np.isfinite(np.asarray(results[0])).all():
                raise _Found

    for program, inputs, scalars in runs:
        if instruction in program.instructions:
            try:
                run_on_numpy(program, inputs, scalars, watch)
            except _Found:
                break
            except Exception:  # an input is gone: nothing to be told about the operands
                continue
    return operands


def _result(instruction: Any, operands: list[Any] | None) -> OperandStatistics | None:
    """The figures of the result, computed once more from the operands."""
    if operands is None:
        return None
    operation = instruction.operation
    kernel = operation.kernels.get("numpy") or operation.kernel
    host = [None if value is None else np.asarray(value) for value in operands]
    try:
        with np.errstate(all="ignore"):
            results = kernel(np, host, *instruction.attributes) if operation.variadic else kernel(
                np, *host, *instruction.attributes
            )  # fmt: skip
    except Exception:
        return None
    return _statistics("result", np.asarray(results[0] if isinstance(results, tuple) else results))


def _statistics(name: str, array: np.ndarray) -> OperandStatistics:
    if not is_differentiable(array.dtype):
        values = array.astype(np.float64) if array.dtype.kind in "biu" else np.zeros(0)
    elif array.dtype.kind == "c":
        values = np.abs(array)
    else:
        values = array.astype(np.float64)
    finite = values[np.isfinite(values)]
    return OperandStatistics(
        name,
        name_of(array.dtype),
        list(array.shape),
        float(finite.min()) if finite.size else None,
        float(finite.max()) if finite.size else None,
        int(np.isnan(values).sum()),
        int(np.isinf(values).sum()),
    )
