"""Inner names of `paddle.utils.download`."""

from __future__ import annotations

import logging
import pathlib
from typing import Any

from ....utils.download import _unpacked

logger = logging.getLogger("paddle.utils.download")


def _get_unique_endpoints(trainer_endpoints: Any) -> set[str]:
    """One endpoint of each machine, so that each fetches a file once."""
    by_machine: dict[str, str] = {}
    for endpoint in trainer_endpoints:
        by_machine.setdefault(endpoint.split(":")[0], endpoint)
    return set(by_machine.values())


def _decompress(fname: str) -> str:
    """Unpacks an archive beside it, and gives the path of what was in it."""
    return _unpacked(pathlib.Path(fname))
