"""`explain()`: what was captured, how often it ran, what was compiled, why, and what that cost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ..ir import report
from ..ir.sizes import families
from ..ir.tiers import kept
from .inspection import CAPTURING


@dataclass
class ProgramSummary:
    """One compiled program."""

    operations: int
    inputs: int
    outputs: int
    donated: int
    hits: int
    compile_seconds: float
    reason: str
    main_operations: str
    program: Any = field(repr=False)


@dataclass
class ChangingSizes:
    """Paths that differ in sizes alone."""

    operations: int
    sizes: int
    runs: int
    spent: float
    price: float
    buckets: list[str]
    reasons: list[str]

    def __str__(self) -> str:
        what = f"a path of {self.operations} operations was walked {self.runs} times with {self.sizes} sizes: "
        if self.buckets:
            return what + f"padded to {'; '.join(self.buckets)}"
        if self.reasons:
            return what + f"not padded, since {'; '.join(dict.fromkeys(self.reasons))}"
        return what + f"{self.spent / 1e6:.2f} s of work so far, compiling would cost about {self.price / 1e6:.2f} s"


@dataclass
class Explanation:
    """The recorder's account of itself; prints as a table.

    Examples:
        >>> isinstance(paddle.jit.explain(), paddle.jit.Explanation)
        True
    """

    programs: list[ProgramSummary]
    cold_runs: int
    cold_operations: int
    hits: int
    compiles: int
    compile_seconds: float
    evictions: int
    captured: list[str] = field(default_factory=list)
    changing: list[ChangingSizes] = field(default_factory=list)

    @property
    def num_programs(self) -> int:
        """How many compiled programs are kept.

        Examples:
            >>> paddle.jit.explain().num_programs >= 0
            True
        """
        return len(self.programs)

    def __str__(self) -> str:
        lines = [
            f"{self.num_programs} compiled program(s) kept, {self.compiles} compiled in {self.compile_seconds:.2f} s, "
            f"{self.evictions} dropped; {self.hits} run(s) of compiled programs; "
            f"{self.cold_runs} cold run(s) of {self.cold_operations} operation(s)."
        ]
        if self.programs:
            lines.append(
                f"{'#':>3} {'ops':>6} {'in':>5} {'out':>5} {'donated':>7} {'runs':>8} {'compile s':>9}  why; what"
            )
        for number, p in enumerate(self.programs):
            lines.append(
                f"{number:>3} {p.operations:>6} {p.inputs:>5} {p.outputs:>5} {p.donated:>7} {p.hits:>8} "
                f"{p.compile_seconds:>9.2f}  {p.reason}; {p.main_operations}"
            )
        if self.changing:
            lines.append("Sizes that change:")
            lines += [f"    {each}" for each in self.changing]
        return "\n".join([*lines, *self.captured])


def explain() -> Explanation:
    """What the self-compiling eager mode has done so far in this process.

    Examples:
        >>> y = paddle.ones([2]) + 1
        >>> "compiled program(s) kept" in str(paddle.jit.explain())
        True
    """
    statistics = report.STATISTICS
    programs = []
    for record in list(kept.PROGRAMS.values()):
        counts = Counter(instruction.operation.name for instruction in record.program.instructions)
        programs.append(
            ProgramSummary(
                operations=record.num_instructions,
                inputs=record.num_inputs,
                outputs=record.num_outputs,
                donated=record.donated,
                hits=record.hits,
                compile_seconds=record.seconds,
                reason=record.reason,
                main_operations=", ".join(f"{name} x{count}" for name, count in counts.most_common(4)),
                program=record.program,
            )
        )
    return Explanation(
        programs,
        statistics.cold_runs,
        statistics.cold_instructions,
        statistics.hits,
        statistics.compiles,
        statistics.compile_seconds,
        statistics.evictions,
        [function.explain() for function in list(CAPTURING)],
        [
            ChangingSizes(
                family.num_instructions, family.members, family.count, family.spent, family.price,
                [str(bucket) for bucket in family.buckets], list(family.reasons),
            )
            for family in list(families.FAMILIES.values())
            if family.keeps_changing
        ],
    )  # fmt: skip


def reset_statistics() -> None:
    """Sets the counters to zero; compiled programs stay.

    Examples:
        >>> paddle.jit.reset_statistics()
        >>> paddle.jit.explain().hits
        0
    """
    report.STATISTICS.__init__()
    for record in kept.PROGRAMS.values():
        record.hits = 0
