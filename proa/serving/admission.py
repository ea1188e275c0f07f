"""Room for the bytes of requests that are being read or wait, so that a flood of them cannot fill the memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .refusals import Kind, Refused


class Memory:
    """A number of bytes that requests share; one thread asks for them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0

    @contextmanager
    def admitted(self, num_bytes: int) -> Iterator[None]:
        """Room for the bytes of a request, as long as it is here."""
        if self._held + num_bytes > self._most:
            raise Refused(Kind.BUSY, "the requests that are here fill the memory meant for them; ask again later.")
        self._held += num_bytes
        try:
            yield
        finally:
            self._held -= num_bytes
