"""`proa.memory_budget("20GB")`: does a step fit, and if not, can it be made to?

Inside the block every program is compiled before it runs for the first time, and XLA's account of its memory is compared
with the budget before anything is allocated. A step that needs too much is compiled again with parts of its forward
pass computed twice (`ir/transforms/rematerialise.py`), as few as will do; if nothing helps,
MemoryError says where the memory goes.
"""

from __future__ import annotations

import itertools
import re
import weakref
from dataclasses import dataclass, field
from typing import Any

from ..core import flags
from ..core.dtype import name_of
from ..core.errors import user_location, value_error
from ..eager.declare import public
from ..ir.layer_ranges import LayerRanges
from ..ir.observing import RUNTIME, Observer, current_layer
from ..ir.tiers.lowering import CompiledProgram
from ..ir.transforms.rematerialise import Liveness, rematerialised, with_zeros

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_CHUNKS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
_THRESHOLD, _WINDOW = "FLAGS_hot_threshold", "FLAGS_window"
_BLOCKS = itertools.count()
_MOST_ROWS = 8


def parse_size(size: Any) -> int:
    """Bytes of "20GB", "512MiB" or a number."""
    if isinstance(size, (int, float)) and not isinstance(size, bool) and size > 0:
        return int(size)
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", size) if isinstance(size, str) else None
    unit = _UNITS.get(found.group(2).upper()) if found else None
    if found is None or unit is None or float(found.group(1)) <= 0:
        raise value_error("memory_budget", 'the budget must be bytes, or text such as "20GB" or "512MiB"', repr(size))
    return int(float(found.group(1)) * unit)


@dataclass
class Verdict:
    """Whether a program fits into the budget, and where its memory goes; prints as a table."""

    fits: bool
    budget: int
    needed: int
    arguments: int  # parameters, optimiser state, data
    outputs: int  # what is new in them, beyond the buffers taken over from arguments
    temporaries: int
    recomputed_parts: int  # 0: nothing is computed twice
    needed_before: int  # without computing anything twice
    largest: list[tuple[int, str, str]] = field(default_factory=list)  # bytes, value, layer; at the fullest moment

    def __str__(self) -> str:
        lines = [
            f"The step {'fits' if self.fits else 'does not fit'}: it needs {_text(self.needed)} "
            f"of a budget of {_text(self.budget)}.",
            f"  arguments (parameters, optimiser state, data)  {_text(self.arguments):>12}",
            f"  results in new memory                          {_text(self.outputs):>12}",
            f"  temporary                                      {_text(self.temporaries):>12}",
        ]
        if self.recomputed_parts:
            lines.append(
                f"  with {self.recomputed_parts} part(s) of the forward pass computed again in the backward pass "
                f"(without: {_text(self.needed_before)})"
            )
        if self.largest:
            lines.append("  largest values at the fullest moment:")
            lines += [f"    {_text(size):>12}  {value}  {layer}".rstrip() for size, value, layer in self.largest]
        return "\n".join(lines)


def _text(size: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{size:,.0f} {unit}" if unit == "B" else f"{size:,.1f} {unit}"
        size /= 1024
    return ""


class _Rematerialised:
    """An executable of the changed program, called like that of the original one."""

    def __init__(self, executable: Any, program: Any) -> None:
        self.inner = executable
        self.outputs = program.outputs
        self.copies = 0
        self._program = program

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def __call__(self, inputs: list[Any], scalars: list[Any]) -> Any:
        return self.inner(inputs, with_zeros(self._program, self.inner.program, scalars))


class MemoryBudget(Observer):
    """The block of `memory_budget`; `verdicts` has one entry for each program compiled in it."""

    keeps_whole = True  # between two programs nothing could be computed again

    def __init__(self, budget: Any, recompute: bool = True) -> None:
        self.budget = parse_size(budget)
        self.recompute = recompute
        self.verdicts: list[Verdict] = []
        self._judged: weakref.WeakKeyDictionary[Any, Verdict] = weakref.WeakKeyDictionary()
        self._ranges = LayerRanges()
        self._lines: dict[str, str] = {}

    @property
    def verdict(self) -> Verdict | None:
        """The one that needs most."""
        return max(self.verdicts, key=lambda verdict: verdict.needed, default=None)

    def __enter__(self) -> MemoryBudget:
        self._before = {name: flags.get(name) for name in (_THRESHOLD, _WINDOW)}
        # A window of its own is a trace tree of its own: what was compiled before is not taken without being judged.
        flags.set_flags({_THRESHOLD: 1, _WINDOW: self._before[_WINDOW] + 1 + next(_BLOCKS) % 1000})
        RUNTIME.attach(self)
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        try:
            flags.set_flags(self._before)  # runs what is still pending
        except MemoryError:
            if error is None:
                raise
        finally:
            RUNTIME.detach(self)

    # ---- what the machinery tells --------------------------------------------------------------

    def layer_entered(self, path: str, layer: Any) -> None:
        self._ranges.mark(path)
        file, line = user_location(2)
        self._lines.setdefault(path, f"{file}:{line}")

    def layer_left(self, path: str, layer: Any, begin: int, end: int) -> None:
        self._ranges.mark(current_layer())

    def compiled(self, entry: Any, executable: Any, arguments: dict[str, Any], begin: int, end: int) -> Any:
        if not hasattr(executable, "executable"):
            return None  # a long loop, run in pieces that do not fill memory
        program = entry.program
        verdict = self._judge(executable, program, arguments)
        chosen: Any = None
        if not verdict.fits and self.recompute and not executable.num_flags:
            for candidate in self._smaller(program, executable, arguments):
                chosen, verdict = candidate
                if verdict.fits:
                    break
        self._judged[executable if chosen is None else chosen.inner] = verdict
        self.verdicts.append(verdict)
        return chosen

    def before_compiled(self, executable: Any) -> None:
        verdict = self._judged.get(executable)
        if verdict is not None and not verdict.fits:
            raise MemoryError(f"(memory_budget) {verdict}")

    def _smaller(self, program: Any, executable: Any, arguments: dict[str, Any]) -> Any:
        """Executables that need less and less; first what the account of the Program itself says may be enough."""
        before = self._judge(executable, program, arguments)
        spare = self.budget - before.arguments - before.outputs
        plans = [(n, plan) for n in _CHUNKS if (plan := rematerialised(program, n)) is not None]
        plans = [(n, plan, Liveness(plan).peak) for n, plan in plans]
        enough = [item for item in plans if item[2] <= spare]
        rest = sorted((item for item in plans if item[2] > spare), key=lambda item: item[2])
        place = arguments["end"].root.place
        best = before.needed
        for number, changed, _ in [*enough[:3], *rest[:1]]:
            scalars = with_zeros(program, changed, arguments["scalars"])
            compiled = CompiledProgram(changed, arguments["inputs"], scalars, place, executable.donated, False)
            verdict = self._judge(compiled, changed, arguments, number - 1, before.needed)
            if verdict.needed < best:
                best = verdict.needed
                yield _Rematerialised(compiled, program), verdict

    def _judge(
        self, executable: Any, program: Any, arguments: dict[str, Any], parts: int = 0, before: int = 0
    ) -> Verdict:
        memory = executable.executable.memory_analysis()
        outputs = memory.output_size_in_bytes - memory.alias_size_in_bytes
        needed = memory.argument_size_in_bytes + outputs + memory.temp_size_in_bytes
        ranges = [] if parts else self._ranges.ranges(arguments.get("end"))
        largest = [
            (size, _value(instruction, offset), self._where(instruction.index, ranges))
            for size, instruction, offset in Liveness(program).at_peak(program)[:_MOST_ROWS]
        ]
        return Verdict(
            needed <= self.budget, self.budget, needed, memory.argument_size_in_bytes, outputs,
            memory.temp_size_in_bytes, parts, before or needed, largest,
        )  # fmt: skip

    def _where(self, index: int, ranges: list[tuple[int, int, str]]) -> str:
        path = next((path for begin, end, path in ranges if begin <= index < end), "")
        return f"{path}, called at {self._lines[path]}" if path in self._lines else path


def _value(instruction: Any, offset: int) -> str:
    aval = instruction.outputs[offset]
    return f"{instruction.operation.name} -> {name_of(aval.dtype)}{list(aval.shape)}"


@public()
def memory_budget(budget: int | str, recompute: bool = True) -> MemoryBudget:
    """A block whose steps must not need more memory than a budget.

    Each program is judged when it is compiled, before it allocates anything. One that needs too much is compiled so that
    parts of its forward pass are computed again in the backward pass, as few as will do.

    Args:
        budget: a number of bytes, or "20GB", "512MiB".
        recompute: whether parts may be computed again.

    Returns:
        A context manager whose `verdict` says afterwards what was found.

    Raises:
        MemoryError: it does not fit even so; the message says where the memory goes.

    Examples:
        >>> with paddle.memory_budget("1GB") as budget:
        ...     total = paddle.ones([10]).sum().item()
        >>> total
        10.0
    """
    return MemoryBudget(budget, recompute)
