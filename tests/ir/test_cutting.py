"""Segments are cut behind values that are read late, the same way every time, and nothing else changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.ir.recorder import LOCAL, Segment, flush_current
from proa.ir.tiers.kept import PROGRAMS
from proa.ir.trace import forget_traces


def forget() -> None:
    flush_current()
    forget_traces()
    LOCAL.segment = Segment(LOCAL.place, LOCAL.lock)  # the open one still stands on the old tree
    PROGRAMS.clear()


@pytest.fixture(autouse=True)
def from_scratch() -> None:
    forget()


def train(steps: int, width: int = 8, batch: int = 4, read: bool = True) -> list[float]:
    paddle.seed(3)
    model = paddle.nn.Sequential(paddle.nn.Linear(width, width), paddle.nn.Tanh(), paddle.nn.Linear(width, 1))
    optimizer = paddle.optimizer.Adam(learning_rate=0.01, parameters=model.parameters())
    x = paddle.to_tensor(np.linspace(-1, 1, batch * width, dtype=np.float32).reshape(batch, width))
    losses: list[Any] = []
    for _ in range(steps):
        loss = (model(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item() if read else loss)
    return [float(loss) for loss in losses]


def instruction_counts() -> list[int]:
    return sorted(record.num_instructions for record in PROGRAMS.values())


def test_a_loss_read_every_step_cuts_the_step_in_two() -> None:
    train(10)
    assert len(instruction_counts()) == 2
    assert all(record.hits >= 4 for record in PROGRAMS.values())


def test_a_loss_that_nobody_reads_leaves_the_step_whole() -> None:
    losses = train(10, read=False)
    assert max(instruction_counts()) > 12, "forward, backward and update are one program"
    assert len(instruction_counts()) == 1
    forget()
    assert losses == pytest.approx(train(10), rel=1e-5)


def test_values_are_those_of_immediate_mode() -> None:
    cut = train(12)
    with paddle.jit.eager_mode("immediate"):
        immediate = train(12)
    assert cut == pytest.approx(immediate, rel=1e-5)


def test_heavy_work_stays_whole() -> None:
    train(6, width=1024, batch=1024)
    assert len(instruction_counts()) == 1


def test_it_is_cut_in_the_same_place_every_time() -> None:
    first = train(8)
    counts = instruction_counts()
    forget()
    assert train(8) == first
    assert instruction_counts() == counts


def test_inputs_that_come_into_use_are_no_longer_donated() -> None:
    x = paddle.to_tensor(np.arange(6, dtype=np.float32))
    kept: list[Any] = []

    def change(keep: bool) -> None:
        nonlocal x
        if keep:
            kept.append(x)
            del kept[:-1]
        x = paddle.tanh(x) + 1.0
        x.numpy()

    for _ in range(6):
        change(keep=False)
    before = next(iter(PROGRAMS.values()))
    assert before.donated == 1
    for _ in range(60):
        previous = x.numpy()
        change(keep=True)
        np.testing.assert_array_equal(kept[-1].numpy(), previous)
        np.testing.assert_allclose(x.numpy(), np.tanh(previous) + 1, rtol=1e-6)
    (record,) = PROGRAMS.values()
    assert record.donated == 0
    assert "still in use" in record.reason
