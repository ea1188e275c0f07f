"""The recorder: eager calls append to the thread's segment; segments run when somebody looks.

    user's call ──► Segment (walks the trace tree) ──flush──► new: tier 0, op by op · seen often: tier 1, one executable

Invariants
* A segment belongs to the thread that records it, and only that thread appends to it. Another thread that needs a
  pending value computes just that value's slice from the (immutable) path, under the segment's lock, and leaves no trace
  in the segment or the tensor: whoever is looked at records and runs the same as undisturbed.
* `tensor._segment is segment` with a non-negative `_index` and no `_value` means pending; with a negative index it only
  means that the tensor is input `~index` of that segment (it has its value).
* A tensor may be used and changed by several threads at once. Value, segment and index of a tensor that others may know
  change under the lock `STATE` (noting an input: once a second thread records), the segment before the index. Recording
  takes no lock: it reads the index first, then the segment, so that what it sees is either its own or sends it to
  `Segment.input_index`.
* Which results are kept is decided by reference count at the flush: what only the segment refers to is dead.
* A flush that is interrupted can be repeated; one that fails marks what is lost, and later uses raise the same error.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from sys import getrefcount
from typing import Any

import numpy as np

from ..core import flags
from ..core.errors import locate, message, user_location
from ..core.locks import new_reentrant_lock
from ..core.memory import check_allocation
from ..core.place import CPU, Place, default_place
from . import cost, cupy_tier, donation, forking, report
from .cupy_tier import run_on_cupy
from .cutting import note_late_read
from .interpreter import Problem, run_on_jax, run_on_numpy
from .interrupt import uninterrupted
from .operation import NeedsCast, OperandKind, Operation, PrefersHost
from .period import aligned_window
from .program import Instruction
from .references import HELD_BY_A_NAME
from .tiling import find_tiles
from .trace import Scope, TraceNode, TraceRoot, find_root, grow_instruction, grow_leaf, move_into, next_sighting
from .watch import nan_error, watch_results

_ndarray = np.ndarray
# Held while value, segment and index of a tensor change (see above).
STATE = new_reentrant_lock()
# The window of a segment that is not cut, however long it gets (see `one_segment`).
WHOLE = 1 << 40
# That of a segment which is not compiled, however heavy (see `apart`).
ONCE = WHOLE + 1
_MOST_UNCHECKED = 64
# How many more runs until a program that could not be compiled is tried again.
_RETRY_AFTER = 1000
# How often a path is seen before it is compiled where running it op by op compiles, too.
_SEEN_OFTEN = 3
# Copies of donated inputs that were still in use, after which a program is compiled without donating them.
_MOST_COPIES = 50
# In how many runs of a path late reads are looked for.
_RUNS_TO_LEARN_FROM = 16
# Elements made by a path that is compiled when first seen: running it op by op takes longer than compiling it (a training
# step of ResNet-50 makes 700 million), and in the next process even its first run finds an executable.
_HEAVY = 1 << 28


class Failure:
    """Stands where a value would be when the operation that should give it failed."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


class Ending:
    """One way a path ends: which values are wanted, how often it was seen, what it has cost, and the executable once it is
    hot."""

    __slots__ = ("compiled", "count", "price", "program", "sighting", "work")

    def __init__(self, node: TraceNode, outputs: tuple[int, ...]) -> None:
        self.program = node.program(outputs)
        self.count = 0
        self.sighting = 0  # when it was last seen (see `trace.forget_unused`)
        self.work = self.price = 0.0  # of a cold run, of compiling (see cost.py); not before it is seen again
        self.compiled: Any = None

    @property
    def spent(self) -> float:
        """The work of all cold runs so far."""
        return (self.count - 1) * self.work

    def pays(self, place: Place) -> bool:
        """Whether the work spent on it exceeds what compiling it is expected to cost."""
        if self.count < 2:
            return False
        if not self.price:
            self.work = cost.cold_work(self.program, place)
            self.price = cost.compiling_work(self.program, find_tiles(self.program, place), place)
        return self.spent >= self.price


class Segment:
    """Work recorded by one thread and not run yet."""

    captures = False  # whether it is kept as a graph instead of being run (see capture.py)
    assumptions: Any = None  # of a capture: the sizes that are not known (see dimensions.py)
    owner: Any = None  # the static program that it belongs to

    __slots__ = (
        "begun",
        "done",
        "foreign",
        "input_ids",
        "inputs",
        "live",
        "locations",
        "lock",
        "node",
        "refs",
        "root",
        "scalars",
        "stepped",
        "thread",
        "unchecked_size",
    )  # fmt: skip

    def __init__(self, place: Place, lock: Any, window: int = 0, scope: Scope | None = None) -> None:
        self.root = self.node = find_root(place, _Mode.immediate, _Mode.check_nan, window or _Mode.window)
        if scope is not None:
            self.node = move_into(self.node, scope)
        self.refs: list[Any] = []  # every tensor made here; strong, see `_live_tensors`
        self.inputs: list[Any] = []
        self.input_ids: dict[Any, int] = {}
        self.scalars: list[Any] = []
        self.locations: dict[int, tuple[str, int]] = {}
        self.live: list[tuple[Any, int]] | None = None
        self.foreign: dict[int, Any] = {}  # values that other threads have looked at, by index
        self.begun: Any = None  # the run of a long loop whose first tiles were launched already (see tiling.py)
        self.stepped = False  # an optimiser step was recorded: the next natural boundary flushes
        self.done = False
        self.unchecked_size = 0  # elements of inputs since it was last asked how many of them nobody else refers to
        self.lock = lock
        self.thread = threading.get_ident()

    def input_index(self, tensor: Any) -> int:
        """Makes a tensor that has (or can get) a value an input of this segment."""
        value = tensor._value
        if value is None or value.__class__ is Failure:
            value = value_of(tensor)
        aval = tensor._aval
        if aval.place is not self.root.place:
            raise WrongPlace(aval.place)
        index = self.input_ids.get(id(value))
        if index is None:
            edge: Any = aval
            if value.__class__ is not _ndarray and _Mode.sharded:
                sharding = value.sharding
                if len(sharding.device_set) > 1:
                    edge = (aval, sharding)
            node = self.node.get(edge)
            self.node = node if node is not None else grow_leaf(self.node, edge)
            index = ~len(self.inputs)
            self.inputs.append(value)
            self.input_ids[id(value)] = index
            self.unchecked_size += aval.size
            if self.unchecked_size > _Mode.pending_size:
                self._bound_memory()
        if _Mode.threaded:
            with STATE:
                if tensor._value is value:
                    tensor._segment = self
                    tensor._index = index
        elif tensor._value is value:
            tensor._segment = self
            tensor._index = index
        return index

    def existing_parameter(self, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
        """The parameter that code asks for by a name that exists: static programs share parameters so."""

    def note_parameter(self, parameter: Any, initializer: Any) -> None:
        """A parameter was made: who keeps a program remembers how it is initialised."""

    def note_states(self, tensors: Any) -> None:
        """An optimiser has made its states."""

    def after_record(self, node: TraceNode) -> None:
        """What few instructions need: remember the user's line, run at once, run because the window is full."""
        root = self.root
        instruction = node.instruction
        assert instruction is not None
        check = instruction.operation.check
        if check is not None and not instruction.flagged:
            self._check_now(node, instruction)
        if node.scope is not None and node.scope.observe is not None:
            node.scope.observe(instruction)
        if root.check_nan or instruction.flagged:
            self.locations[node.index] = user_location(2)
        if node.launches is not None and not forking.State.lost:
            self._run_early(node)
        if root.immediate or node.cut:
            flush(self)
        elif node.next_index >= root.window:
            _flush_full_window(self)
        elif node.is_checkpoint and root.window == _Mode.window and _is_past(self):
            _flush_full_window(self, node.next_index)

    def _bound_memory(self) -> None:
        """Has the segment run at the next boundary if it keeps much memory alive that nobody else refers to: a loop whose
        results are not read."""
        self.unchecked_size = 0
        if not self.captures and self.root.window != WHOLE:
            orphans = sum(self.inputs[position].nbytes for position in donation.donatable(self.inputs))
            self.stepped = self.stepped or orphans > _Mode.pending

    def _run_early(self, node: TraceNode) -> None:
        from .tiling import run_early

        self.begun = run_early(self.begun, node, self.inputs, self.scalars)

    def _check_now(self, node: TraceNode, instruction: Instruction) -> None:
        """Runs a check whose operands are known; a bad call is taken back before its error is raised."""
        check = instruction.operation.check
        assert check is not None
        host: list[Any] = [None] * len(instruction.operands)
        for position in check.operands:
            operand = instruction.operands[position]
            if operand is not None:
                host[position] = np.asarray(self.inputs[~operand])
        if not check.condition(np, *host, *instruction.attributes):
            assert node.parent is not None
            self.node = node.parent
            while self.refs and self.refs[-1]._index >= node.index:
                self.refs.pop()
            if instruction.scalar_dtypes:
                del self.scalars[-len(instruction.scalar_dtypes) :]
            raise instruction.value_error()


class WrongPlace(Exception):
    """An operand lives on another device than the segment; the dispatcher moves it or changes the segment."""

    def __init__(self, place: Place) -> None:
        super().__init__(str(place))
        self.place = place


class _Mode:
    """Process-wide recording mode, mirrored from the flags."""

    immediate = False
    check_nan = False
    window = 20000
    threshold = 0  # how often a path is seen before it is compiled; 0: what it costs decides
    threads = 0  # that have recorded something
    threaded = False  # more than one has
    pending = 1 << 27  # bytes that only a segment may refer to
    pending_size = 1 << 25  # how many new elements it may get before they are looked at
    deterministic = False  # nothing that was learned changes what is compiled
    sharded = False  # some tensor holds an array that spans devices


class Local(threading.local):
    """Per-thread state: the open segment, whether gradients are recorded, the place of new tensors, the scope."""

    def __init__(self) -> None:
        _note_thread()
        self.lock = forking.new_thread_lock()
        self.place = _default_place()
        self.grad_enabled = True
        self.scope: Scope | None = None  # what holds for what is recorded now (see `set_scope`)
        self.window = 0  # a window of whole rounds, once a loop has filled one (see period.py)
        self.unchecked: deque[_Unchecked] = deque()
        # The end of the last run and what it made, as indices by identity, while it is open where to cut (cutting.py).
        self.recent: tuple[TraceNode, dict[int, int]] | None = None
        self.segment = Segment(self.place, self.lock)


def _note_thread() -> None:
    """From the second thread on, what one thread notes at a tensor is noted under the lock (see `Segment.input_index`).

    Waiting a moment lets the first one finish what it began without the lock.
    """
    _Mode.threads += 1
    if _Mode.threads > 1 and not _Mode.threaded:
        _Mode.threaded = True
        time.sleep(0.002)


def _default_place() -> Place:
    place = getattr(_Chosen, "place", None)
    return default_place() if place is None else place


class _Chosen:
    place: Place | None = None


def _read_flags(_name: str = "") -> None:
    mode = flags.get("FLAGS_eager_mode")
    if mode not in ("auto", "immediate"):
        raise ValueError(message("PROA_EAGER", "the eager mode is 'auto' or 'immediate'", repr(mode)))
    _Mode.immediate = mode == "immediate"
    _Mode.check_nan = flags.get("FLAGS_check_nan_inf")
    _Mode.window = max(1, flags.get("FLAGS_window"))
    _Mode.deterministic = flags.get("FLAGS_cpu_deterministic")
    _Mode.threshold = 1 if _Mode.deterministic else max(0, flags.get("FLAGS_hot_threshold"))
    _Mode.pending = max(1, flags.get("FLAGS_pending_mb")) << 20
    _Mode.pending_size = _Mode.pending >> 2


def _make_local() -> Local:
    """`LOCAL`, made by a thread of its own: every other one, also that which imports the package, gets its state when it
    first records something. Until then nobody looks for devices, which takes seconds where there is an accelerator."""
    made: list[Local] = []
    _Chosen.place = CPU
    maker = threading.Thread(target=lambda: made.append(Local()))
    try:
        maker.start()
        maker.join()
    except RuntimeError:  # a system that has no thread to give
        made.append(Local())
    finally:
        _Chosen.place = None
        _Mode.threads = 0  # that one is gone
    return made[0]


_read_flags()
LOCAL = _make_local()


def _flags_changed(name: str) -> None:
    _read_flags(name)
    LOCAL.window = 0
    flush_current()


flags.on_change(_flags_changed)


def _after_fork() -> None:
    """In the child: the flags of compiled runs are the parent's business, and what needs an accelerator fails at once."""
    LOCAL.unchecked.clear()
    LOCAL.recent = None
    if forking.State.lost and LOCAL.place is not CPU and not LOCAL.segment.captures:
        _Mode.immediate = True
        LOCAL.segment = Segment(LOCAL.place, LOCAL.lock, scope=LOCAL.scope)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def note_sharded() -> None:
    """From now on inputs are also told apart by how they are laid out over devices."""
    _Mode.sharded = True


def set_place(place: Place) -> None:
    """Changes the place of this thread's new tensors (and the default of threads to come)."""
    _Chosen.place = place
    enter_place(place)
    LOCAL.place = place


def enter_place(place: Place) -> Segment:
    """The thread's open segment, made to be one for `place`."""
    segment = LOCAL.segment
    if segment.root.place is not place:
        flush(segment)
        if LOCAL.segment.root.place is not place:
            LOCAL.segment = Segment(place, LOCAL.lock, scope=LOCAL.scope)
        segment = LOCAL.segment
    return segment


def set_scope(scope: Scope | None) -> Scope | None:
    """Puts what this thread records from now on into a scope (None: out of any); gives the one before."""
    segment = LOCAL.segment
    node = move_into(segment.node, scope)
    before, LOCAL.scope, segment.node = LOCAL.scope, scope, node
    return before


def extend(
    segment: Segment,
    key: Any,
    operation: Operation,
    operands: tuple[Any, ...],
    kinds: tuple[OperandKind, ...],
    attributes: tuple[Any, ...],
) -> TraceNode:
    """Records an instruction on a path where it was never seen: infers, checks, grows the tree."""
    node = segment.node
    scope = node.scope
    if scope is not None and scope.casts(operation, kinds, attributes) is not None:
        raise NeedsCast
    if operation.host_from is not None and not segment.root.immediate and not segment.captures:
        _leave_to_host(segment, operation, kinds)
    if segment.captures:
        outputs, dtypes = segment.assumptions.plan(operation, kinds, attributes, segment.root.place)
    else:
        outputs, dtypes = operation.plan(kinds, attributes, segment.root.place)
        check_allocation(operation.name, outputs)
    check = operation.check
    flagged = check is not None and not (
        segment.root.place is CPU and not segment.captures and all(_is_known(operands[p]) for p in check.operands)
    )
    instruction = Instruction(operation, operands, attributes, outputs, node.next_index, dtypes, kinds, flagged)
    return grow_instruction(node, key, instruction)


def _leave_to_host(segment: Segment, operation: Operation, kinds: tuple[OperandKind, ...]) -> None:
    if operation.prefers_host(kinds, segment.root.place):
        raise PrefersHost


def _is_known(operand: Any) -> bool:
    """Whether an operand has its value at the call: an input of the segment, or absent."""
    return operand is None or (operand.__class__ is int and operand < 0)


def flush_current() -> None:
    """Runs everything this thread has recorded."""
    flush(LOCAL.segment)


def run_next_at_once() -> None:
    """Ends the open segment; the next operation runs by itself, on tier 0, and is never compiled.

    For work that NumPy does better than anything XLA could compile (sorting millions of elements on a CPU).
    """
    flush_current()
    segment = LOCAL.segment
    root = segment.root
    if not root.immediate:
        segment.root = find_root(root.place, True, root.check_nan, root.window)
        segment.node = move_into(segment.root, LOCAL.scope)


def boundary() -> None:
    """A natural place to cut (new data arrives, gradients were cleared): runs if an optimiser has stepped."""
    if LOCAL.segment.stepped and LOCAL.segment.root.window != WHOLE:
        flush(LOCAL.segment)


@contextmanager
def apart() -> Generator[None]:
    """What is recorded inside does not belong to the open segment: it runs by itself, op by op, at the end.

    For what comes once beside what comes again and again: the states of an optimiser are made at the first step, which is
    so the same program as all the others.
    """
    outer = LOCAL.segment
    LOCAL.segment = Segment(outer.root.place, LOCAL.lock, ONCE, LOCAL.scope)
    try:
        yield
    finally:
        flush_current()
        # Whoever read a value of the outer segment inside has run it.
        LOCAL.segment = Segment(outer.root.place, LOCAL.lock, LOCAL.window, LOCAL.scope) if outer.done else outer


@contextmanager
def one_segment() -> Generator[None]:
    """What is recorded inside is one segment, unless a value is read: nothing else cuts it; it is compiled at once."""
    flush_current()
    before, LOCAL.window = LOCAL.window, WHOLE
    LOCAL.segment = Segment(LOCAL.segment.root.place, LOCAL.lock, WHOLE, LOCAL.scope)
    try:
        yield
    finally:
        LOCAL.window = before
        flush_current()
        LOCAL.segment = Segment(LOCAL.segment.root.place, LOCAL.lock, before, LOCAL.scope)


def value_of(tensor: Any) -> Any:
    """The value of a tensor, computed now if it is pending; raises the error that prevents it."""
    lost: Segment | None = None
    while True:
        with STATE:
            value, segment, index = tensor._value, tensor._segment, tensor._index
        if value is not None:
            if value.__class__ is Failure:
                raise value.error.with_traceback(None)
            return value
        if segment.captures:
            from .capture import refuse_to_read

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


def read(tensor: Any) -> Any:
    """The user looks at a tensor's value: gives it, and learns where segments are best cut."""
    index, segment, value = tensor._index, tensor._segment, tensor._value
    if value is None:
        if segment is LOCAL.segment and not _Mode.deterministic and segment.root.window != WHOLE:
            note_late_read(segment.node, index)
        return value_of(tensor)
    recent = LOCAL.recent
    if recent is not None:
        end, made = recent
        if made.get(id(value)) == index:
            LOCAL.recent = None
            note_late_read(end, index)
    return value


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
        scalars = _scalars_of(node, program, segment)
        try:
            value = _run_tier0(segment, program, segment.inputs, scalars)[index]
        except Problem as problem:
            locate(problem.error, segment.locations.get(problem.index))
            raise problem.error from problem.error.__cause__
        if value.__class__ is _ndarray and not value.flags.owndata:
            value = value.copy()  # it shows an input, whose memory the owner may write over
        segment.foreign[index] = value
        return value


def _scalars_of(node: TraceNode, program: Any, segment: Segment) -> list[Any]:
    """The dynamic scalars of a sliced program, picked from those of the whole path."""
    kept = {instruction.index for instruction in program.instructions}
    scalars: list[Any] = []
    position = 0
    for instruction in node.program(()).instructions:
        count = len(instruction.scalar_dtypes)
        if instruction.index in kept:
            scalars += segment.scalars[position : position + count]
        position += count
    return scalars


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
            segment.live = _live_tensors(segment)
        live = segment.live
        if live:
            outputs = tuple(dict.fromkeys([index for _, index in live]))
            _run(segment, live, outputs)
        segment.done = True
        segment.inputs = []
        segment.input_ids = {}
        segment.foreign = {}
        segment.live = []
        segment.begun = None


def _flush_full_window(segment: Segment, window: int = 0) -> None:
    """Runs a segment because it is long enough, and plans where the next ones end."""
    if segment.root.window == _Mode.window:
        window = window or _Mode.window
        instructions = segment.node.program(()).instructions
        aligned = aligned_window(instructions, window)
        LOCAL.window = aligned if aligned != _Mode.window else 0
    flush(segment, full=True)


def _is_past(segment: Segment) -> bool:
    """Whether most of what was recorded is of no use to anybody any more: a loop whose results are never read.

    Dead tensors are let go on the way, newest first as in `_live_tensors`.
    """
    refs = segment.refs
    alive: list[Any] = []
    while refs:
        tensor = refs.pop()
        if getrefcount(tensor) > HELD_BY_A_NAME:
            alive.append(tensor)
    refs.extend(reversed(alive))
    return len(alive) <= segment.node.next_index // 16


def _live_tensors(segment: Segment) -> list[tuple[Any, int]]:
    """Tensors of this segment that somebody else refers to, with their indices.

    Newest first: when a dead tensor goes, the older ones that only its history referred to go with it. Last come those that
    have views, which refer to them: by then the dead views are gone.
    """
    refs = segment.refs
    live: list[tuple[Any, int]] = []
    viewed: list[Any] = []
    while refs:
        tensor = refs.pop()
        if getrefcount(tensor) > HELD_BY_A_NAME:
            index = tensor._index
            if tensor._segment is segment and tensor._value is None:
                if tensor._views is None:
                    live.append((tensor, index))
                else:
                    viewed.append(tensor)
    # A tensor that is itself a view of another comes before that one.
    viewed.sort(key=_is_a_view)
    while viewed:
        tensor = viewed.pop()
        if getrefcount(tensor) > HELD_BY_A_NAME and not tensor._is_unseen(getrefcount(tensor) - HELD_BY_A_NAME):
            index = tensor._index
            if tensor._segment is segment:
                live.append((tensor, index))
    live.reverse()
    return live


def _is_a_view(tensor: Any) -> bool:
    return tensor._view is not None


def _run(segment: Segment, live: list[tuple[Any, int]], outputs: tuple[int, ...]) -> None:
    ending = _find_ending(segment.node, outputs)
    ending.count += 1
    root = segment.root
    LOCAL.recent = None
    ending.sighting = next_sighting()
    has_xla = not forking.State.lost
    if has_xla and ending.compiled is None and not root.immediate and _pays(root, ending):
        if cupy_tier.READING:
            cupy_tier.settle()
        donated = donation.donatable(segment.inputs)
        try:
            ending.compiled = report.compile_program(ending, segment.inputs, segment.scalars, segment.node, donated)
        except Exception as error:
            # Work that cannot be compiled still runs, op by op; an error that is the user's own comes up there.
            ending.count = -_RETRY_AFTER
            report.note_failure(ending, error)
    compiled = ending.compiled if has_xla else None  # another thread may drop it from the ending at any time
    if compiled is not None and compiled.copies >= _MOST_COPIES:
        compiled = _donate_less(segment, ending, compiled)
    if compiled is not None:
        report.count_hit(ending)
        if len(LOCAL.unchecked) >= _MOST_UNCHECKED:
            verify_values()
        if segment.begun is not None and segment.begun.program is not compiled:
            segment.begun.program.forgotten += 1
        with uninterrupted(bool(compiled.donated)):
            values = _run_tier1(segment, ending, compiled, live)
            _deliver(segment, live, values)
        _note_run(segment.node, ending, values)
        return
    report.count_cold(ending)
    try:
        values = _run_tier0(segment, ending.program, segment.inputs, segment.scalars)
    except Problem as problem:
        locate(problem.error, segment.locations.get(problem.index))
        _spread_failure(live, problem.error)
        segment.done = True
        raise problem.error from problem.error.__cause__
    _deliver(segment, live, values)
    _note_run(segment.node, ending, dict(zip(outputs, [values[index] for index in outputs], strict=True)))


def _pays(root: TraceRoot, ending: Ending) -> bool:
    """Whether a path is to be compiled now."""
    if root.window == ONCE:
        return False
    if root.window == WHOLE or ending.program.size >= _HEAVY:
        return ending.count > 0
    if _Mode.threshold:
        return ending.count >= _Mode.threshold
    if _Mode.sharded or not (root.place is CPU or cupy_tier.serves(root.place)):  # no tier 0 without a compiler
        return ending.count >= _SEEN_OFTEN
    return ending.pays(root.place)


def _note_run(end: TraceNode, ending: Ending, values: dict[int, Any]) -> None:
    """Lets `read` know what was made, in the first runs of a path."""
    assert end.root is not None
    if end.root.window == WHOLE or _Mode.deterministic:
        return
    if end.late_reads >= 0 and ending.count <= _RUNS_TO_LEARN_FROM:
        LOCAL.recent = (end, {id(value): index for index, value in values.items()})


def _donate_less(segment: Segment, ending: Ending, compiled: Any) -> Any:
    """What the program may write over is in use again and again: compiled anew without those inputs."""
    donated = tuple(sorted(set(compiled.donated) & set(donation.donatable(segment.inputs))))
    compiled.copies = 0
    if donated != compiled.donated:
        ending.compiled = compiled = report.compile_program(
            ending, segment.inputs, segment.scalars, segment.node, donated, "inputs it wrote over are still in use"
        )
    return compiled


def _deliver(segment: Segment, live: list[tuple[Any, int]], values: Any) -> None:
    with STATE:
        for tensor, index in live:
            # Another thread may have given it another value meanwhile.
            if tensor._segment is segment and tensor._index == index:
                tensor._value = values[index]
                tensor._segment = None


def _find_ending(node: TraceNode, outputs: tuple[int, ...]) -> Ending:
    if node.endings is None:
        node.endings = {}
    ending = node.endings.get(outputs)
    if ending is None:
        wanted = set(outputs)
        for other in list(node.endings.values()):  # another thread may add one
            # An executable that gives more than is wanted serves as well as a new one.
            if other.compiled is not None and wanted <= set(other.program.outputs):
                return other
        ending = node.endings[outputs] = Ending(node, outputs)
    return ending


def _run_tier0(segment: Segment, program: Any, inputs: list[Any], scalars: list[Any]) -> Any:
    place = segment.root.place
    check_nan = segment.root.check_nan
    watch = watch_results(check_nan) if check_nan or segment.locations else None
    is_sharded = _Mode.sharded and any(_is_sharded(v) for v in inputs)
    if place is CPU and not is_sharded:
        return run_on_numpy(program, inputs, scalars, watch)
    if cupy_tier.serves(place) and not is_sharded:
        if watch is not None:
            watch = watch_results(check_nan, cupy_tier.namespace(place))
        return run_on_cupy(program, inputs, scalars, place, watch)
    return run_on_jax(program, inputs, scalars, place, watch)


def _is_sharded(value: Any) -> bool:
    return value.__class__ is not _ndarray and len(value.sharding.device_set) > 1


def _run_tier1(segment: Segment, ending: Ending, compiled: Any, live: list[tuple[Any, int]]) -> dict[int, Any]:
    if cupy_tier.READING and compiled.donated:
        cupy_tier.settle()
    inputs = donation.protect(segment.inputs, compiled)
    begun = segment.begun
    if begun is not None and begun.program is compiled:
        results = begun.finish(inputs, segment.scalars)
    else:
        results = compiled(inputs, segment.scalars)
    values = dict(zip(compiled.outputs, results, strict=False))
    if compiled.num_flags:
        LOCAL.unchecked.append(_Unchecked(results[-1], segment, ending, live))
    return values


class _Unchecked:
    """Flags of a compiled run that nobody has looked at yet: looking would wait for the device."""

    __slots__ = ("check_nan", "flags", "locations", "program", "tensors")

    def __init__(self, flags_array: Any, segment: Segment, ending: Ending, live: list[tuple[Any, int]]) -> None:
        self.flags: list[Any] = flags_array if isinstance(flags_array, list) else [flags_array]
        self.program = ending.program
        self.locations = segment.locations
        self.check_nan = segment.root.check_nan
        self.tensors = [(weakref.ref(tensor), index) for tensor, index in live]

    def fetch(self) -> None:
        """Starts the transfer to the host; waiting for many of them together costs as much as for one."""
        for array in self.flags:
            array.copy_to_host_async()

    def verify(self) -> None:
        good = np.concatenate([np.asarray(f) for f in self.flags])
        if good.all():
            return
        from .lowering import flagged_instructions

        instruction = flagged_instructions(self.program, self.check_nan)[int(np.argmin(good))]
        error = instruction.value_error() if instruction.flagged else nan_error(instruction)
        locate(error, self.locations.get(instruction.index))
        _spread_failure([(tensor, i) for reference, i in self.tensors if (tensor := reference()) is not None], error)
        raise error


def verify_values() -> None:
    """Raises the error of a compiled run whose values were not acceptable; called when a value is read."""
    unchecked = LOCAL.unchecked
    for run in unchecked:
        run.fetch()
    while unchecked:
        unchecked.popleft().verify()


def _spread_failure(live: list[tuple[Any, int]], error: Exception) -> None:
    failure = Failure(error)
    for tensor, _ in live:
        tensor._value = failure
