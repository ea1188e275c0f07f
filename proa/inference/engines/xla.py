"""Our own engine: XLA with native kernels.

A shape that comes often gets an executable of its own, the first ones at once (`kept.py`). All other shapes run without
compiling anything: in executables for buckets of sizes where padding changes nothing, else operation by operation. Packed
weights are shared by all of them (`graph/optimised.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.locks import new_lock
from ...core.place import CPU
from ...eager.tensor import Tensor
from ...graph import Graph
from ...graph.cold import run_op_by_op
from ...jit.bucketing import Buckets
from ...kernels.cpu import fused
from ..models import Casts, Model, results_of
from .base import Engine, Settings
from .kept import Kept

_AT_ONCE = 8  # shapes that are compiled when first seen
_MOST_COLD = 32  # shapes whose Program for running operation by operation is kept
_BUCKETS = 8


class XlaEngine(Engine):
    """XLA with native kernels; takes every model."""

    name = "xla"

    def __init__(self, model: Model, settings: Settings) -> None:
        super().__init__(model, settings)
        self._casts = Casts(settings.precision, settings.but, _rounds_in_layers(model, settings))
        self._kept = Kept(settings.shapes, _AT_ONCE)  # graphs, each with one executable
        self._flexible: dict[int, _Flexible] = {}
        self._lock = new_lock()

    def run(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        key = tuple([tensor._aval for tensor in tensors])
        graph = self._kept.get(key)
        if graph is None:
            graph = self._new(key, tensors)
        if graph is None:
            return self._run_rare(tensors)
        return results_of(graph.optimised(self.settings.level).run(tensors))

    # ---- shapes that were not seen, or not often enough -----------------------------------------------------------

    def _new(self, key: Any, tensors: Sequence[Tensor]) -> Graph | None:
        """The graph for a shape that has none yet, if it is to have one."""
        self.model.check(tensors)
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                return found
            if self.model.reason is not None or not self._kept.deserves(key):
                return None
            graph = self.model.exact(tensors, self._casts)
            if graph is not None:
                self._kept.add(key, graph)
            return graph

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
        kept = self._kept
        compiled = f"{len(kept)} of at most {kept.most} shapes compiled"
        lines = [f"xla: {compiled}, {kept.given_up} given up for others, {kept.num_seen} seen too seldom"]
        if self.model.reason is not None:
            lines.append(f"  runs operation by operation: {self.model.reason}")
        if self.settings.threads is not None:
            lines.append("  threads: those of the process (PROA_NUM_THREADS), not the Config's")
        for flexible in list(self._flexible.values()):
            lines += [f"  {line}" for line in flexible.described()]
        return lines

    def release(self) -> None:
        with self._lock:
            self._kept.release()
            self._flexible.clear()


def _rounds_in_layers(model: Model, settings: Settings) -> bool:
    """Whether bfloat16 is a matter of layers with packed weights; else operations are cast, as `auto_cast` does it."""
    usual = settings.level is None or settings.level >= 2  # the level of the pass that packs
    wanted = settings.precision == "bfloat16" and not settings.but and usual
    return wanted and model.place is CPU and fused.is_low_available()


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
