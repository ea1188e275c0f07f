"""Direct preference optimisation, beside its formula."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.llm.training import PairRows, TokenFile, Trainer, token_writer
from proa.llm.training.objectives import Preferred
from proa.llm.training.settings import Preference
from tests.llm.training.tiny import VOCABULARY, losses, tiny_model, tiny_settings

PAIRS = [([1, 2, 3], [4, 5], [6, 7, 8]), ([9], [10], [11]), ([12, 13], [14, 15, 16], [17])]


def pairs(folder: Path) -> PairRows:
    with token_writer(folder / "pairs", VOCABULARY, with_given=True) as writer:
        for prompt, *answers in PAIRS:
            for answer in answers:
                writer.add(prompt + answer, [True] * len(prompt) + [False] * len(answer))
    return PairRows(TokenFile(folder / "pairs"), 8, shuffle=False)


def likelihood(model: Any, prompt: list[int], answer: list[int]) -> float:
    """log p(answer | prompt) from the model's logits, in float64."""
    ids = prompt + answer
    with paddle.no_grad():
        rows = model(paddle.to_tensor([ids])).numpy()[0].astype(np.float64)
    logarithms = rows - np.log(np.exp(rows).sum(-1, keepdims=True))
    return float(sum(logarithms[place - 1, ids[place]] for place in range(len(prompt), len(ids))))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_is_the_formula_s(tmp_path: Path, smoothing: float) -> None:
    model, frozen = tiny_model(1, initializer_range=0.3), tiny_model(2, initializer_range=0.3)
    objective = Preferred(model, 1 << 20, Preference(0.5, smoothing), frozen)
    found = objective.total(pairs(tmp_path).batch(0, 3)).item()
    wanted = 0.0
    for prompt, chosen, rejected in PAIRS:
        own, other = ([likelihood(m, prompt, a) for a in (chosen, rejected)] for m in (model, frozen))
        margin = 0.5 * ((own[0] - other[0]) - (own[1] - other[1]))
        wanted += (1 - smoothing) * np.log1p(np.exp(-margin)) + smoothing * np.log1p(np.exp(margin))
    assert found == pytest.approx(wanted, rel=1e-5)


def test_chosen_answers_become_likelier(tmp_path: Path) -> None:
    model = tiny_model()
    rows = pairs(tmp_path)
    objective = Preferred(model, 1 << 20, Preference(0.5), tiny_model())
    settings = tiny_settings(tmp_path, task="preference", steps=5, batch=3, optimizer={"learning_rate": 0.03})
    found = losses(Trainer(model, rows, settings, objective=objective).train())
    assert found[0] == pytest.approx(np.log(2), rel=1e-5), "at first it is the reference"
    assert found[-1] < 0.5
    reference = tiny_model()
    for prompt, chosen, rejected in PAIRS:
        gained = [likelihood(model, prompt, a) - likelihood(reference, prompt, a) for a in (chosen, rejected)]
        assert gained[0] > gained[1]
