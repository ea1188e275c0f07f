"""A worker's side: features are divided among the servers by their hash, updates are numbered and sent until answered.

Where the servers are (actors of Ray, or objects in this process) is the business of a transport: a list of things with
`call(method, *arguments)`, which begins a call and gives a function that waits for its result.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from .config import TableConfig
from .index import mixed


class Unavailable(Exception):
    """The server did not answer: it is gone, or starting again."""


class Server(Protocol):
    def call(self, method: str, *arguments: Any) -> Callable[[], Any]:
        """Begins a call; the function given waits for its result, and raises `Unavailable` where it is to be sent again."""
        ...


class LocalServer:
    """A server in this process."""

    def __init__(self, server: Any) -> None:
        self.server = server

    def call(self, method: str, *arguments: Any) -> Callable[[], Any]:
        result = getattr(self.server, method)(*arguments)
        return lambda: result


class Client:
    """Asks and updates tables. Used by one thread at a time."""

    def __init__(self, servers: Sequence[Server], patience: float = 300.0) -> None:
        self._servers = list(servers)
        self._patience = patience
        self._session = uuid.uuid4().hex
        self._number = 0
        self.retries = 0

    def create(self, config: TableConfig) -> None:
        """Makes a table on every server."""
        from dataclasses import asdict

        self._ask({n: ("create", asdict(config)) for n in range(len(self._servers))})

    def pull(self, name: str, ids: np.ndarray, create: bool = True) -> np.ndarray:
        """The weights of features that are all different and in increasing order."""
        owners = self._owners(ids)
        parts = {n: ids[owners == n] for n in np.unique(owners)}
        found = self._ask({n: ("pull", name, part, create) for n, part in parts.items()})
        width = next(iter(found.values())).shape[1] if found else 0
        rows = np.empty((len(ids), width), np.float32)
        for n, answer in found.items():
            rows[owners == n] = answer
        return rows

    def update(
        self, kind: str, name: str, ids: np.ndarray, numbers: np.ndarray, shows: np.ndarray, rate: float | None = None
    ) -> None:
        """`push` of gradients, `add` of differences, `assign` of weights; returns when every server has acknowledged it."""
        owners = self._owners(ids)
        self._number += 1
        self._ask(
            {
                n: ("update", kind, name, self._session, self._number, ids[mine], numbers[mine], shows[mine], rate)
                for n in np.unique(owners)
                for mine in (owners == n,)
            }
        )

    def everywhere(self, method: str, *arguments: Any) -> list[Any]:
        """The answers of all servers."""
        found = self._ask(dict.fromkeys(range(len(self._servers)), (method, *arguments)))
        return [found[n] for n in range(len(self._servers))]

    def ask_first(self, method: str, *arguments: Any) -> Any:
        """The answer of the first server, which keeps what is not divided."""
        return self._ask({0: (method, *arguments)})[0]

    def _owners(self, ids: np.ndarray) -> np.ndarray:
        # Other bits than those by which a server's own table is divided.
        return ((mixed(ids) >> np.uint64(32)) % np.uint64(len(self._servers))).astype(np.int64)

    def _ask(self, questions: dict[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Asks servers at the same time, again those that did not answer."""
        answers: dict[int, Any] = {}
        until = time.monotonic() + self._patience
        while True:
            waiting = {}
            for n, question in questions.items():
                if n not in answers:
                    waiting[n] = self._begin(n, question)
            lost: Exception | None = None
            for n, wait in waiting.items():
                try:
                    answers[n] = wait()
                except Unavailable as error:
                    lost = error
            if lost is None:
                return answers
            if time.monotonic() > until:
                raise RuntimeError(
                    f"(fleet) table servers did not answer within {self._patience:.0f} s; received: {lost}; see whether "
                    "they are running."
                ) from lost
            self.retries += 1
            time.sleep(0.2)

    def _begin(self, n: int, question: tuple[Any, ...]) -> Callable[[], Any]:
        try:
            return self._servers[n].call(*question)
        except Unavailable as error:
            failure = error

            def again() -> Any:
                raise failure

            return again
