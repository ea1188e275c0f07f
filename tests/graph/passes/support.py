"""Comparing a graph after the passes with the graph as captured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import proa as paddle
from proa.graph import Graph, capture
from proa.static import InputSpec


def graph_of(function: Callable[..., Any], *shapes: Sequence[int | None], dtype: str = "float32") -> Graph:
    return capture(function, [InputSpec(list(shape), dtype) for shape in shapes])


def random(*shape: int, seed: int = 0) -> Any:
    return paddle.to_tensor(np.random.default_rng(seed).normal(size=shape).astype("float32"))


def flat(result: Any) -> list[np.ndarray]:
    return [t.numpy() for t in (result if isinstance(result, (list, tuple)) else [result])]


def kinds(graph: Graph, level: int | None = None) -> Counter[str]:
    """How often each operation is left after the passes."""
    return Counter(i.operation.name for i in graph.optimised(level).program.instructions)


def changed_by(graph: Graph) -> dict[str, int]:
    """The passes that changed something."""
    records: Any = graph.optimised().records
    return {record.name: record.changes for record in records if record.changes}


def assert_unchanged(graph: Graph, *tensors: Any, level: int | None = None) -> None:
    """The passes keep the results within 1e-5 of their size."""
    expected = flat(graph.run(tensors))
    found = flat(graph.optimised(level).run(tensors))
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        finite = np.abs(other[np.isfinite(other)]) if other.dtype.kind == "f" else np.ones(1)
        scale = max(1.0, float(finite.max(initial=0)))
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5 * scale)
