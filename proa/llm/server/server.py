"""The server of language models: opened, listening, drained."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

from ...serving.host import CannotServe, Host, check_packages
from .served import Served
from .settings import Settings

logger = logging.getLogger("proa.serving")

Opening = Callable[[], Served]


class Server(Host):
    """Serves language models until it is told to stop. `models` are functions that open them, called once it listens.

    `run()` serves in the foreground and ends on SIGTERM or SIGINT; as a context manager it serves beside the program.
    """

    settings: Settings

    def __init__(self, models: Sequence[Opening], settings: Settings | None = None) -> None:
        super().__init__((settings or Settings()).checked())
        self._models = list(models)

    async def _serve(self) -> None:
        check_packages("prometheus_client", "httptools", "starlette", "uvicorn")
        from .routes import Routes
        from .service import Service

        service = Service(self.settings)
        # The port first: whoever asks meanwhile learns that the server lives and is not ready yet.
        end = await self._start_http(Routes(service).application())
        try:
            loading = asyncio.ensure_future(asyncio.to_thread(self._open_all))
            if await self._until_stopping(loading):
                service.models = loading.result()
                service.loaded = True
                self._tell_ready({"http": self.http_address}, models=list(service.models))
                await self._stopping.wait()
            else:
                self.finished = False
            logger.info("stopping: no new requests; those that are here have %g s", self.settings.drain_seconds)
        finally:
            service.stopping = True
            await end()
            service.close()
        logger.info("stopped" if self.finished else "stopped while a model was being loaded")

    def _open_all(self) -> dict[str, Served]:
        found: dict[str, Served] = {}
        for open_model in self._models:
            begun = time.perf_counter()
            try:
                served = open_model()
            except (OSError, ValueError, TypeError, ImportError, MemoryError) as error:
                raise CannotServe(str(error)) from error
            for name in (served.name, *served.adapters):
                if any(name in (each.name, *each.adapters) for each in found.values()):
                    raise CannotServe(f"two models are called {name}; give one another name: --llm NAME=PATH")
            found[served.name] = served
            seconds = time.perf_counter() - begun
            logger.info(
                "%s was opened in %.1f s; it reads and writes up to %d tokens", served.name, seconds, served.context
            )
        return found
