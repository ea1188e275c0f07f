"""Metrics for Prometheus. What happens to each request is counted when it happens; the rest is read when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .repository import Repository

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """A registry of one server's own, so that several can live in a process."""

    def __init__(self, repository: Repository) -> None:
        from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector

        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._requests = Counter(
            "proa_requests", "Requests for results, by outcome.", ("model", "protocol", "outcome"),
            registry=self.registry,
        )  # fmt: skip
        self._seconds = Histogram(
            "proa_request_seconds", "From the arrival of a request to its answer.", ("model",), buckets=_SECONDS,
            registry=self.registry,
        )  # fmt: skip
        self.registry.register(_Models(repository))  # type: ignore[arg-type]
        self._known: dict[tuple[str, str, str], tuple[Any, Any]] = {}

    def answered(self, model: str, protocol: str, outcome: str, seconds: float) -> None:
        key = (model, protocol, outcome)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = (self._requests.labels(*key), self._seconds.labels(model))
        found[0].inc()
        found[1].observe(seconds)

    def text(self) -> tuple[bytes, str]:
        return text_of(self.registry)


def text_of(registry: Any) -> tuple[bytes, str]:
    """All metrics as Prometheus reads them, and the type of that text."""
    from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

    return generate_latest(registry), CONTENT_TYPE_LATEST


class _Models:
    """What the models' own statistics say at the moment."""

    COUNTERS = (
        ("proa_rows", "Rows that were computed.", lambda shown: shown["inference_count"]),
        ("proa_executions", "Executions; fewer than rows where requests ran together.",
         lambda shown: shown["execution_count"]),
        ("proa_queue_seconds", "Time that requests waited.", lambda shown: shown["inference_stats"]["queue"]["ns"] / 1e9),
        ("proa_execution_seconds", "Time that models ran.",
         lambda shown: sum(batch["compute_infer"]["ns"] for batch in shown["batch_stats"]) / 1e9),
    )  # fmt: skip

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        labels = ("model", "version")
        served = self._repository.served()
        shown = [each.statistics.shown(each.name, each.version) for each in served]
        for name, text, value in self.COUNTERS:
            family = CounterMetricFamily(name, text, labels=labels)
            for each in shown:
                family.add_metric((each["name"], each["version"]), value(each))
            yield family
        waiting = GaugeMetricFamily("proa_waiting_requests", "Requests that wait for a model.", labels=labels)
        running = GaugeMetricFamily("proa_running_requests", "Requests that a model is computing.", labels=labels)
        for each in served:
            waiting.add_metric((each.name, each.version), each.scheduler.depth)
            running.add_metric((each.name, each.version), each.scheduler.num_running)
        yield waiting
        yield running
        ready = GaugeMetricFamily("proa_model_ready", "1 if a version answers requests.", labels=labels)
        for entry in self._repository.index():
            ready.add_metric((entry["name"], entry["version"]), float(entry["state"] == "READY"))
        yield ready
