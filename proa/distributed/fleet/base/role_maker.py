"""What a process of the job is for: here, a trainer."""

from __future__ import annotations

from typing import Any

from ....core import job


class Role:
    """Kinds of processes."""

    WORKER = 1
    SERVER = 2
    HETER_WORKER = 3
    ALL = 4
    COORDINATOR = 5


class RoleMakerBase:
    """Says which worker this is."""

    def __init__(self, is_collective: bool = False, **kwargs: Any) -> None:
        self._is_collective, self._kwargs = is_collective, kwargs

    def _is_worker(self) -> bool:
        return True

    def _is_server(self) -> bool:
        return False

    def _is_first_worker(self) -> bool:
        return job.rank() == 0

    def _worker_index(self) -> int:
        return job.rank()

    def _worker_num(self) -> int:
        return job.size()

    def _role_id(self) -> int:
        return job.rank()


class PaddleCloudRoleMaker(RoleMakerBase):
    """The role as a launcher's environment variables say it."""


class UserDefinedRoleMaker(PaddleCloudRoleMaker):
    """The role as the program says it."""
