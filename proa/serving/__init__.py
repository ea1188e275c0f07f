"""Serving saved models to other programs: the Open Inference Protocol over HTTP and gRPC.

    server.py       Server: both protocols, the models
    host.py         the life of a server: start, signals, HTTP, an orderly end
    service.py      what is answered, whichever protocol asks
    http_routes.py  paths of HTTP; http_body.py: its bodies; http_requests.py: guarded, bounded; http_server.py: uvicorn
    rpc.py          methods of gRPC; messages.py: its messages
    guard.py        who may ask
    repository.py   models that come, change and go; folders.py: where they lie
    version.py      one version of a model: loaded, checked, warmed up
    scheduler.py    requests that wait run together
    admission.py, metrics.py, statistics.py, logs.py, settings.py, signature.py, datatypes.py, refusals.py

host, http_requests, http_server, guard, admission, logs and refusals serve `proa.llm.server`, too.

Models run by `paddle.inference`. Nothing of what serving needs beyond it (Starlette, gRPC …) is imported before a
server starts.
"""

from __future__ import annotations

from .host import CannotServe
from .server import Server
from .settings import ModelSettings, ServerSettings

__all__ = ["CannotServe", "ModelSettings", "Server", "ServerSettings"]
