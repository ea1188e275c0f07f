"""The server: both protocols in one event loop, models that are followed on disk, and an orderly end."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import signal
import socket
import threading
from collections.abc import Sequence
from typing import Any

from ..kernels.cpu.library import why_not
from .refusals import Refused
from .repository import Repository
from .settings import ServerSettings

logger = logging.getLogger("proa.serving")

_HOW_TO_INSTALL = "pip install 'proa[serve]'"


class CannotServe(Exception):
    """The server cannot start; the text says why."""


class Server:
    """Serves models until it is told to stop.

    `run()` serves in the foreground and ends on SIGTERM or SIGINT; as a context manager it serves beside the program.

    Examples:
        >>> from proa.serving import Server, ServerSettings
        >>> with Server(["models"], ServerSettings(http_port=0, grpc_port=None)) as server:  # doctest: +SKIP
        ...     print(server.http_address)
        127.0.0.1:40123
    """

    def __init__(self, sources: Sequence[str], settings: ServerSettings | None = None) -> None:
        self.settings = (settings or ServerSettings()).checked()
        self.repository = Repository(list(sources), self.settings.model)
        self.http_address: str | None = None
        self.grpc_address: str | None = None
        self.finished = True  # False if it stopped while a model was being loaded
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None

    # ---- starting and stopping -----------------------------------------------------------------------------------------

    def run(self) -> None:
        """Serves until a signal comes. CannotServe if it cannot start."""
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(self._serve(with_signals=True))

    def start(self) -> Server:
        """Serves in a thread of its own, and returns when all models are ready."""
        self._thread = threading.Thread(target=self._run_in_thread, name="proa serves", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            self._thread.join()
            raise self._failure
        atexit.register(self.stop)  # for programs that forget to
        return self

    def stop(self) -> None:
        """Answers what was accepted, then ends."""
        if self._loop is not None and self._stopping is not None:
            with contextlib.suppress(RuntimeError):  # it has ended by itself
                self._loop.call_soon_threadsafe(self._stopping.set)
        if self._thread is not None:
            self._thread.join()
        atexit.unregister(self.stop)

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run_in_thread(self) -> None:
        try:
            with asyncio.Runner(loop_factory=_loop_factory()) as runner:
                runner.run(self._serve(with_signals=False))
        except BaseException as error:
            self._failure = error
            if self._ready.is_set():  # who called start() is no longer there to be told
                logger.exception("the server has ended")
        finally:
            self._ready.set()

    # ---- the life of the server ----------------------------------------------------------------------------------------

    async def _serve(self, with_signals: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        service = _service(self.repository, self.settings)
        ends: list[Any] = []
        if with_signals:
            self._listen_to_signals()
        try:
            # Ports first: whoever asks meanwhile learns that the server lives and is not ready yet.
            ends.append(await self._start_http(service))
            ends.append(await self._start_grpc(service))
            await self._load_all(service)
            if not self._stopping.is_set():
                service.loaded = True
                facts = {"http": self.http_address, "grpc": self.grpc_address}
                where = ", ".join(f"{protocol} at {address}" for protocol, address in facts.items() if address)
                logger.info("ready: %s", where, extra={"facts": facts})
                self._ready.set()
                await self._follow_repository(service)
            logger.info("stopping: no new requests; those that are here have %g s", self.settings.drain_seconds)
        finally:
            service.stopping.set()
            await asyncio.gather(*(end() for end in ends if end is not None))
            # Nobody waits for this loop any more; and when the interpreter ends, no other thread can be started.
            self.finished = service.close(self.settings.drain_seconds)
        logger.info("stopped" if self.finished else "stopped while a model was being loaded")

    def _listen_to_signals(self) -> None:
        assert self._loop is not None
        stopping = self._stopping
        assert stopping is not None

        def asked() -> None:
            if stopping.is_set():
                logger.warning("asked to stop a second time: leaving at once")
                import os

                os._exit(1)
            stopping.set()

        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, asked)

    async def _load_all(self, service: Any) -> None:
        def load() -> None:
            # What is compiled before the native kernels are there does without them as long as the server lives.
            if reason := why_not():
                logger.info("models run without native kernels: %s", reason)
            self.repository.refresh(at_once=True)

        loading = asyncio.ensure_future(service.in_loader(load))
        stopped = asyncio.ensure_future(self._stopping.wait())  # type: ignore[union-attr]
        await asyncio.wait((loading, stopped), return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if not loading.done():
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
        assert self._stopping is not None
        pause = self.settings.poll_seconds or None
        while not self._stopping.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)
            if pause and not self._stopping.is_set():
                following = asyncio.ensure_future(service.in_loader(self.repository.refresh))
                stopped = asyncio.ensure_future(self._stopping.wait())
                await asyncio.wait((following, stopped), return_when=asyncio.FIRST_COMPLETED)
                stopped.cancel()
                if following.done() and following.exception():
                    logger.error("the repository could not be followed", exc_info=following.exception())

    # ---- the two protocols ---------------------------------------------------------------------------------------------

    async def _start_http(self, service: Any) -> Any:
        if self.settings.http_port is None:
            return None
        import uvicorn

        from .http_routes import Routes
        from .http_server import BoundedProtocol, HttpServer

        settings = self.settings
        bound = _bound(settings.host, settings.http_port or 0)
        self.http_address = _address(settings.host, bound)
        config = uvicorn.Config(
            Routes(service).application(), http=BoundedProtocol, ws="none", lifespan="off", log_config=None,
            access_log=False, server_header=False, limit_concurrency=settings.max_connections, timeout_keep_alive=75,
            timeout_graceful_shutdown=int(settings.drain_seconds) + 1,
            ssl_certfile=settings.certificate, ssl_keyfile=settings.private_key,
        )  # fmt: skip
        server = HttpServer(config)
        serving = asyncio.ensure_future(server.serve(sockets=[bound]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.01)

        async def end() -> None:
            server.should_exit = True
            await serving

        return end

    async def _start_grpc(self, service: Any) -> Any:
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
        wanted = f"{_bracketed(settings.host)}:{settings.grpc_port}"
        try:
            if settings.certificate and settings.private_key:
                pair = (_read(settings.private_key), _read(settings.certificate))
                port = server.add_secure_port(wanted, grpc.ssl_server_credentials([pair]))
            else:
                port = server.add_insecure_port(wanted)
        except RuntimeError as error:
            raise CannotServe(f"gRPC cannot listen at {wanted}: {error}") from None
        await server.start()
        self.grpc_address = f"{_bracketed(settings.host)}:{port}"

        async def end() -> None:
            await server.stop(settings.drain_seconds)

        return end


def _service(repository: Repository, settings: ServerSettings) -> Any:
    try:
        import prometheus_client  # noqa: F401

        if settings.http_port is not None:
            import httptools  # noqa: F401
            import starlette  # noqa: F401
            import uvicorn  # noqa: F401
        if settings.grpc_port is not None:
            import google.protobuf  # noqa: F401
            import grpc  # noqa: F401
    except ImportError as error:
        raise CannotServe(f"a package is missing ({error}); install what serving needs: {_HOW_TO_INSTALL}") from None
    from .service import Service

    return Service(repository, settings)


def _loop_factory() -> Any:
    """uvloop's event loop where it is installed."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise CannotServe(f"HTTP cannot listen at {host}:{port}: {error.strerror}") from None
    return bound


def _address(host: str, bound: socket.socket) -> str:
    return f"{_bracketed(host)}:{bound.getsockname()[1]}"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
