"""The server of saved models: both protocols in one event loop, models that are followed on disk, and an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from typing import Any

from ..kernels.cpu.library import why_not
from .host import CannotServe, End, Host, bracketed, check_packages
from .refusals import Refused
from .repository import Repository
from .settings import ServerSettings

logger = logging.getLogger("proa.serving")


class Server(Host):
    """Serves models until it is told to stop.

    `run()` serves in the foreground and ends on SIGTERM or SIGINT; as a context manager it serves beside the program.

    Examples:
        >>> from proa.serving import Server, ServerSettings
        >>> with Server(["models"], ServerSettings(http_port=0, grpc_port=None)) as server:  # doctest: +SKIP
        ...     print(server.http_address)
        127.0.0.1:40123
    """

    settings: ServerSettings

    def __init__(self, sources: Sequence[str], settings: ServerSettings | None = None) -> None:
        super().__init__((settings or ServerSettings()).checked())
        self.repository = Repository(list(sources), self.settings.model)
        self.grpc_address: str | None = None

    # ---- the life of the server ----------------------------------------------------------------------------------------

    async def _serve(self) -> None:
        service = _service(self.repository, self.settings)
        ends: list[End | None] = []
        try:
            # Ports first: whoever asks meanwhile learns that the server lives and is not ready yet.
            ends.append(await self._start_models_http(service))
            ends.append(await self._start_grpc(service))
            await self._load_all(service)
            if not self._stopping.is_set():
                service.loaded = True
                self._tell_ready({"http": self.http_address, "grpc": self.grpc_address})
                await self._follow_repository(service)
            logger.info("stopping: no new requests; those that are here have %g s", self.settings.drain_seconds)
        finally:
            service.stopping.set()
            await asyncio.gather(*(end() for end in ends if end is not None))
            # Nobody waits for this loop any more; and when the interpreter ends, no other thread can be started.
            self.finished = service.close(self.settings.drain_seconds)
        logger.info("stopped" if self.finished else "stopped while a model was being loaded")

    async def _load_all(self, service: Any) -> None:
        def load() -> None:
            # What is compiled before the native kernels are there does without them as long as the server lives.
            if reason := why_not():
                logger.info("models run without native kernels: %s", reason)
            self.repository.refresh(at_once=True)

        loading = asyncio.ensure_future(service.in_loader(load))
        if not await self._until_stopping(loading):
            return
        try:
            loading.result()
        except (OSError, ValueError, Refused) as error:
            raise CannotServe(str(error)) from None
        if self.settings.keep_going:
            return
        if self.repository.problems:
            raise CannotServe("\n".join([*self.repository.problems, "(--keep-going serves the other models)"]))
        if not self.repository.served():
            raise CannotServe(
                f"there is no model in {', '.join(self.repository.sources)}; a repository is a folder of "
                "MODEL/VERSION/files (--keep-going waits for models to come)"
            )

    async def _follow_repository(self, service: Any) -> None:
        """Until the server is told to stop."""
        pause = self.settings.poll_seconds or None
        while not self._stopping.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)
            if pause and not self._stopping.is_set():
                following = asyncio.ensure_future(service.in_loader(self.repository.refresh))
                if await self._until_stopping(following) and following.exception():
                    logger.error("the repository could not be followed", exc_info=following.exception())

    # ---- the two protocols ---------------------------------------------------------------------------------------------

    async def _start_models_http(self, service: Any) -> End | None:
        if self.settings.http_port is None:
            return None
        from .http_routes import Routes

        return await self._start_http(Routes(service).application())

    async def _start_grpc(self, service: Any) -> End | None:
        if self.settings.grpc_port is None:
            return None
        import grpc

        from .rpc import Methods

        settings = self.settings
        # One port is one server's: without this, gRPC would share it with whoever has it already.
        options = [
            ("grpc.max_receive_message_length", service.max_bytes), ("grpc.max_send_message_length", -1),
            ("grpc.so_reuseport", 0),
        ]  # fmt: skip
        server = grpc.aio.server(options=options, maximum_concurrent_rpcs=settings.max_connections)
        server.add_generic_rpc_handlers((Methods(service).handler(),))
        wanted = f"{bracketed(settings.host)}:{settings.grpc_port}"
        try:
            if settings.certificate and settings.private_key:
                pair = (_read(settings.private_key), _read(settings.certificate))
                port = server.add_secure_port(wanted, grpc.ssl_server_credentials([pair]))
            else:
                port = server.add_insecure_port(wanted)
        except RuntimeError as error:
            raise CannotServe(f"gRPC cannot listen at {wanted}: {error}") from None
        await server.start()
        self.grpc_address = f"{bracketed(settings.host)}:{port}"

        async def end() -> None:
            await server.stop(settings.drain_seconds)

        return end


def _service(repository: Repository, settings: ServerSettings) -> Any:
    check_packages("prometheus_client")
    if settings.http_port is not None:
        check_packages("httptools", "starlette", "uvicorn")
    if settings.grpc_port is not None:
        check_packages("google.protobuf", "grpc")
    from .service import Service

    return Service(repository, settings)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
