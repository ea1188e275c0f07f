"""What can be set: of the server by its command line, of a model by `config.toml` in its folder."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self

CONFIG = "config.toml"
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class ModelSettings:
    """How a model is served.

    Attributes:
        max_batch_size: rows that run together; 1: each request by itself.
        batch_delay_ms: how long a request may wait for others to run with.
        instances: threads that run it.
        max_queue: requests that wait; more are refused.
        timeout_ms: from the arrival of a request to its answer.
        versions: "all", "latest", or a list of numbers.
        device: "cpu", "gpu", "gpu:1".
        engine: "xla", "onnxruntime", "openvino", "auto"; nothing: as `paddle.inference` decides.
        warmup: the shape of each input, where made-up ones do not suit.

    Examples:
        >>> paddle.serving.ModelSettings(max_batch_size=16).max_batch_size
        16
    """

    max_batch_size: int = 8  # rows that run together; 1: each request by itself
    batch_delay_ms: float = 0.0  # how long a request may wait for others to run with
    instances: int = 1  # threads that run it
    max_queue: int = 256  # requests that wait; more are refused
    timeout_ms: float = 30_000.0  # from the arrival of a request to its answer
    versions: Any = "all"  # "all", "latest", or a list of numbers
    device: str = "cpu"  # or "gpu", "gpu:1"
    engine: str = ""  # "xla", "onnxruntime", "openvino", "auto"; nothing: as paddle.inference decides
    warmup: dict[str, list[int]] = field(default_factory=dict)  # shape of each input, where made-up ones do not suit


_LEAST = {"max_batch_size": 1, "batch_delay_ms": 0, "instances": 1, "max_queue": 1, "timeout_ms": 1}
_MOST = {
    "max_batch_size": 4096,
    "batch_delay_ms": 60_000,
    "instances": 256,
    "max_queue": 1 << 20,
    "timeout_ms": 1 << 32,
}


def read_model_settings(folder: Path, defaults: ModelSettings) -> ModelSettings:
    """The defaults, changed as the folder's config.toml says. ValueError names the file and the entry."""
    path = folder / CONFIG
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return defaults
    try:
        return changed(defaults, tomllib.loads(content.decode("utf-8")), str(path))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no TOML file: {error}") from None


def changed(settings: ModelSettings, entries: dict[str, Any], where: str) -> ModelSettings:
    known = [entry.name for entry in fields(ModelSettings)]
    for name, value in entries.items():
        if name not in known:
            raise ValueError(f"{where}: there is no setting {name!r}; there are {', '.join(known)}")
        _check(name, value, where)
    return replace(settings, **entries)


def _check(name: str, value: Any, where: str) -> None:
    if name in _LEAST:
        kinds = (int, float) if name.endswith("_ms") else (int,)
        if isinstance(value, bool) or not isinstance(value, kinds) or not _LEAST[name] <= value <= _MOST[name]:
            raise ValueError(f"{where}: {name} is a number from {_LEAST[name]} to {_MOST[name]}; received {value!r}")
    elif name == "versions":
        numbers = isinstance(value, list) and value and all(type(number) is int and number >= 0 for number in value)
        if value not in ("all", "latest") and not numbers:
            raise ValueError(f'{where}: versions is "all", "latest" or a list of numbers; received {value!r}')
    elif name in ("device", "engine"):
        if not isinstance(value, str):
            raise ValueError(f"{where}: {name} is a name; received {value!r}")
    elif not isinstance(value, dict) or not all(_is_shape(shape) for shape in value.values()):
        raise ValueError(f"{where}: warmup is a table of shapes, such as x = [1, 3, 224, 224]; received {value!r}")


def _is_shape(value: Any) -> bool:
    return isinstance(value, list) and all(type(size) is int and 0 < size < 1 << 31 for size in value)


@dataclass(frozen=True)
class HostSettings:
    """Where a server listens, what it accepts, and how it ends."""

    host: str = "127.0.0.1"
    http_port: int | None = 8000  # 0: any free one; None: no such server
    max_request_mb: float = 64.0
    max_memory_mb: float = 1024.0  # of all requests that are being read or wait
    max_connections: int = 1024
    drain_seconds: float = 30.0
    tokens: tuple[str, ...] = ()
    certificate: str | None = None
    private_key: str | None = None
    log_requests: bool = False

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches the server."""
        return self.host in LOOPBACK

    def checked(self) -> Self:
        """Itself; ValueError if something cannot be."""
        for name in ("max_request_mb", "max_memory_mb", "max_connections"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be greater than 0; received {getattr(self, name)}")
        if bool(self.certificate) != bool(self.private_key):
            raise ValueError("TLS needs both a certificate and its private key; one of them is missing")
        for path in (self.certificate, self.private_key):
            if path and not os.path.isfile(path):
                raise ValueError(f"there is no file {path}")
        if any(not token or not token.isascii() or not token.isprintable() or " " in token for token in self.tokens):
            raise ValueError("a token is made of printable ASCII characters without spaces")
        return self


@dataclass(frozen=True)
class ServerSettings(HostSettings):
    """Where a server of saved models listens, what it accepts, and how it ends. It speaks two protocols, HTTP and gRPC.

    Examples:
        >>> paddle.serving.ServerSettings(http_port=0, grpc_port=None).http_port
        0
    """

    grpc_port: int | None = 8001
    model: ModelSettings = field(default_factory=ModelSettings)
    poll_seconds: float = 5.0  # how often the repository is looked at; 0: never
    keep_going: bool = False  # serve the other models when one cannot be loaded at the start

    @property
    def may_control(self) -> bool:
        """Whether callers may load and unload models: not where anybody could.

        Examples:
            >>> paddle.serving.ServerSettings(host="0.0.0.0").may_control
            False
        """
        return self.is_local or bool(self.tokens)

    def checked(self) -> Self:
        """The settings themselves.

        Raises:
            ValueError: something cannot be.

        Examples:
            >>> paddle.serving.ServerSettings(http_port=None, grpc_port=None).checked()
            Traceback (most recent call last):
                ...
            ValueError: neither HTTP nor gRPC is to be served; leave one of both switched on
        """
        if self.http_port is None and self.grpc_port is None:
            raise ValueError("neither HTTP nor gRPC is to be served; leave one of both switched on")
        return super().checked()


def read_tokens(path: str) -> tuple[str, ...]:
    """The tokens of a file, one on each line; lines that begin with # say something to people."""
    with open(path, encoding="utf-8") as file:
        found = tuple(line.strip() for line in file if line.strip() and not line.startswith("#"))
    if not found:
        raise ValueError(f"{path} holds no token; write one on a line")
    return found
