"""Plans applied on eight devices: the model trains as it does on one, laid out as the plan says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import distributed as dist
from proa.distributed.planner.costs import Choice
from proa.distributed.planner.pieces import take_apart
from proa.distributed.planner.plan import Plan
from proa.distributed.planner.searching import cuts_for
from proa.distributed.planner.tracing import trace
from tests.distributed.support import models

STEPS = 2


def train(choice: Choice | None) -> tuple[list[float], Any]:
    paddle.seed(7)
    model = models.GPT()
    optimizer = paddle.optimizer.AdamW(0.01, parameters=model.parameters())
    pieces = take_apart(trace(model, models.loss_of, optimizer, list(models.batch(0, True))))
    strategy = None
    if choice is not None:
        plan = Plan("cpu", 1e9, models.BATCH, choice, cuts_for(pieces, choice.model), pieces.prefix)
        model, optimizer = plan.apply(model, optimizer)
        strategy = plan.strategy()
    step = dist.to_static(model, None, models.loss_of, optimizer, strategy=strategy)
    return [float(step(*map(paddle.to_tensor, models.batch(n, True)))) for n in range(STEPS)], model


@pytest.fixture(scope="module")
def alone() -> list[float]:
    return train(None)[0]


@pytest.mark.parametrize(
    "choice",
    [Choice(data=2, model=4, stage=3, sequence=True), Choice(data=4, model=2, stage=1, recompute=True)],
    ids=str,
)
def test_a_plan_changes_no_numbers(choice: Choice, alone: list[float]) -> None:
    losses, model = train(choice)
    np.testing.assert_allclose(losses, alone, rtol=2e-4)
    weight = model.blocks[1].mlp.up.weight
    assert weight.is_dist()
    mesh = weight.process_mesh
    assert mesh.size == 8 // choice.pipeline
    if choice.model > 1:
        assert weight.placements[mesh.axis("mp")] == dist.Shard(1)
    if choice.stage == 3:
        assert weight.placements[mesh.axis("dp")] == dist.Shard(0)


def test_a_plan_for_one_device_leaves_the_model_alone() -> None:
    model = models.MLP()
    assert Plan("cpu", 1e9, 8, Choice()).apply(model, None) == (model, None)
    assert not model.head.weight.is_dist()
