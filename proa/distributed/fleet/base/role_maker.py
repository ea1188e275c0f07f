"""What a process of the job is for: a trainer, or a server of tables."""

from __future__ import annotations

import os
from typing import Any

from ....core import job
from ....core.errors import value_error


class Role:
    """Kinds of processes.

    Examples:
        >>> paddle.distributed.fleet.Role.WORKER, paddle.distributed.fleet.Role.SERVER
        (1, 2)
    """

    WORKER = 1
    SERVER = 2
    HETER_WORKER = 3
    ALL = 4
    COORDINATOR = 5


class RoleMakerBase:
    """Says which worker this is."""

    def __init__(self, is_collective: bool = False, **kwargs: Any) -> None:
        self._is_collective, self._kwargs = is_collective, kwargs
        self._role = Role.WORKER
        self._current_id, self._workers = job.rank(), job.size()
        self._server_endpoints: list[str] = []
        self._read()

    def _read(self) -> None:
        """Finds out what this process is."""

    def _is_worker(self) -> bool:
        return self._role == Role.WORKER

    def _is_server(self) -> bool:
        return self._role == Role.SERVER

    def _is_first_worker(self) -> bool:
        return self._is_worker() and self._current_id == 0

    def _worker_index(self) -> int:
        return self._current_id if self._is_worker() else -1

    def _server_index(self) -> int:
        return self._current_id if self._is_server() else -1

    def _worker_num(self) -> int:
        return self._workers

    def _server_num(self) -> int:
        return len(self._server_endpoints)

    def _get_pserver_endpoints(self) -> list[str]:
        return self._server_endpoints

    def _role_id(self) -> int:
        return self._current_id


class PaddleCloudRoleMaker(RoleMakerBase):
    """The role as a launcher's environment variables say it.

    With PADDLE_PSERVERS_IP_PORT_LIST the job has table servers. A server (TRAINING_ROLE=PSERVER) is the one of that list
    whose address is POD_IP:PADDLE_PORT; a trainer (TRAINING_ROLE=TRAINER) has the number PADDLE_TRAINER_ID of
    PADDLE_TRAINERS_NUM.

    Args:
        is_collective: whether the job has no table servers.

    Examples:
        >>> role = paddle.distributed.fleet.PaddleCloudRoleMaker(is_collective=True)
        >>> paddle.distributed.fleet.Fleet().init(role).is_worker()
        True
    """

    def _read(self) -> None:
        listed = os.environ.get("PADDLE_PSERVERS_IP_PORT_LIST") or ""
        if self._is_collective or not listed:
            return
        self._server_endpoints = listed.split(",")
        self._workers = int(os.environ.get("PADDLE_TRAINERS_NUM") or 1)
        role = os.environ.get("TRAINING_ROLE") or "TRAINER"
        if role == "TRAINER":
            self._current_id = int(os.environ.get("PADDLE_TRAINER_ID") or 0)
        elif role == "PSERVER":
            self._role = Role.SERVER
            address = f"{os.environ.get('POD_IP') or '127.0.0.1'}:{os.environ.get('PADDLE_PORT') or ''}"
            if address not in self._server_endpoints:
                raise value_error(
                    "PaddleCloudRoleMaker",
                    "POD_IP:PADDLE_PORT must be one of PADDLE_PSERVERS_IP_PORT_LIST",
                    f"{address}: {listed}",
                )
            self._current_id = self._server_endpoints.index(address)
        else:
            raise value_error("PaddleCloudRoleMaker", "TRAINING_ROLE must be PSERVER or TRAINER", repr(role))


class UserDefinedRoleMaker(PaddleCloudRoleMaker):
    """The role as the program says it: `current_id`, `role`, `worker_num`, `server_endpoints`. Nothing here needs Gloo.

    Args:
        is_collective: whether the job has no table servers.
        init_gloo: taken; it changes nothing.
        **kwargs: the settings above.

    Raises:
        ValueError: a server's `current_id` is not that of one of `server_endpoints`.

    Examples:
        >>> role = paddle.distributed.fleet.UserDefinedRoleMaker(
        ...     current_id=1, role=paddle.distributed.fleet.Role.WORKER, worker_num=2, server_endpoints=["127.0.0.1:6000"]
        ... )
        >>> role._worker_index(), role._worker_num()
        (1, 2)
    """

    def __init__(self, is_collective: bool = False, init_gloo: bool = False, **kwargs: Any) -> None:
        super().__init__(is_collective, **kwargs)

    def _read(self) -> None:
        given = self._kwargs
        self._role = given.get("role", Role.WORKER)
        self._current_id = int(given.get("current_id", 0))
        self._workers = int(given.get("worker_num", len(given.get("worker_endpoints") or ()) or 1))
        self._server_endpoints = list(given.get("server_endpoints") or ())
        if self._is_server() and not 0 <= self._current_id < len(self._server_endpoints):
            raise value_error(
                "UserDefinedRoleMaker",
                "current_id must be the number of a server",
                f"{self._current_id}: {self._server_endpoints}",
            )
