"""Why a request gets no answer, in the words of both protocols.

Every refusal is raised as `Refused`, so that HTTP and gRPC say the same thing, each with its own code.
"""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """HTTP status, and the name of the gRPC status code."""

    BAD_REQUEST = (400, "INVALID_ARGUMENT")
    NO_TOKEN = (401, "UNAUTHENTICATED")
    FORBIDDEN = (403, "PERMISSION_DENIED")
    NOT_FOUND = (404, "NOT_FOUND")
    WRONG_METHOD = (405, "UNIMPLEMENTED")
    TOO_LARGE = (413, "RESOURCE_EXHAUSTED")
    UNKNOWN_ENCODING = (415, "UNIMPLEMENTED")
    TOO_MANY = (429, "RESOURCE_EXHAUSTED")
    GONE = (499, "CANCELLED")
    FAILED = (500, "INTERNAL")
    NOT_OFFERED = (501, "UNIMPLEMENTED")
    BUSY = (503, "UNAVAILABLE")
    TOO_LATE = (504, "DEADLINE_EXCEEDED")

    @property
    def status(self) -> int:
        return self.value[0]

    @property
    def code(self) -> str:
        return self.value[1]


class Refused(Exception):
    """A request that is answered with an error."""

    def __init__(self, kind: Kind, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Closed(Refused):
    """The version of the model is being replaced or removed; whoever finds another one may ask again."""

    def __init__(self, text: str) -> None:
        super().__init__(Kind.BUSY, text)


def bad_request(text: str) -> Refused:
    return Refused(Kind.BAD_REQUEST, text)
