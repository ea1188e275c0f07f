"""What processes tell each other in few words: keys and values that the coordination service holds.

For meeting, for objects, and for finding out who is missing; tensors go through `exchange.py`. Values are bytes, a key is
written once. A number that is counted in each process alike makes the keys of one call the same everywhere.
"""

from __future__ import annotations

import hmac
import os
import time
from collections.abc import Sequence

from ...core import job
from ...core.errors import message

_PREFIX = "proa/"
# A single question is put again after so long: whoever waits in Python can be interrupted in between.
_STEP_MS = 1000


def put(key: str, value: bytes) -> None:
    """Writes a value, over the one before."""
    job.client().key_value_set_bytes(_PREFIX + key, value, allow_overwrite=True)


def take(key: str, milliseconds: int) -> bytes:
    """The value of a key, waiting for it to be written; TimeoutError after so long."""
    end = time.monotonic() + milliseconds / 1000
    while True:
        left = int(1000 * (end - time.monotonic()))
        try:
            return job.client().blocking_key_value_get_bytes(_PREFIX + key, max(1, min(left, _STEP_MS)))
        except Exception as error:
            if "DEADLINE_EXCEEDED" not in str(error):
                raise RuntimeError(
                    message("store", f"the process that keeps the job together is gone ({key})")
                ) from error
            if left <= _STEP_MS:
                raise TimeoutError(key) from None


def has(key: str) -> bool:
    """Whether a key was written."""
    try:
        return job.client().key_value_try_get_bytes(_PREFIX + key) is not None
    except Exception as error:
        if "NOT_FOUND" in str(error):
            return False
        raise


def forget(key: str) -> None:
    """Removes a key, and those below it."""
    job.client().key_value_delete(_PREFIX + key)


def job_key() -> bytes:
    """The job's secret, empty where none was given: the launcher draws one for the processes that it starts."""
    return os.environ.get("PROA_JOB_KEY", "").encode()


def signed(data: bytes) -> bytes:
    """Data that shows that it comes from the job: whoever knows its secret."""
    return hmac.digest(job_key(), data, "sha256") + data


def checked(signed_data: bytes) -> bytes:
    """What `signed` was given; RuntimeError for anything else."""
    signature, data = signed_data[:32], signed_data[32:]
    if not hmac.compare_digest(signature, hmac.digest(job_key(), data, "sha256")):
        raise RuntimeError(message("store", "what was received is not signed with this job's PROA_JOB_KEY"))
    return data


def meet(where: str, name: str, ranks: Sequence[int], milliseconds: int) -> None:
    """Waits until the processes `ranks` have come here; TimeoutError names those who have not."""
    own = job.rank()
    put(f"{name}/{own}", b"1")
    end = time.monotonic() + milliseconds / 1000
    for rank in ranks:
        left = int(1000 * (end - time.monotonic()))
        try:
            take(f"{name}/{rank}", max(1, left))
        except TimeoutError:
            raise missing(where, name, ranks, milliseconds) from None


def missing(where: str, name: str, ranks: Sequence[int], milliseconds: int, doing: str = "") -> TimeoutError:
    """The error that names the processes which have not written `name/rank`."""
    absent = [rank for rank in ranks if rank != job.rank() and not has(f"{name}/{rank}")]
    return TimeoutError(
        message(
            where,
            f"waited {milliseconds / 1000:g} s for {_called(absent) if absent else 'the other processes'}",
            f"a group of {_called(ranks)}{', ' + doing if doing else ''}",
            "see that every process of the group makes the same calls in the same order, or raise PADDLE_PG_TIMEOUT "
            "(milliseconds)",
        )
    )


def _called(ranks: Sequence[int]) -> str:
    shown = ", ".join(map(str, ranks[:16])) + (" …" if len(ranks) > 16 else "")
    return f"{'process' if len(ranks) == 1 else 'processes'} {shown}"
