"""Which requests run together, what waits, and what is refused: on functions instead of models."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from proa.serving.refusals import Closed, Kind, Refused
from proa.serving.scheduler import Scheduler, batch_sizes
from proa.serving.settings import ModelSettings
from proa.serving.statistics import Statistics


class _Model:
    """Doubles its input; remembers how many rows came at a time, and may be held up."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.open = threading.Event()
        self.open.set()
        self.entered = threading.Event()

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        self.entered.set()
        assert self.open.wait(20)
        self.sizes.append(len(arrays[0]))
        if np.any(arrays[0] == 666):
            raise IndexError("666 is out of range")
        return [arrays[0] * 2]


def _scheduler(model: Any, batched: bool = True, **settings: Any) -> Scheduler:
    return Scheduler("m/1", [model], ModelSettings(**settings), batched, Statistics())


def _rows(*numbers: float) -> list[np.ndarray]:
    return [np.array([[number] for number in numbers], np.float32).reshape(-1, 1)]


def test_batch_sizes() -> None:
    assert batch_sizes(1) == [1]
    assert batch_sizes(2) == [1, 2]
    assert batch_sizes(8) == [1, 2, 4, 8]
    assert batch_sizes(6) == [1, 2, 4, 6]


def _held(work: Any, **settings: Any) -> tuple[_Model, Any]:
    """Runs `work(scheduler, model)` while a first request keeps the model busy."""
    model = _Model()
    scheduler = _scheduler(model, **settings)

    async def main() -> Any:
        model.open.clear()
        first = asyncio.ensure_future(scheduler.run(_rows(0), 20))
        await asyncio.to_thread(model.entered.wait, 20)
        try:
            return await work(scheduler, model)
        finally:
            model.open.set()
            await first

    try:
        return model, asyncio.run(main())
    finally:
        scheduler.close()


def test_what_waits_together_runs_together() -> None:
    async def work(scheduler: Scheduler, model: _Model) -> Any:
        asked = [asyncio.ensure_future(scheduler.run(_rows(*given), 20)) for given in ([1], [2, 3], [4], [5], [6])]
        await asyncio.sleep(0.05)
        model.open.set()
        return await asyncio.gather(*asked)

    model, found = _held(work, max_batch_size=4)
    assert [result[0].ravel().tolist() for result in found] == [[2], [4, 6], [8], [10], [12]]
    assert model.sizes == [1, 4, 2]  # the first one; 1+2+1 rows; the other two


def test_shapes_are_kept_apart() -> None:
    async def work(scheduler: Scheduler, model: _Model) -> Any:
        given = [np.full((1, width), width, np.float32) for width in (1, 2, 1, 2, 1)]
        asked = [asyncio.ensure_future(scheduler.run([array], 20)) for array in given]
        await asyncio.sleep(0.05)
        model.open.set()
        return [(array, result[0]) for array, result in zip(given, await asyncio.gather(*asked))]

    model, found = _held(work, max_batch_size=8)
    for given, result in found:
        np.testing.assert_array_equal(result, given * 2)
    assert model.sizes == [1, 4, 2]  # three rows are filled up to four


def test_large_requests_are_cut_and_empty_ones_answered() -> None:
    model = _Model()
    scheduler = _scheduler(model, max_batch_size=4)

    async def main() -> list[Any]:
        return [await scheduler.run(_rows(*range(count)), 20) for count in (10, 0, 4, 3)]

    found = asyncio.run(main())
    scheduler.close()
    assert [result[0].ravel().tolist() for result in found] == [[2.0 * n for n in range(k)] for k in (10, 0, 4, 3)]
    assert set(model.sizes) <= {1, 2, 4}


def test_a_request_waits_for_others_as_long_as_it_may() -> None:
    model = _Model()
    scheduler = _scheduler(model, max_batch_size=4, batch_delay_ms=700)

    async def main() -> tuple[float, float]:
        started = time.perf_counter()
        await scheduler.run(_rows(1), 20)
        alone = time.perf_counter() - started
        started = time.perf_counter()
        await asyncio.gather(*(scheduler.run(_rows(n), 20) for n in range(4)))
        return alone, time.perf_counter() - started

    alone, full = asyncio.run(main())
    scheduler.close()
    assert alone >= 0.7
    assert full < 0.7  # a full batch waits for nobody
    assert model.sizes == [1, 4]


def test_one_bad_request_does_not_spoil_the_batch() -> None:
    async def work(scheduler: Scheduler, model: _Model) -> Any:
        asked = [asyncio.ensure_future(scheduler.run(_rows(number), 20)) for number in (1, 666, 3)]
        await asyncio.sleep(0.05)
        model.open.set()
        return await asyncio.gather(*asked, return_exceptions=True)

    _, found = _held(work, max_batch_size=4)
    assert isinstance(found[1], IndexError)
    assert [found[0][0].item(), found[2][0].item()] == [2, 6]


def test_a_full_queue_refuses() -> None:
    async def work(scheduler: Scheduler, model: _Model) -> Any:
        asked = [asyncio.ensure_future(scheduler.run(_rows(number), 20)) for number in range(3)]
        await asyncio.sleep(0.05)
        model.open.set()
        return await asyncio.gather(*asked, return_exceptions=True)

    _, found = _held(work, max_batch_size=1, max_queue=2)
    assert [isinstance(result, list) for result in found] == [True, True, False]
    assert found[2].kind is Kind.BUSY


def test_a_request_that_comes_too_late_or_is_given_up_is_never_run() -> None:
    async def work(scheduler: Scheduler, model: _Model) -> Any:
        with pytest.raises(Refused, match="no answer within") as caught:
            await scheduler.run(_rows(41), 0.05)
        assert caught.value.kind is Kind.TOO_LATE
        given_up = asyncio.ensure_future(scheduler.run(_rows(42), 20))
        await asyncio.sleep(0.02)
        given_up.cancel()
        await asyncio.sleep(0.02)
        model.open.set()
        return await scheduler.run(_rows(43), 20)

    model, found = _held(work, max_batch_size=1)
    assert found[0].item() == 86
    assert model.sizes == [1, 1]  # neither 41 nor 42


def test_closing_answers_what_waits_and_refuses_the_rest() -> None:
    async def work(scheduler: Scheduler, model: _Model) -> Any:
        asked = [asyncio.ensure_future(scheduler.run(_rows(number), 20)) for number in range(5)]
        await asyncio.sleep(0.02)
        closing = asyncio.ensure_future(asyncio.to_thread(scheduler.close))
        await asyncio.sleep(0.05)
        with pytest.raises(Closed):
            await scheduler.run(_rows(9), 20)
        model.open.set()
        await closing
        return await asyncio.gather(*asked)

    _, found = _held(work, max_batch_size=2, batch_delay_ms=300)
    assert [result[0].item() for result in found] == [0, 2, 4, 6, 8]


def test_a_model_that_loses_rows_is_no_answer() -> None:
    scheduler = _scheduler(lambda arrays: [arrays[0][:1]], max_batch_size=4)
    try:
        with pytest.raises(RuntimeError, match="for 2 rows"):
            asyncio.run(scheduler.run(_rows(1, 2), 20))
    finally:
        scheduler.close()
