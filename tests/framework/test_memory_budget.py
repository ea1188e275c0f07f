"""memory_budget: a verdict before anything is allocated, and recomputation chosen by itself."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import proa as paddle
from proa.framework.memory_budget import parse_size
from proa.ir.observing import RUNTIME
from proa.ir.recorder import LOCAL
from proa.ir.tiers.interpreter import run_on_numpy
from proa.ir.transforms.rematerialise import Liveness, rematerialised, with_zeros

nn = paddle.nn


class Block(nn.Layer):
    def __init__(self, width, drop):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.first = nn.Linear(width, 4 * width)
        self.second = nn.Linear(4 * width, width)
        self.drop = nn.Dropout(drop)

    def forward(self, x):
        return x + self.drop(self.second(paddle.tanh(self.first(self.norm(x)))))


def make(depth=3, width=8, drop=0.0):
    paddle.seed(0)
    return nn.Sequential(*[Block(width, drop) for _ in range(depth)])


def train(budget=None, steps=2, **options):
    model = make()
    optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
    x = paddle.to_tensor(np.random.default_rng(0).standard_normal((512, 8)).astype("float32"))
    losses = []
    with paddle.memory_budget(budget, **options) if budget else contextlib.nullcontext() as block:
        for _ in range(steps):
            loss = (model(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(float(loss))
    return losses, block


@pytest.mark.parametrize(
    ("text", "size"),
    [("20GB", 20 * 10**9), ("1.5 GiB", 3 * 2**29), ("512MiB", 2**29), ("7", 7), (1000, 1000), ("2kb", 2000)],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("bad", ["", "GB", "-1GB", "1XB", 0, -5, None, True])
def test_bad_sizes(bad):
    with pytest.raises(ValueError, match="budget"):
        paddle.memory_budget(bad)


def test_what_fits_is_left_alone_and_what_does_not_is_recomputed():
    losses, block = train("1GB")
    verdict = block.verdict
    assert verdict.fits
    assert verdict.recomputed_parts == 0
    assert verdict.needed == verdict.arguments + verdict.outputs + verdict.temporaries
    (size, value, layer), *_ = verdict.largest
    assert size == 512 * 32 * 4
    assert "float32[512, 32]" in value
    assert layer.startswith("Sequential.")
    assert "test_memory_budget.py" in layer
    assert "fits" in str(verdict)

    smaller, again = train(int(0.75 * verdict.needed))
    assert again.verdict.fits
    assert again.verdict.recomputed_parts >= 1
    assert again.verdict.needed < 0.75 * verdict.needed
    assert again.verdict.needed_before == verdict.needed
    np.testing.assert_allclose(smaller, losses, rtol=1e-6)
    assert "computed again" in str(again.verdict)


def test_what_cannot_fit_raises_before_it_runs():
    with pytest.raises(MemoryError, match="does not fit") as caught:
        train("100KB", recompute=False)
    text = str(caught.value)
    for words in ("arguments", "temporary", "largest values", "Sequential.0"):
        assert words in text
    assert RUNTIME.observed is None
    assert paddle.get_flags("FLAGS_hot_threshold")["FLAGS_hot_threshold"] == 3
    assert paddle.get_flags("FLAGS_window")["FLAGS_window"] == 20000
    assert paddle.ones([2]).tolist() == [1.0, 1.0]


# ---- the pass itself -----------------------------------------------------------------------------


def recorded_step(depth=6):
    """A recorded but not yet run step as a Program with its inputs."""
    model = make(depth, drop=0.1)
    x = paddle.to_tensor(np.random.default_rng(0).standard_normal((64, 8)).astype("float32"))
    paddle.ones([1]).numpy()
    loss = (model(x) ** 2).mean()
    loss.backward()
    segment = LOCAL.segment
    wanted = (loss._index, *(p.grad._index for p in model.parameters()))
    return segment.node.program(wanted), list(segment.inputs), list(segment.scalars)


@pytest.mark.parametrize("num_chunks", [2, 3, 6, 20])
def test_the_changed_program_gives_the_same_values_with_less_memory(num_chunks):
    program, inputs, scalars = recorded_step()
    expected = run_on_numpy(program, inputs, scalars)
    changed = rematerialised(program, num_chunks)
    assert changed is not None
    found = run_on_numpy(changed, inputs, with_zeros(program, changed, scalars))
    for old, new in zip(program.outputs, changed.outputs, strict=True):
        np.testing.assert_array_equal(found[new], expected[old])
    assert Liveness(changed).peak < (0.85 if num_chunks < 20 else 1) * Liveness(program).peak
    assert [i.index for i in changed.instructions] == list(
        np.cumsum([0, *(len(i.outputs) for i in changed.instructions[:-1])])
    )


def test_cuts_lie_between_blocks():
    """With as many chunks as blocks, only the stream between the blocks is kept: one value of [64, 8] each."""
    program, _, _ = recorded_step()
    plan = rematerialised(program, 6)
    assert plan is not None
    barriers = [i for i in plan.instructions if i.operation.name == "barrier"]
    assert len(barriers) == 5
    activations = [[a for a in i.outputs[:-1] if a.shape == (64, 8)] for i in barriers]
    assert all(len(found) <= 2 for found in activations)


def test_programs_with_nothing_to_gain():
    paddle.ones([1]).numpy()
    y = paddle.ones([4]) + 1
    program = LOCAL.segment.node.program((y._index,))
    assert rematerialised(program, 4) is None
