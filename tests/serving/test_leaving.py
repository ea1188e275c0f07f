"""Callers that go away before their answer is there, and those that stay."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from proa.serving.http_requests import _PATIENCE, unless_gone
from proa.serving.refusals import Kind, Refused


class Caller:
    """What is left of a request: messages that come when they come."""

    def __init__(self) -> None:
        self.leaves = asyncio.Event()
        self.asked = 0

    async def receive(self) -> dict[str, Any]:
        self.asked += 1
        await self.leaves.wait()
        return {"type": "http.disconnect"}


async def answer(seconds: float, ended: list[str]) -> str:
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        ended.append("given up")
        raise
    return "answer"


@pytest.mark.parametrize("seconds", [0.0, 3 * _PATIENCE])
def test_a_caller_that_stays_gets_the_answer(seconds: float) -> None:
    async def run() -> None:
        caller = Caller()
        assert await unless_gone(caller, answer(seconds, [])) == "answer"  # type: ignore[arg-type]
        assert caller.asked == (seconds > _PATIENCE)
        await asyncio.sleep(2 * _PATIENCE)
        assert caller.asked == (seconds > _PATIENCE)  # nobody watches any more
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(run())


def test_what_a_caller_who_left_wanted_is_given_up() -> None:
    async def run() -> None:
        caller, ended = Caller(), []
        asyncio.get_running_loop().call_later(2 * _PATIENCE, caller.leaves.set)
        with pytest.raises(Refused) as caught:
            await unless_gone(caller, answer(60, ended))  # type: ignore[arg-type]
        assert caught.value.kind is Kind.GONE
        assert ended == ["given up"]
        await asyncio.sleep(0)  # the task itself goes on: it still has to say so
        assert not asyncio.current_task().cancelling()  # type: ignore[union-attr]

    asyncio.run(run())


def test_a_server_that_stops_is_no_caller_who_left() -> None:
    async def run() -> None:
        ended: list[str] = []
        task = asyncio.ensure_future(unless_gone(Caller(), answer(60, ended)))  # type: ignore[arg-type]
        await asyncio.sleep(2 * _PATIENCE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended == ["given up"]

    asyncio.run(run())


def test_errors_are_handed_on() -> None:
    async def fails() -> None:
        raise ValueError("as it was")

    async def run() -> None:
        with pytest.raises(ValueError, match="as it was"):
            await unless_gone(Caller(), fails())  # type: ignore[arg-type]

    asyncio.run(run())
