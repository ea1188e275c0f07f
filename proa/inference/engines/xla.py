"""Our own engine: XLA with native kernels.

A shape that comes often gets an executable of its own, the first ones at once. Compiling takes seconds, and a service may be
sent a new shape with every request: so there is a bounded number of executables, the one that was not used for longest
goes first, and all other shapes run without compiling anything: in executables for buckets of sizes where padding changes
nothing, else operation by operation. Packed weights are shared by all of them (`graph/optimised.py`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ...core.locks import new_lock
from ...eager.tensor import Tensor
from ...graph import Graph
from ...graph.cold import run_op_by_op
from ...jit.bucketing import Buckets
from ..models import Casts, Model, results_of
from .base import Engine, Settings

_AT_ONCE = 8  # shapes that are compiled when first seen
_OFTEN = 16  # how often a later one has to come; that many times more with each executable that was given up
_MOST_REMEMBERED = 4096
_MOST_COLD = 32  # shapes whose Program for running operation by operation is kept
_BUCKETS = 8


class _Kept:
    """An executable's graph, and when it was last used."""

    __slots__ = ("graph", "used")

    def __init__(self, graph: Graph, used: int) -> None:
        self.graph = graph
        self.used = used


class XlaEngine(Engine):
    """XLA with native kernels; takes every model."""

    name = "xla"

    def __init__(self, model: Model, settings: Settings) -> None:
        super().__init__(model, settings)
        self._casts = Casts(settings.precision, settings.but)
        self._kept: dict[Any, _Kept] = {}
        self._seen: dict[Any, int] = {}
        self._flexible: dict[int, _Flexible] = {}
        self._given_up = 0
        self._clock = itertools.count(1)
        self._lock = new_lock()

    def run(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        key = tuple([tensor._aval for tensor in tensors])
        kept = self._kept.get(key) or self._new(key, tensors)
        if kept is None:
            return self._run_rare(tensors)
        kept.used = next(self._clock)
        return self._run_graph(kept.graph, tensors)

    def _run_graph(self, graph: Graph, tensors: Sequence[Tensor]) -> list[Tensor]:
        return results_of(graph.optimised(self.settings.level).run(tensors))

    # ---- shapes that were not seen, or not often enough -----------------------------------------------------------

    def _new(self, key: Any, tensors: Sequence[Tensor]) -> _Kept | None:
        """The executable's graph for a shape that has none yet, if it is to have one."""
        self.model.check(tensors)
        with self._lock:
            if key in self._kept:
                return self._kept[key]
            if self.model.reason is not None or not self._deserves(key):
                return None
            graph = self.model.exact(tensors, self._casts)
            if graph is None:
                return None
            while len(self._kept) >= self.settings.shapes:
                del self._kept[min(self._kept, key=lambda one: self._kept[one].used)]
                self._given_up += 1
            self._seen.pop(key, None)
            made = self._kept[key] = _Kept(graph, next(self._clock))
            return made

    def _deserves(self, key: Any) -> bool:
        if len(self._kept) + self._given_up < min(_AT_ONCE, self.settings.shapes):
            return True
        if len(self._seen) >= _MOST_REMEMBERED:
            self._seen.clear()
        count = self._seen[key] = self._seen.get(key, 0) + 1
        return count > _OFTEN * (1 + self._given_up)

    def _run_rare(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        graph = None if self.model.reason is not None else self.model.flexible(tensors, self._casts)
        if graph is None:
            return self.model.directly(tensors)
        with self._lock:
            flexible = self._flexible.get(id(graph))
            if flexible is None:
                if len(self._flexible) >= _BUCKETS:
                    self._flexible.pop(next(iter(self._flexible)))
                flexible = self._flexible[id(graph)] = _Flexible(graph, self.settings.level)
        return flexible.run(tensors)

    def described(self) -> list[str]:
        kept = f"{len(self._kept)} of at most {self.settings.shapes} shapes compiled"
        lines = [f"xla: {kept}, {self._given_up} given up for others, {len(self._seen)} seen too seldom"]
        if self.model.reason is not None:
            lines.append(f"  runs operation by operation: {self.model.reason}")
        if self.settings.threads is not None:
            lines.append("  threads: those of the process (PROA_NUM_THREADS), not the Config's")
        for flexible in list(self._flexible.values()):
            lines += [f"  {line}" for line in flexible.described()]
        return lines

    def release(self) -> None:
        with self._lock:
            self._given_up += max(0, len(self._kept) - 1)
            last = max(self._kept, key=lambda key: self._kept[key].used, default=None)
            self._kept = {last: self._kept[last]} if last is not None else {}
            self._flexible.clear()


class _Flexible:
    """Runs one graph for any sizes that it holds for, compiling for buckets of sizes at most."""

    def __init__(self, graph: Graph, level: int | None) -> None:
        self.graph = graph  # kept, so that its id stays its own
        self.runner = graph.optimised(level)
        buckets = Buckets(self.runner, _BUCKETS, warns=False) if graph.has_unknown_sizes else None
        # Where one size cannot be padded there would be a bucket for each of its values.
        is_padded = buckets is not None and buckets.plan.sizes and not buckets.plan.reasons
        self.buckets = buckets if is_padded else None
        self._cold: dict[Any, Any] = {}

    def run(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        if self.buckets is not None:
            return results_of(self.buckets(*tensors))
        key = tuple([tensor._aval for tensor in tensors])
        specialised = self._cold.get(key)
        if specialised is None:
            specialised = self.runner.specialised(tensors)
            if len(self._cold) >= _MOST_COLD:
                self._cold.clear()
            if not self.runner.updates:  # what a run changes must be read again
                self._cold[key] = specialised
        return results_of(run_op_by_op(self.runner, tensors, specialised))

    def described(self) -> list[str]:
        if self.buckets is None:
            return ["other shapes run operation by operation"]
        return ["other shapes run in buckets of sizes:", *self.buckets.explain().splitlines()]


__all__ = ["XlaEngine"]
