"""Metrics for Prometheus: what callers wait for, how much is written, and how full the engines are."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ...serving.metrics import text_of

if TYPE_CHECKING:
    from .served import Served

_FIRST = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_BETWEEN = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_WHOLE = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)


class Metrics:
    """A registry of one server's own."""

    def __init__(self, models: Callable[[], Iterable[Served]]) -> None:
        from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector

        registry = self.registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self.requests = Counter(
            "proa_llm_requests", "Requests, by outcome.", ("model", "path", "outcome"), registry=registry
        )
        self.prompt_tokens = Counter("proa_llm_prompt_tokens", "Tokens read.", ("model",), registry=registry)
        self.written_tokens = Counter("proa_llm_written_tokens", "Tokens written.", ("model",), registry=registry)
        self.first = Histogram(
            "proa_llm_time_to_first_token_seconds", "From the arrival of a request to its first token.", ("model",),
            buckets=_FIRST, registry=registry,
        )  # fmt: skip
        self.between = Histogram(
            "proa_llm_time_between_tokens_seconds", "From one token of an answer to the next.", ("model",),
            buckets=_BETWEEN, registry=registry,
        )  # fmt: skip
        self.whole = Histogram(
            "proa_llm_request_seconds", "From the arrival of a request to the end of its answer.", ("model", "path"),
            buckets=_WHOLE, registry=registry,
        )  # fmt: skip
        registry.register(_Engines(models))  # type: ignore[arg-type]

    def text(self) -> tuple[bytes, str]:
        return text_of(self.registry)


class Times:
    """When the tokens of one request came."""

    def __init__(self, metrics: Metrics, model: str, started: float) -> None:
        self._first, self._between = metrics.first.labels(model), metrics.between.labels(model)
        self._started = started
        self.to_first: float | None = None

    def token(self, since_last: float | None) -> None:
        """`since_last`: seconds since the token before in the same answer; None for its first one."""
        if since_last is not None:
            self._between.observe(since_last)
        elif self.to_first is None:
            self.to_first = time.perf_counter() - self._started
            self._first.observe(self.to_first)


class _Engines:
    """What the engines' own statistics say at the moment: every number is a gauge."""

    def __init__(self, models: Callable[[], Iterable[Served]]) -> None:
        self._models = models

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import GaugeMetricFamily

        families: dict[str, Any] = {}
        for served in self._models():
            for name, value in _numbers(served):
                if name not in families:
                    text = f"The engine's {name.replace('_', ' ')} at the moment."
                    families[name] = GaugeMetricFamily(f"proa_llm_engine_{name}", text, labels=("model",))
                families[name].add_metric((served.name,), float(value))
        yield from families.values()


def _numbers(served: Served) -> Iterator[tuple[str, float]]:
    if served.engine is None:
        return
    for name, value in served.engine.statistics().items():
        if isinstance(value, (int, float)):
            yield name, value
