"""`proa serve MODELS`: saved models over HTTP and gRPC; with `--llm`, language models by OpenAI's API."""

from __future__ import annotations

import argparse
import functools
import os
import sys
from typing import Any

from ..serving import CannotServe, ModelSettings, Server, ServerSettings
from ..serving.host import Host
from ..serving.logs import set_up
from ..serving.settings import changed, read_tokens
from .problems import complain

TOKEN = "PROA_SERVE_TOKEN"
_OF_MODELS = ("max_batch_size", "batch_delay_ms", "instances", "max_queue", "timeout_ms", "device", "engine")
_OF_HOST = ("host", "max_connections", "drain_seconds", "certificate", "private_key", "log_requests")
_OF_SERVER = ("poll_seconds", "keep_going", "max_request_mb", "max_memory_mb")
_OF_LANGUAGE = ("max_queue", "max_prompt_tokens", "max_tokens")
_OF_ENGINE = ("context", "rows")
# What means nothing to the other kind of server is refused there, not ignored.
_NOT_FOR_LANGUAGE = ("max_batch_size", "batch_delay_ms", "instances", "device", "engine")
_FOR_LANGUAGE = ("context", "rows", "dtype", "max_prompt_tokens", "max_tokens")


def run(arguments: argparse.Namespace) -> int:
    set_up(arguments.log_format == "json")
    try:
        server = server_of(arguments)
        server.run()
    except (CannotServe, ValueError, OSError) as error:
        return complain("serve", error)
    if not server.finished:
        sys.stderr.flush()
        os._exit(0)  # a thread that loads a model cannot be interrupted, and Python would wait for it
    return 0


def server_of(arguments: argparse.Namespace) -> Host:
    if bool(arguments.models) == bool(arguments.llm):
        raise ValueError("name saved models, or language models with --llm; one server serves one kind")
    _refuse(arguments, _NOT_FOR_LANGUAGE if arguments.llm else _FOR_LANGUAGE)
    if arguments.adapter and not arguments.llm:
        raise ValueError("--adapter means nothing for saved models; leave it out")
    if not arguments.llm:
        return Server(arguments.models, settings_of(arguments))
    from ..llm.server import Server as LanguageServer
    from ..llm.server.opening import named, open_model

    options = {name: getattr(arguments, name) for name in _OF_ENGINE if getattr(arguments, name) is not None}
    options["exact"] = arguments.exact
    openings = []
    for given in arguments.llm:
        name, path = named(given)
        warm_up = "none" if arguments.no_warm_up else "all"
        openings.append(
            functools.partial(
                open_model, path, name, arguments.dtype, warm_up, _adapters(arguments), widening=16, **options
            )
        )
    return LanguageServer(openings, language_settings_of(arguments))


def _adapters(arguments: argparse.Namespace) -> dict[str, str]:
    found: dict[str, str] = {}
    for given in arguments.adapter:
        name, sign, folder = given.partition("=")
        if not sign or not name or name in found:
            raise ValueError(f"--adapter takes NAME=FOLDER, each name once; received {given}")
        found[name] = folder
    if found and len(arguments.llm) > 1:
        raise ValueError("--adapter belongs to one model; serve each model with adapters by itself")
    return found


def _refuse(arguments: argparse.Namespace, names: tuple[str, ...]) -> None:
    for name in names:
        if getattr(arguments, name) is not None:
            kind = "language" if arguments.llm else "saved"
            raise ValueError(f"--{name.replace('_', '-')} means nothing for {kind} models; leave it out")


def settings_of(arguments: argparse.Namespace) -> ServerSettings:
    given = {name: getattr(arguments, name) for name in _OF_MODELS if getattr(arguments, name) is not None}
    return ServerSettings(
        grpc_port=_port(arguments.grpc_port), model=changed(ModelSettings(), given, "proa serve"), **_host(arguments),
        **{name: getattr(arguments, name) for name in _OF_SERVER},
    )  # fmt: skip


def language_settings_of(arguments: argparse.Namespace) -> Any:
    from ..llm.server import Settings

    given = {name: getattr(arguments, name) for name in _OF_LANGUAGE if getattr(arguments, name) is not None}
    if arguments.timeout_ms is not None:
        given["timeout_seconds"] = arguments.timeout_ms / 1e3
    settings = Settings(**_host(arguments), **given)
    if settings.http_port is None:
        raise ValueError("language models are served over HTTP; leave --http-port -1 out")
    return settings


def _host(arguments: argparse.Namespace) -> dict[str, Any]:
    tokens = read_tokens(arguments.token_file) if arguments.token_file else ()
    if os.environ.get(TOKEN):
        tokens += (os.environ[TOKEN],)
    chosen = {name: getattr(arguments, name) for name in _OF_HOST}
    return {"http_port": _port(arguments.http_port), "tokens": tokens, **chosen}


def _port(number: int) -> int | None:
    if number > 65535:
        raise ValueError(f"a port is a number up to 65535; received {number}")
    return None if number < 0 else number
