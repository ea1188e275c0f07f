"""`fleet` in a job with table servers: what servers and workers do from start to end.

A server's process keeps its actor alive and ends when all workers have; a worker's asks and updates tables. Tables are
kept in the folder that `init_server` is given, or PROA_TABLES; without one they are in memory, and a server that dies
has lost them.
"""

from __future__ import annotations

import os
import time
from typing import Any

from ...core.errors import value_error
from ...framework import safetensors
from ...framework.writing import replacing
from ...ops.create.top_level import in_dynamic_mode
from ...static.nn.common import on_servers
from ..ps.client import Client
from ..ps.cluster import Head, RayServer, connect, disconnect, start_server
from ..ps.embedding import ServerOptimizer, sparse_embedding
from ..ps.programs import ProgramOptimizer
from ..ps.session import Session, current_session, joined_session, set_session

_POLL_SECONDS = 0.3


class ServerMode:
    """One process's part in such a job."""

    def __init__(self, role: Any, strategy: Any) -> None:
        self._role, self._strategy = role, strategy
        self._head: Head | None = None
        self._folder: str | None = None
        self._session: Session | None = None
        on_servers[:] = [sparse_embedding]

    # ---- servers ---------------------------------------------------------------------------------

    def init_server(self, folder: str | None) -> None:
        """Says where this server keeps its tables; what lies there is taken over."""
        folder = folder or os.environ.get("PROA_TABLES")
        number = self._role._server_index()
        self._folder = None if folder is None else os.path.join(os.path.abspath(folder), f"server-{number}")

    def run_server(self) -> None:
        """Serves until every worker has said that it ends."""
        address = self._role._get_pserver_endpoints()[0]
        number = self._role._server_index()
        if number == 0 and not os.environ.get("RAY_ADDRESS"):
            self._head = Head(address)
        try:
            connect(address, check=self._head.check if self._head is not None else lambda: None)
            server = start_server(number, self._folder, sync=os.environ.get("PROA_TABLES_SYNC") == "1")
            self._serve(server)
            if self._head is not None:
                self._wait_for_others()
        finally:
            disconnect()
            if self._head is not None:
                self._head.stop()

    def _serve(self, server: RayServer) -> None:
        client = Client([server])
        while client.ask_first("num_left") < self._role._worker_num():
            time.sleep(_POLL_SECONDS)
        server.stop()

    def _wait_for_others(self, seconds: float = 120.0) -> None:
        """The Ray of the first server ends last."""
        import ray  # type: ignore[import-not-found]

        until = time.monotonic() + seconds
        while ray.util.list_named_actors() and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)

    # ---- workers ---------------------------------------------------------------------------------

    def init_worker(self) -> None:
        """Joins the servers."""
        endpoints = self._role._get_pserver_endpoints()
        connect(endpoints[0])
        servers = [RayServer(number) for number in range(len(endpoints))]
        steps = int(self._strategy.a_sync_configs.get("k_steps", 0)) if self._strategy.a_sync else 0
        mode = "at once" if not self._strategy.a_sync else "geo" if steps > 0 else "background"
        worker, count = self._role._worker_index(), self._role._worker_num()
        self._session = Session(servers, worker, count, mode, steps)
        self._session.client.everywhere("join", worker)
        set_session(self._session)

    def stop_worker(self) -> None:
        """Waits until everything sent is acknowledged, and says that this worker ends."""
        if self._session is None:
            raise RuntimeError(
                "(fleet.stop_worker) this worker has not joined the servers; call fleet.init_worker() first."
            )
        self._session.communicator.flush()
        self._session.client.everywhere("leave", self._session.worker)
        set_session(None)
        on_servers.clear()
        self._session = None
        disconnect()

    def place(self) -> tuple[int, int]:
        """Which worker this is, of how many."""
        return self._role._worker_index(), self._role._worker_num()

    def gather(self, thing: Any) -> list[Any]:
        """The things of all workers."""
        return joined_session("fleet.util").gather(thing)

    def barrier_worker(self) -> None:
        current_session().barrier()

    def distributed_optimizer(self, optimizer: Any, strategy: Any) -> ServerOptimizer | ProgramOptimizer:
        """The optimiser whose steps happen on the servers; in a static program workers join later."""
        if not in_dynamic_mode():
            self._strategy = strategy or self._strategy
            return ProgramOptimizer(optimizer)
        if self._session is None:
            raise RuntimeError(
                "(fleet.distributed_optimizer) call fleet.init_worker() first: the parameters go to the servers."
            )
        return ServerOptimizer(optimizer)

    def save_tables(self, folder: str) -> list[str]:
        """Writes every table, a file of safetensors for each server's part: `features` and their `weights`."""
        session = current_session()
        session.communicator.flush()
        os.makedirs(folder, exist_ok=True)
        written = []
        for name in session.configs:
            for number, (ids, weights) in enumerate(session.client.everywhere("export", name)):
                written.append(os.path.join(os.path.realpath(folder), f"{name}.{number}.safetensors"))
                with replacing(written[-1]) as file:
                    safetensors.write(file, {"features": ids, "weights": weights})
        return written

    def shrink(self, day: int | None) -> int:
        """A new day for all tables: features that are too old or too rare are forgotten; gives how many are left."""
        session = current_session()
        session.communicator.flush()
        if day is not None and day < 0:
            raise value_error("fleet.shrink", "the day must not be negative", str(day))
        left = 0
        for name in session.configs:
            now = day if day is not None else 1 + max(session.client.everywhere("day", name))
            left += sum(session.client.everywhere("shrink", name, now))
        return left
