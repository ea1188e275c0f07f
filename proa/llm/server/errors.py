"""Refusals in the shape of OpenAI's API: `{"error": {"message", "type", "param", "code"}}`."""

from __future__ import annotations

from typing import Any

from ...serving.refusals import Kind, Refused

_TYPES = {
    Kind.NO_TOKEN: ("authentication_error", "invalid_api_key"),
    Kind.FORBIDDEN: ("permission_error", None),
    Kind.TOO_LARGE: ("invalid_request_error", "request_too_large"),
    Kind.TOO_MANY: ("rate_limit_error", "rate_limit_exceeded"),
    Kind.FAILED: ("server_error", None),
    Kind.NOT_OFFERED: ("invalid_request_error", "unsupported"),
    Kind.BUSY: ("server_error", "overloaded"),
    Kind.TOO_LATE: ("server_error", "timeout"),
}


class Problem(Refused):
    """A refusal that says which field of the request is meant."""

    def __init__(self, text: str, param: str | None = None, code: str | None = None, kind: Kind = Kind.BAD_REQUEST):
        super().__init__(kind, text)
        self.param = param
        self.code = code


def body_of(refused: Refused) -> dict[str, Any]:
    """What is sent for a refusal."""
    kind, code = _TYPES.get(refused.kind, ("invalid_request_error", None))
    return {
        "error": {
            "message": str(refused), "type": kind, "param": getattr(refused, "param", None),
            "code": getattr(refused, "code", None) or code,
        }
    }  # fmt: skip
