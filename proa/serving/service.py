"""What the server does, whichever protocol asks: answers of models, questions about them, loading and unloading.

HTTP (`http_routes.py`) and gRPC (`rpc.py`) translate their messages into calls of `Service` and back, nothing else.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..version import proa_version
from .admission import Memory
from .metrics import Metrics
from .refusals import Closed, Kind, Refused, bad_request
from .repository import Repository
from .settings import ServerSettings
from .signature import Port, Signature
from .version import Version

logger = logging.getLogger("proa.serving")

EXTENSIONS = ("binary_tensor_data", "model_configuration", "model_repository", "statistics")
_NOT_OFFERED = ("shared_memory_region", "classification", "sequence_id")


@dataclass
class Question:
    """A request for results, understood and fit for the model's signature."""

    inputs: dict[str, np.ndarray]
    outputs: list[tuple[str, bool]] = field(default_factory=list)  # name, and whether as bytes; none: all
    binary: bool = False  # for outputs that were not named
    id: str = ""
    timeout: float | None = None


@dataclass
class Answer:
    """The results that were asked for."""

    version: Version
    question: Question
    outputs: list[tuple[Port, np.ndarray, bool]]  # and whether as bytes


class Service:
    """The models, the limits and the metrics of one server."""

    def __init__(self, repository: Repository, settings: ServerSettings) -> None:
        self.repository = repository
        self.settings = settings
        self.metrics = Metrics(repository)
        self.loaded = False  # all models were looked at once
        self.stopping = asyncio.Event()
        self.max_bytes = int(settings.max_request_mb * (1 << 20))
        self.memory = Memory(int(settings.max_memory_mb * (1 << 20)))
        # Loading is done by one thread: models that compile at the same time would only slow each other down.
        self._loader = ThreadPoolExecutor(1, "proa loads models")

    @property
    def draining(self) -> bool:
        """Whether nothing new is taken any more."""
        return self.stopping.is_set()

    @property
    def ready(self) -> bool:
        return self.loaded and not self.draining

    # ---- results -----------------------------------------------------------------------------------------------------

    async def infer(
        self, protocol: str, name: str, version: str, understand: Callable[[Signature], Question]
    ) -> Answer:
        """Finds the model, lets `understand` read the request for its signature, and runs it."""
        started = time.perf_counter()
        served: Version | None = None
        outcome = "OK"
        try:
            for _ in range(3):
                served = self.repository.find(name, version)
                question = understand(served.signature)
                try:
                    return await self._answer(served, question)
                except Closed:  # replaced between the two lines; the next one has taken its place
                    continue
            raise Refused(Kind.BUSY, f"{name} is being replaced; ask again later.")
        except Refused as refused:
            outcome = refused.kind.name
            raise
        except asyncio.CancelledError:
            outcome = Kind.GONE.name
            raise
        except Exception:
            outcome = Kind.FAILED.name
            raise
        finally:
            seconds = time.perf_counter() - started
            self.metrics.answered(served.name if served else "", protocol, outcome, seconds)
            if self.settings.log_requests:
                facts = {"model": name, "version": served.version if served else version, "protocol": protocol}
                facts |= {"outcome": outcome, "milliseconds": round(seconds * 1e3, 3)}
                logger.info("%s %s %s", protocol, name, outcome, extra={"facts": facts})

    async def _answer(self, served: Version, question: Question) -> Answer:
        signature = served.signature
        wanted = [(signature.output_index(name), binary) for name, binary in question.outputs]
        wanted = wanted or [(index, question.binary) for index in range(len(signature.outputs))]
        for index, binary in wanted:
            if not binary and signature.outputs[index].datatype in ("FP16", "BF16"):
                output = signature.outputs[index]
                raise bad_request(
                    f"{output.name} is {output.datatype}, which travels as binary data only; ask for that."
                )
        results = await served.infer(signature.ordered(question.inputs), question.timeout)
        outputs = [(signature.outputs[index], results[index], binary) for index, binary in wanted]
        return Answer(served, question, outputs)

    # ---- questions ---------------------------------------------------------------------------------------------------

    def server_metadata(self) -> dict[str, Any]:
        return {"name": "proa", "version": proa_version, "extensions": list(EXTENSIONS)}

    def model_metadata(self, name: str, version: str) -> dict[str, Any]:
        served = self.repository.find(name, version)
        return {
            "name": name, "versions": self.repository.versions_of(name), "platform": "proa",
            "inputs": [port.shown() for port in served.signature.inputs],
            "outputs": [port.shown() for port in served.signature.outputs],
        }  # fmt: skip

    def model_config(self, name: str, version: str) -> dict[str, Any]:
        """In the words of the model configuration extension; sizes leave out the rows where there are batches."""
        served = self.repository.find(name, version)
        most = served.settings.max_batch_size if served.batched else 0
        found: dict[str, Any] = {
            "name": name, "platform": "proa", "backend": "proa", "max_batch_size": most,
            "input": [_configured(port, served.batched) for port in served.signature.inputs],
            "output": [_configured(port, served.batched) for port in served.signature.outputs],
            "instance_group": [{"name": name, "count": served.settings.instances}],
        }  # fmt: skip
        if served.batched:
            delay = int(served.settings.batch_delay_ms * 1e3)
            found["dynamic_batching"] = {
                "preferred_batch_size": served.scheduler.sizes, "max_queue_delay_microseconds": delay,
            }  # fmt: skip
        return found

    def statistics(self, name: str = "", version: str = "") -> list[dict[str, Any]]:
        return [
            each.statistics.shown(each.name, each.version) | {"waiting": each.scheduler.depth}
            for each in self.repository.served(name, version)
        ]

    def is_model_ready(self, name: str, version: str) -> bool:
        try:
            self.repository.find(name, version)
        except Refused:
            return False
        return not self.draining

    # ---- loading -----------------------------------------------------------------------------------------------------

    async def load(self, name: str, parameters: Mapping[str, Any]) -> None:
        self._check_control()
        if parameters:
            raise Refused(
                Kind.NOT_OFFERED,
                "a model is loaded as it lies in the repository; configurations and files of a request are not taken.",
            )
        await self.in_loader(functools.partial(self.repository.load, name))

    async def unload(self, name: str) -> None:
        self._check_control()
        await self.in_loader(functools.partial(self.repository.unload, name))

    def _check_control(self) -> None:
        if not self.settings.may_control:
            raise Refused(
                Kind.FORBIDDEN,
                "this server is open to other machines without a token, so models cannot be loaded or unloaded by request.",
            )

    async def in_loader(self, work: Callable[[], None]) -> None:
        await asyncio.get_running_loop().run_in_executor(self._loader, work)

    def close(self, seconds: float) -> bool:
        """Ends the threads of all models, after they have answered what they accepted. Whether that could be done in time:
        a model that is being loaded cannot be interrupted."""
        self._loader.shutdown(wait=False, cancel_futures=True)
        return self.repository.close(seconds)


def refuse_not_offered(parameters: Mapping[str, Any]) -> None:
    """Parameters that would change the answer are refused, not ignored."""
    for name in _NOT_OFFERED:
        if parameters.get(name):
            raise Refused(Kind.NOT_OFFERED, f"this server does not offer {name}.")


def seconds_of(timeout: Any) -> float | None:
    """A caller's own limit, which the protocol gives in microseconds."""
    is_number = isinstance(timeout, (int, float)) and not isinstance(timeout, bool) and timeout > 0
    return timeout / 1e6 if is_number else None


def _configured(port: Port, batched: bool) -> dict[str, Any]:
    sizes = list(port.shape[1:] if batched else port.shape)
    return {"name": port.name, "data_type": f"TYPE_{port.datatype}", "dims": sizes}
