"""Running segments: a flush gives the live tensors their values, on tier 0 or on tier 1.

    Segment ──flush──► new: tier 0, op by op · seen often: tier 1, one executable

Invariants
* Which results are kept is decided by reference count at the flush (see memory.py).
* A flush that is interrupted can be repeated; one that fails marks what is lost, and later uses raise the same error.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from ...core.errors import locate
from ...core.place import CPU
from .. import meshes, report
from ..observing import RUNTIME
from ..process import forking
from ..process.interrupt import uninterrupted
from ..tiers import cupy_tier, executables
from ..tiers.cupy_tier import run_on_cupy
from ..tiers.executables import Entry
from ..tiers.interpreter import Problem, run_alone, run_on_jax, run_on_numpy
from ..tiers.lent import Lent, bring_out, brought_out
from ..trace import TraceNode, next_sighting
from ..transforms import donation
from ..watch import watch_results
from .cutting import note_late_read
from .deferred import Unchecked, spread_failure, verify_values
from .memory import is_past, live_tensors
from .mode import WHOLE, Mode
from .period import aligned_window, is_loop
from .segment import STATE, Failure, Segment
from .thread_state import LOCAL

_ndarray = np.ndarray
_MOST_UNCHECKED = 64
# In how many runs of a path late reads are looked for.
_RUNS_TO_LEARN_FROM = 16


def value_of(tensor: Any) -> Any:
    """The value of a tensor, computed now if it is pending; raises the error that prevents it."""
    lost: Segment | None = None
    while True:
        with STATE:
            value, segment, index = tensor._value, tensor._segment, tensor._index
        if value is not None:
            if value.__class__ is Failure:
                raise value.error.with_traceback(None)
            return take_out(tensor, value) if value.__class__ is Lent else value
        if segment.captures:
            from ..capture import refuse_to_read

            raise refuse_to_read()
        if lost is segment:
            raise RuntimeError("a tensor was dropped while its value was computed; keep a reference to it.")
        if segment.thread == threading.get_ident() or segment.live is not None:
            flush(segment)
        else:
            value = _compute_foreign(segment, index)
            if value is not None:
                return value
        lost = segment if segment.done else None


def take_out(tensor: Any, value: Lent) -> Any:
    """The value of a tensor that is still CuPy's, as everybody knows it; the tensor gets it."""
    made = value.get()
    with STATE:
        if tensor._value is value:
            tensor._value = made
    return made


def read(tensor: Any) -> Any:
    """The user looks at a tensor's value: gives it, and learns where segments are best cut."""
    index, segment, value = tensor._index, tensor._segment, tensor._value
    if value is None:
        # On many devices all processes must cut alike, whichever of them reads.
        if segment is LOCAL.segment and not Mode.deterministic and segment.root.window < WHOLE and not segment.devices:
            note_late_read(segment.node, index)
        return value_of(tensor)
    recent = LOCAL.recent
    if recent is not None:
        end, made = recent
        if made.get(id(value)) == index:
            LOCAL.recent = None
            note_late_read(end, index)
    return take_out(tensor, value) if value.__class__ is Lent else value


def _compute_foreign(segment: Segment, index: int) -> Any:
    """One value of a segment that another thread is still recording; None if the segment has run meanwhile.

    Neither the segment nor the tensor gets it: their owner goes on as if nobody had looked.
    """
    with segment.lock:
        if segment.done:
            return None
        found = segment.foreign.get(index)
        if found is not None:
            return found
        node: TraceNode | None = segment.node
        while (
            node is not None
            and node.index != index
            and not (node.index <= index < node.next_index and node.instruction)
        ):
            node = node.parent
        assert node is not None, "a pending tensor lies on its segment's path"
        program = node.program((index,)).slice((index,))
        try:
            value = brought_out(_run_tier0(segment, program, segment.inputs, segment.scalars)[index])
        except Problem as problem:
            locate(problem.error, segment.locations.get(problem.index))
            raise problem.error from problem.error.__cause__
        if value.__class__ is _ndarray and not value.flags.owndata:
            value = value.copy()  # it shows an input, whose memory the owner may write over
        segment.foreign[index] = value
        return value


def flush(segment: Segment, full: bool = False) -> None:
    """Runs a segment: its live tensors get their values."""
    if segment.captures:
        return
    with segment.lock:
        if segment.done:
            return
        if LOCAL.segment is segment:
            if not full and LOCAL.window != WHOLE:
                LOCAL.window = 0  # the loop that it was made for has ended, or reads now
            LOCAL.segment = Segment(segment.root.place, LOCAL.lock, LOCAL.window, LOCAL.scope)
        if segment.live is None:
            segment.live = live_tensors(segment)
        live = segment.live
        if live:
            outputs = (live[0][1],) if len(live) == 1 else tuple(dict.fromkeys([index for _, index in live]))
            _run(segment, live, outputs)
        segment.done = True
        segment.inputs = []
        segment.input_ids = {}
        segment.foreign = {}
        segment.live = []
        segment.begun = None


def after_record(segment: Segment, node: TraceNode) -> None:
    """What few instructions need behind them (`node.hook`); the segment runs if it ends here."""
    segment.note(node)
    root = segment.root
    if root.immediate or node.cut:
        flush(segment)
    elif node.next_index >= root.window:
        _flush_full_window(segment)
    elif node.is_checkpoint and root.window == Mode.window and is_past(segment):
        if is_loop(node.program(()).instructions):
            _flush_full_window(segment, node.next_index)
        else:
            node.is_checkpoint = False  # one large computation (high derivatives), which is worth more in one piece


def _flush_full_window(segment: Segment, window: int = 0) -> None:
    """Runs a segment because it is long enough, and plans where the next ones end."""
    if segment.root.window == Mode.window:
        window = window or Mode.window
        instructions = segment.node.program(()).instructions
        aligned = aligned_window(instructions, window)
        LOCAL.window = aligned if aligned != Mode.window else 0
    flush(segment, full=True)


def _run(segment: Segment, live: list[tuple[Any, int]], outputs: tuple[int, ...]) -> None:
    entry = executables.find_entry(segment.node, outputs)
    entry.count += 1
    root = segment.root
    LOCAL.recent = None
    entry.sighting = next_sighting()
    if Mode.sharded:
        segment.devices = segment.devices or entry.devices
    if segment.devices is not None and meshes.is_elsewhere(segment.devices):
        _deliver(segment, live, _absent(segment.devices, live))
        return
    if segment.devices is not None:
        if Lent.exist:
            bring_out(segment.inputs)
        meshes.wait_for_last(segment.devices)  # before it is asked who else refers to its results
        meshes.bring_together(segment.inputs, segment.devices)
    compiled = entry.compiled  # another thread may drop it from the entry at any time
    if root.immediate or forking.State.lost:  # a forked process has no XLA
        compiled = None
    elif compiled is None:
        compiled = executables.find_executable(segment, entry)
    if compiled is not None and Lent.exist:
        bring_out(segment.inputs)
    if compiled is not None and compiled.copies >= executables.MOST_COPIES:
        compiled = executables.donate_less(segment, entry, compiled)
    if compiled is not None:
        executables.count_hit(entry)
        if len(LOCAL.unchecked) >= _MOST_UNCHECKED:
            verify_values()
        if segment.begun is not None and segment.begun.program is not compiled:
            segment.begun.program.forgotten += 1
        with uninterrupted(bool(compiled.donated)):
            values = _run_tier1(segment, entry, compiled, live)
            _deliver(segment, live, values)
        if entry.count <= _RUNS_TO_LEARN_FROM and not segment.devices:
            _note_run(segment.node, values)
        return
    report.count_cold(entry)
    entry.note_cold_run()
    try:
        values = _run_tier0(segment, entry.program, segment.inputs, segment.scalars)
    except Problem as problem:
        _deliver_unharmed(segment, live, entry.program, problem)
        segment.done = True
        raise problem.error from problem.error.__cause__
    _deliver(segment, live, values)
    if entry.count <= _RUNS_TO_LEARN_FROM and not segment.devices:
        _note_run(segment.node, {index: values[index] for index in outputs})


def _deliver_unharmed(segment: Segment, live: list[tuple[Any, int]], program: Any, problem: Problem) -> None:
    """After an instruction has failed: what depends on it is lost, everything else gets its value."""
    locate(problem.error, segment.locations.get(problem.index))
    live = spread_failure(live, program, problem.index, problem.error)
    if not live:
        return
    needed = program.slice(tuple(dict.fromkeys([index for _, index in live])))
    try:
        values = _run_tier0(segment, needed, segment.inputs, segment.scalars)
    except Problem as another:
        _deliver_unharmed(segment, live, needed, another)
    else:
        _deliver(segment, live, values)


def _absent(devices: tuple[int, ...], live: list[tuple[Any, int]]) -> dict[int, Any]:
    """The results of a program that other processes run."""
    sharding = meshes.whole_on(devices)
    return {index: meshes.absent(tensor._aval.shape, tensor._aval.dtype, sharding) for tensor, index in live}


def _note_run(end: TraceNode, values: dict[int, Any]) -> None:
    """Lets `read` know what was made, in the first runs of a path."""
    assert end.root is not None
    if end.late_reads >= 0 and end.root.window < WHOLE and not Mode.deterministic:
        LOCAL.recent = (end, {id(value): index for index, value in values.items()})


def _deliver(segment: Segment, live: list[tuple[Any, int]], values: Any) -> None:
    if segment.devices is not None and len(segment.devices) == 1 and meshes.several_processes():
        values = {index: meshes.on_mesh(values[index], segment.devices) for _, index in live}
    if not Mode.threaded:
        for tensor, index in live:
            tensor._value = values[index]
            tensor._segment = None
        return
    with STATE:
        for tensor, index in live:
            # Another thread may have given it another value meanwhile.
            if tensor._segment is segment and tensor._index == index:
                tensor._value = values[index]
                tensor._segment = None


def _run_tier0(segment: Segment, program: Any, inputs: list[Any], scalars: list[Any]) -> Any:
    if segment.root.immediate and program.instructions and program.instructions[-1].operation.alone:
        return run_alone(program, [brought_out(value) for value in inputs])
    place = segment.root.place
    check_nan = segment.root.check_nan
    watch = watch_results(check_nan) if check_nan or segment.locations else None
    devices = segment.devices
    observed = RUNTIME.observed
    if observed is None and place is CPU and devices is None:
        return run_on_numpy(program, inputs, scalars, watch, check_nan)
    if watch is not None and devices is None and place is not CPU and cupy_tier.serves(place):
        watch = watch_results(check_nan, cupy_tier.namespace(place))
    if observed is None and devices is None and cupy_tier.serves(place):
        return run_on_cupy(program, inputs, scalars, place, watch, not Mode.sharded)
    inputs = [brought_out(value) for value in inputs]
    if observed is not None:
        return observed.run_cold(_run_cold, program, watch, inputs, scalars, place, devices)
    return _run_cold(program, inputs, scalars, place, devices, watch)


def _run_cold(program: Any, inputs: list[Any], scalars: list[Any], place: Any, devices: Any, watch: Any) -> Any:
    if devices is not None:
        return run_on_jax(program, inputs, scalars, place, watch, devices)
    if place is CPU:
        return run_on_numpy(program, inputs, scalars, watch)
    if cupy_tier.serves(place):
        return run_on_cupy(program, inputs, scalars, place, watch)
    return run_on_jax(program, inputs, scalars, place, watch)


def _run_tier1(segment: Segment, entry: Entry, compiled: Any, live: list[tuple[Any, int]]) -> dict[int, Any]:
    inputs = donation.protect(segment.inputs, compiled)
    begun = segment.begun
    if begun is not None and begun.program is compiled:
        results = begun.finish(inputs, segment.scalars)
    else:
        results = compiled(inputs, segment.scalars)
    values = dict(zip(compiled.outputs, results, strict=False))
    if compiled.num_flags:
        LOCAL.unchecked.append(Unchecked(results[-1], segment, entry, live))
    return values
