"""Calls of many sizes share few executables: inputs are padded to the size of a bucket, results are cut.

Which axes may be padded, and what that needs, is decided by analysis (`ir/padding`); results are those of the program
without padding. At most `max_programs` executables are made. When a size fits none of them any more, a warning says so,
with the reasons, and such calls run operation by operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import locate, warn
from ..core.expressions import Symbol
from ..core.locks import new_lock
from ..core.place import CPU
from ..core.symbols import SymbolicSize
from ..eager.tensor import Tensor, wrap
from ..graph import Graph
from ..graph.cold import run_op_by_op
from ..graph.optimised import on_device
from ..ir.padding import padded_program, plan_padding
from ..ir.sizes.bucketed import padded
from ..ir.tiers.lowering import CompiledProgram
from ..ir.watch import flags_of

# A bucket serves sizes down to this part of its own (in elements), unless no other can be made; less so when half of the
# budget is spent.
_LEAST_USE, _LEAST_USE_LATER = 0.6, 0.4
_STEP = 1.25
_MULTIPLE = 8


class Bucket:
    """An executable for inputs up to some sizes."""

    __slots__ = ("compiled", "locations", "program", "runs", "sizes")

    def __init__(self, sizes: tuple[int, ...], program: Any, compiled: Any, locations: dict[int, Any]) -> None:
        self.sizes = sizes
        self.program = program
        self.compiled = compiled
        self.locations = locations  # the user's lines, by instruction of this program
        self.runs = 0


class Buckets:
    """Runs a graph with unknown sizes, under a budget of executables."""

    def __init__(self, graph: Graph, max_programs: int = 8, warns: bool = True) -> None:
        self.graph = graph
        self.max_programs = max_programs
        self.plan = plan_padding(graph.program, [given.aval for given in graph.inputs])
        self.order = self.plan.sizes
        # For each input, which of its axes have which padded size.
        self._axes = [[self._class_of(size) for size in given.aval.shape] for given in graph.inputs]
        self.buckets: dict[Any, Bucket] = {}
        self._sizes: dict[Any, tuple[list[Any], list[Any]]] = {}
        self._warned = not warns
        self._lock = new_lock()

    def _class_of(self, size: int) -> Symbol | None:
        symbol = size.expression.symbol if isinstance(size, SymbolicSize) else None
        return None if symbol is None else self.plan.classes.get(symbol)

    @property
    def num_programs(self) -> int:
        return len(self.buckets)

    def __call__(self, *tensors: Tensor) -> Any:
        self.graph.check_inputs(tensors)
        real = self._real_sizes(tensors)
        bucket = self._bucket_for(real, tensors)
        scalars, held = self._outside(tensors)
        if bucket is None:
            return run_op_by_op(self.graph, tensors)
        values = [self._padded(i, t, bucket.sizes) for i, t in enumerate(tensors)]
        sizes = [np.asarray(real[n], np.int32) for n in self.order] if bucket.sizes else []
        results = bucket.compiled([*values, *held, *sizes], self.graph.fresh_scalars(scalars))
        bucket.runs += 1
        if bucket.compiled.num_flags:
            self._verify(bucket, results[-1])
        return self.graph.deliver([wrap(v) for v in self._cut(results, real, bucket, tensors)])

    # ---- sizes and buckets -----------------------------------------------------------------------------------------

    def _real_sizes(self, tensors: Sequence[Tensor]) -> dict[Symbol, int]:
        """The sizes that may be padded; empty where two inputs do not agree on one."""
        found: dict[Symbol, int] = {}
        for axes, tensor in zip(self._axes, tensors, strict=True):
            for symbol, size in zip(axes, tensor._aval.shape, strict=True):
                if symbol is not None and found.setdefault(symbol, size) != size:
                    return {}
        return found if found and self._holds_for(tuple(found[symbol] for symbol in self.order), tensors) else {}

    def _holds_for(self, sizes: Sequence[int], tensors: Sequence[Tensor]) -> bool:
        """Whether data, or a bucket, may have these sizes."""
        padded = dict(zip(self.order, sizes, strict=True))
        classes = {symbol: padded[first] for symbol, first in self.plan.classes.items()}
        return self.plan.holds_for({**self._unpadded(tensors), **classes})

    def _unpadded(self, tensors: Sequence[Tensor]) -> dict[Symbol, int]:
        """Unknown sizes that are not padded."""
        return {
            wanted.expression.symbol: size  # type: ignore[misc]
            for given, axes, tensor in zip(self.graph.inputs, self._axes, tensors, strict=True)
            for wanted, symbol, size in zip(given.aval.shape, axes, tensor._aval.shape, strict=True)
            if isinstance(wanted, SymbolicSize) and symbol is None
        }

    def _bucket_for(self, real: dict[Symbol, int], tensors: Sequence[Tensor]) -> Bucket | None:
        others = tuple(self._unpadded(tensors).values())
        if not real:
            key: Any = tuple(tensor._aval for tensor in tensors)
            found = self.buckets.get(key)
            return found or self._make(key, (), tensors)
        wanted = tuple(real[symbol] for symbol in self.order)
        fitting = [
            (_volume(bucket.sizes), bucket)
            for key, bucket in list(self.buckets.items())  # another thread may be adding one
            if key[0] == "padded"
            and key[1] == others
            and all(a >= b for a, b in zip(bucket.sizes, wanted, strict=True))
        ]
        best = min(fitting, key=lambda pair: pair[0])[1] if fitting else None
        if best is not None:
            last = len(self.buckets) >= self.max_programs - 1
            least = _LEAST_USE if 2 * len(self.buckets) < self.max_programs else _LEAST_USE_LATER
            if last or _volume(wanted) >= least * _volume(best.sizes):
                return best
        made = tuple(_rounded(size) for size in wanted)
        if best is None and len(self.buckets) == self.max_programs - 1:
            made = tuple(_rounded(2 * size) for size in wanted)  # the last one: with room to grow
        if not self._holds_for(made, tensors):
            made = wanted  # a table or the like is no longer than that
        return self._make(("padded", others, made), made, tensors, best)

    def _make(
        self, key: Any, sizes: tuple[int, ...], tensors: Sequence[Tensor], larger: Bucket | None = None
    ) -> Bucket | None:
        """A new bucket; the larger one that fits as well, where another thread has just spent the budget."""
        with self._lock:
            found = self.buckets.get(key)
            if found is not None:
                return found
            if len(self.buckets) >= self.max_programs:
                if larger is not None:
                    return larger
                self._warn(tensors)
                return None
            scalars, held = self._outside(tensors)
            graph, locations = self.graph, self.graph.locations
            if not sizes:
                program, _, _ = graph.specialised(tensors)
                values = [t._data() for t in tensors]
                lengths: list[Any] = []
            else:
                values = [self._padded(i, t, sizes) for i, t in enumerate(tensors)]
                avals = [t._aval.with_shape(tuple(v.shape)) for t, v in zip(tensors, values, strict=True)]
                avals += [t._aval for t in graph.captured]
                origins: dict[int, int] = {}
                program = padded_program(graph.program, self.plan, avals, origins)
                locations = {n: graph.locations[old] for n, old in origins.items() if old in graph.locations}
                lengths = [np.asarray(n, np.int32) for n in sizes]
            compiled = CompiledProgram(program, [*values, *held, *lengths], scalars, graph.place, (), False)
            made = self.buckets[key] = Bucket(sizes, program, compiled, locations)
            return made

    def _outside(self, tensors: Sequence[Tensor]) -> tuple[list[Any], list[Any]]:
        """Scalars and values from outside; those computed from sizes follow the real ones."""
        key = tuple(tensor._aval for tensor in tensors)
        found = self._sizes.get(key)
        if found is None:
            _, scalars, held = self.graph.specialised(tensors)
            replaced = [
                None if value is tensor._value else value
                for value, tensor in zip(held, self.graph.captured, strict=True)
            ]
            if len(self._sizes) > 4096:
                self._sizes.clear()
            found = self._sizes[key] = (scalars, replaced)
        scalars, replaced = found
        return scalars, [on_device(t) if r is None else r for t, r in zip(self.graph.captured, replaced, strict=True)]

    # ---- padding and cutting ---------------------------------------------------------------------------------------

    def _padded(self, position: int, tensor: Tensor, sizes: tuple[int, ...]) -> Any:
        """The value of an input, with zeros up to the sizes of a bucket."""
        value = tensor._data()
        target = dict(zip(self.order, sizes, strict=False))
        shape = tuple(
            size if symbol is None else target.get(symbol, size)
            for symbol, size in zip(self._axes[position], tensor._aval.shape, strict=True)
        )
        return padded(value, shape, self.graph.place)

    def _cut(
        self, results: Sequence[Any], real: dict[Symbol, int], bucket: Bucket, tensors: Sequence[Tensor]
    ) -> list[Any]:
        results = results[: len(self.graph.program.outputs)]
        if not bucket.sizes:
            return list(results)
        sizes = {**self._unpadded(tensors), **real}
        is_cpu = self.graph.place is CPU
        return [
            self.plan.real_part(number, np.asarray(value) if is_cpu else value, sizes)
            for number, value in enumerate(results)
        ]

    # ---- the rest --------------------------------------------------------------------------------------------------

    def _verify(self, bucket: Bucket, flags: Any) -> None:
        good = np.asarray(flags)
        if not good.all():
            instruction, location = flags_of(bucket.program, False, bucket.locations)[int(np.argmin(good))]
            raise locate(instruction.value_error(), location)

    def _warn(self, tensors: Sequence[Tensor]) -> None:
        if self._warned:
            return
        self._warned = True
        reasons = "; ".join(self.plan.reasons) or "the sizes are larger than all those before"
        warn(
            f"(to_static) {self.graph.name}: the budget of {self.max_programs} compiled programs is spent (buckets: "
            f"{self.described()}), and inputs {', '.join(str(t._aval) for t in tensors)} fit none of them; such calls run "
            f"operation by operation. Why not padded: {reasons}. A larger max_programs, or fixed sizes, would help.",
            RuntimeWarning,
        )

    def described(self) -> str:
        return (
            ", ".join("exact" if not b.sizes else " x ".join(map(str, b.sizes)) for b in self.buckets.values())
            or "none"
        )

    def explain(self) -> str:
        """The buckets, how often each ran, and why sizes are not padded."""
        lines = [f"{len(self.buckets)} of at most {self.max_programs} executables"]
        for bucket in self.buckets.values():
            shown = "up to " + " x ".join(map(str, bucket.sizes)) if bucket.sizes else "exact sizes"
            lines.append(f"  {shown}: {bucket.runs} run(s), compiled in {bucket.compiled.seconds:.2f} s")
        lines += [f"  not padded: {reason}" for reason in self.plan.reasons]
        return "\n".join(lines)


def _volume(sizes: Sequence[int]) -> float:
    return float(np.prod(np.array(sizes, np.float64)))


def _rounded(size: int) -> int:
    """The size of a bucket: powers of two while small, then steps of a quarter."""
    bucket = 1
    while bucket < size:
        bucket = bucket * 2 if bucket < 16 else -(-int(bucket * _STEP) // _MULTIPLE) * _MULTIPLE
    return bucket


__all__ = ["Bucket", "Buckets"]
