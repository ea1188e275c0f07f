"""The processes that save or load a checkpoint together, and the few words they exchange.

Numbers never pass here: each process writes and reads its own files. What is exchanged (who holds which part, what was
written) goes through the key-value store of JAX's coordination service, which any thread may ask at any time, so that a
save in the background needs no collective that would have to be called in the same order everywhere.
"""

from __future__ import annotations

import itertools
import json
import zlib
from typing import Any

from ...core import job
from ...core.errors import runtime_error, value_error

_operations: dict[tuple[int, ...], Any] = {}  # for each group of processes, the number of its next operation


class Processes:
    """One operation of a group of processes; made by each of them, in the same order."""

    def __init__(self, where: str, group: Any, coordinator: int) -> None:
        self._where = where
        self.rank, num_processes = _position(where)
        self.ranks = tuple(getattr(group, "ranks", None) or range(num_processes))
        if self.rank not in self.ranks:
            raise value_error(where, "only processes of the group may call this", f"process {self.rank}: {self.ranks}")
        if coordinator not in self.ranks:
            raise value_error(
                where, "the coordinator must be a process of the group", f"coordinator_rank: {coordinator}"
            )
        self._coordinator = coordinator
        number = next(_operations.setdefault(self.ranks, itertools.count()))
        self._prefix = f"proa/checkpoint/{'-'.join(map(str, self.ranks))}/{number}"
        self._rounds = itertools.count()

    @property
    def is_coordinator(self) -> bool:
        return self.rank == self._coordinator

    def agree(self, value: Any) -> Any:
        """What the coordinator gave."""
        return self.exchange(value if self.is_coordinator else None)[self.ranks.index(self._coordinator)]

    def exchange(self, value: Any) -> list[Any]:
        """What each process gave (plain data), in the order of their ranks."""
        if len(self.ranks) == 1:
            return [value]
        client = job.client()
        prefix = f"{self._prefix}/{next(self._rounds)}"
        client.key_value_set_bytes(f"{prefix}/{self.rank}", zlib.compress(json.dumps(value).encode(), 1))
        return [
            value if rank == self.rank else json.loads(zlib.decompress(self._wait(client, prefix, rank)))
            for rank in self.ranks
        ]

    def _wait(self, client: Any, prefix: str, rank: int) -> bytes:
        milliseconds = job.milliseconds_to_wait()
        try:
            return client.blocking_key_value_get_bytes(f"{prefix}/{rank}", milliseconds)
        except Exception as error:
            raise RuntimeError(
                f"({self._where}) process {rank} did not answer within {milliseconds / 1000:.0f} s; received: "
                f"{str(error)[:200]}; see whether it is still running and called {self._where} as well (PADDLE_PG_TIMEOUT, "
                "in milliseconds, is how long to wait)."
            ) from error


def _position(where: str) -> tuple[int, int]:
    """Rank and number of processes: as JAX knows them if the processes have been joined."""
    import jax

    if not jax.distributed.is_initialized():
        if job.size() > 1:
            raise runtime_error(
                where, f"the {job.size()} processes of the job have not met", fix="call init_parallel_env() before"
            )
        return 0, 1
    return jax.process_index(), jax.process_count()
