"""The life of any server of ours: in the foreground or beside a program, signals, an orderly end, and HTTP.

`Server` (saved models) and `proa.llm.server.Server` (language models) say what they serve; all else is here.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import signal
import socket
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Self

from ..core.elsewhere import from_elsewhere
from .settings import HostSettings

logger = logging.getLogger("proa.serving")

HOW_TO_INSTALL = "pip install 'proa[serve]'"
End = Callable[[], Awaitable[None]]


class CannotServe(Exception):
    """The server cannot start; the text says why.

    Examples:
        >>> issubclass(paddle.serving.CannotServe, Exception)
        True
    """


class Host:
    """Serves until it is told to stop: `run()` in the foreground, as a context manager beside the program."""

    settings: HostSettings

    def __init__(self, settings: HostSettings) -> None:
        self.settings = settings
        self.http_address: str | None = None
        self.finished = True  # False if it stopped while something was being loaded
        self._loop: asyncio.AbstractEventLoop | None = None
        self._asked_to_stop: asyncio.Event | None = None
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None

    async def _serve(self) -> None:
        """Listens, loads, calls `_tell_ready`, waits for `_stopping`, and ends what it has begun."""
        raise NotImplementedError

    # ---- starting and stopping -----------------------------------------------------------------------------------------

    def run(self) -> None:
        """Serves until a signal comes. CannotServe if it cannot start."""
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(self._live(with_signals=True))

    def start(self) -> Self:
        """Serves in a thread of its own, and returns when everything is ready."""
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
        if self._loop is not None and self._asked_to_stop is not None:
            with contextlib.suppress(RuntimeError):  # it has ended by itself
                self._loop.call_soon_threadsafe(self._asked_to_stop.set)
        if self._thread is not None:
            self._thread.join()
        atexit.unregister(self.stop)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run_in_thread(self) -> None:
        try:
            with asyncio.Runner(loop_factory=_loop_factory()) as runner:
                runner.run(self._live(with_signals=False))
        except BaseException as error:
            self._failure = error
            if self._ready.is_set():  # who called start() is no longer there to be told
                logger.exception("the server has ended")
        finally:
            self._ready.set()

    async def _live(self, with_signals: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._asked_to_stop = asyncio.Event()
        if with_signals:
            for number in (signal.SIGTERM, signal.SIGINT):
                self._loop.add_signal_handler(number, self._signalled)
        await self._serve()

    def _signalled(self) -> None:
        if self._stopping.is_set():
            logger.warning("asked to stop a second time: leaving at once")
            os._exit(1)
        self._stopping.set()

    # ---- for those who serve ---------------------------------------------------------------------------------------------

    @property
    def _stopping(self) -> asyncio.Event:
        """Set when the server was told to stop."""
        assert self._asked_to_stop is not None
        return self._asked_to_stop

    async def _until_stopping(self, work: asyncio.Future[Any]) -> bool:
        """Waits for work, or until the server is told to stop; whether the work is done."""
        stopped = asyncio.ensure_future(self._stopping.wait())
        await asyncio.wait((work, stopped), return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        return work.done()

    def _tell_ready(self, addresses: dict[str, str | None], **facts: Any) -> None:
        where = ", ".join(f"{protocol} at {address}" for protocol, address in addresses.items() if address)
        logger.info("ready: %s", where, extra={"facts": {**addresses, **facts}})
        self._ready.set()

    async def _start_http(self, application: Any) -> End:
        """Listens for HTTP; gives what ends that, after the requests that are here are answered."""
        import uvicorn

        from .http_server import BoundedProtocol, HttpServer

        settings = self.settings
        bound = _bound(settings.host, settings.http_port or 0)
        self.http_address = f"{bracketed(settings.host)}:{bound.getsockname()[1]}"
        config = uvicorn.Config(
            application, http=BoundedProtocol, ws="none", lifespan="off", log_config=None,
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


def check_packages(*names: str) -> None:
    """CannotServe unless all of them can be imported."""
    import importlib

    try:
        for name in names:
            importlib.import_module(from_elsewhere(name))
    except ImportError as error:
        raise CannotServe(f"a package is missing ({error}); install what serving needs: {HOW_TO_INSTALL}") from None


def bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


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
