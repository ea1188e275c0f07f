"""`proa serve MODELS`: saved models over HTTP and gRPC."""

from __future__ import annotations

import argparse
import os
import sys

from ..serving import CannotServe, ModelSettings, Server, ServerSettings
from ..serving.logs import set_up
from ..serving.settings import changed, read_tokens

TOKEN = "PROA_SERVE_TOKEN"
_OF_MODELS = ("max_batch_size", "batch_delay_ms", "instances", "max_queue", "timeout_ms", "device", "engine")
_OF_SERVER = (
    "host", "poll_seconds", "keep_going", "max_request_mb", "max_memory_mb", "max_connections", "drain_seconds",
    "certificate", "private_key", "log_requests",
)  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    set_up(arguments.log_format == "json")
    try:
        server = Server(arguments.models, settings_of(arguments))
        server.run()
    except (CannotServe, ValueError, OSError) as error:
        print(f"proa serve: {error}", file=sys.stderr)
        return 1
    if not server.finished:
        sys.stderr.flush()
        os._exit(0)  # a thread that loads a model cannot be interrupted, and Python would wait for it
    return 0


def settings_of(arguments: argparse.Namespace) -> ServerSettings:
    given = {name: getattr(arguments, name) for name in _OF_MODELS if getattr(arguments, name) is not None}
    tokens = read_tokens(arguments.token_file) if arguments.token_file else ()
    if os.environ.get(TOKEN):
        tokens += (os.environ[TOKEN],)
    return ServerSettings(
        http_port=_port(arguments.http_port), grpc_port=_port(arguments.grpc_port), tokens=tokens,
        model=changed(ModelSettings(), given, "proa serve"),
        **{name: getattr(arguments, name) for name in _OF_SERVER},
    )  # fmt: skip


def _port(number: int) -> int | None:
    if number > 65535:
        raise ValueError(f"a port is a number up to 65535; received {number}")
    return None if number < 0 else number
