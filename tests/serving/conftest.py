"""A repository of small models and a server for it, shared by the tests of a module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proa.serving import ModelSettings, Server, ServerSettings
from tests.serving.models import Reference, save_dense, save_mixing, save_two, save_types


@dataclass
class Served:
    """A running server, and what its models should give."""

    server: Server
    folder: Path
    dense: dict[str, Reference]  # by version
    two: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    mixing: Reference

    @property
    def http(self) -> str:
        assert self.server.http_address is not None
        return self.server.http_address

    @property
    def grpc(self) -> str:
        assert self.server.grpc_address is not None
        return self.server.grpc_address


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("repository")
    dense = {
        "1": save_dense(folder / "dense" / "1" / "model", seed=1),
        "2": save_dense(folder / "dense" / "2" / "dense.proa", seed=2),
    }
    two = save_two(folder / "two" / "1" / "two.proa")
    save_types(folder / "types" / "1" / "types.proa")
    mixing = save_mixing(folder / "mixing" / "mixing.proa")
    settings = ServerSettings(
        http_port=0, grpc_port=0, poll_seconds=0, max_request_mb=1.0, model=ModelSettings(max_batch_size=4)
    )
    with Server([str(folder)], settings) as server:
        yield Served(server, folder, dense, two, mixing)


@pytest.fixture(params=["http", "grpc"])
def protocol(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def library(protocol: str) -> Any:
    """tritonclient's module for the protocol."""
    import tritonclient.grpc
    import tritonclient.http

    return tritonclient.http if protocol == "http" else tritonclient.grpc


@pytest.fixture
def client(served: Served, protocol: str, library: Any) -> Iterator[Any]:
    found = library.InferenceServerClient(getattr(served, protocol))
    yield found
    found.close()
