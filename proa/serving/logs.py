"""The server's log: lines for people, or one JSON object on each line."""

from __future__ import annotations

import datetime
import json
import logging
import sys
from typing import Any


class JsonLines(logging.Formatter):
    """Time, level, message and the facts of a record."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.datetime.fromtimestamp(record.created, datetime.UTC)
        found: dict[str, Any] = {
            "time": moment.isoformat(timespec="milliseconds"), "level": record.levelname, "logger": record.name,
            "message": record.getMessage(), **getattr(record, "facts", {}),
        }  # fmt: skip
        if record.exc_info:
            found["traceback"] = self.formatException(record.exc_info)
        return json.dumps(found, default=str)


class Lines(logging.Formatter):
    """The same for people."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        facts = getattr(record, "facts", None)
        text = super().format(record)
        return f"{text} {facts['milliseconds']} ms" if facts and "milliseconds" in facts else text


def set_up(as_json: bool) -> None:
    """Sends what the server says to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if as_json else Lines())
    for name, level in (("proa.serving", logging.INFO), ("uvicorn", logging.WARNING), ("grpc", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False
