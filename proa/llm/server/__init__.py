"""Language models for other programs, by OpenAI's API over HTTP, and a page to chat at `/`.

    server.py        Server: the life of it; opening.py: a model's path becomes an engine
    routes.py        paths; events.py: answers as streams
    requests.py      what is asked: conversation.py, tools.py, fields.py
    service.py       limits, metrics, the engine; generation.py: the answers to one request
    choices.py       one answer: calls.py finds calls of functions in it; shapes.py: OpenAI's objects
    served.py, settings.py, errors.py, metrics.py, embedding.py, page.html

What every server of ours does (who may ask, sizes, signals, draining, logs) is `proa.serving`'s.
"""

from __future__ import annotations

from ...serving.host import CannotServe
from .served import Served
from .server import Server
from .settings import Settings

__all__ = ["CannotServe", "Served", "Server", "Settings"]
