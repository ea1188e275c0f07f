"""uvicorn, with what a server that also speaks gRPC and may be asked by anybody needs otherwise."""

from __future__ import annotations

import contextlib
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD_BYTES = 1 << 16


class HttpServer(uvicorn.Server):
    """Leaves signals alone: the whole server stops, not one half of it."""

    def capture_signals(self) -> Any:
        return contextlib.nullcontext()


class BoundedProtocol(HttpToolsProtocol):
    """Refuses requests whose line and headers do not end: the parser would keep them all."""

    _head_bytes = 0
    _in_head = True

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > MOST_HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response("The headers are too long.")

    def on_message_begin(self) -> None:
        self._in_head, self._head_bytes = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()
