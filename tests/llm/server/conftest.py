"""A server with the stand-in for an engine, shared by the tests of a module, and OpenAI's own client for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import openai
import pytest

from proa.llm.server import Server, Settings
from tests.llm.server.standin import StandIn, served


@dataclass
class Running:
    """A running server."""

    server: Server
    engine: StandIn

    @property
    def url(self) -> str:
        return f"http://{self.server.http_address}"

    def options(self, **more: Any) -> dict[str, Any]:
        """Of OpenAI's clients."""
        return {"base_url": f"{self.url}/v1", "api_key": "any", "max_retries": 0, "timeout": 30, **more}


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    model = served()
    with Server([lambda: model], Settings(http_port=0, max_request_mb=1.0, max_queue=40, max_choices=8)) as server:
        yield Running(server, model.engine)


@pytest.fixture
def client(running: Running) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(**running.options()) as found:
        yield found
