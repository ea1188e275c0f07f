"""Static programs against what paddlepaddle 3.3.1 gave for the same code (see programs.py)."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle

from . import programs

LOSSES = {
    "SGD": 0.2892661,
    "Momentum": 0.4301322,
    "Adam": 0.2848194,
    "AdamW": 0.2810285,
    "RMSProp": 0.1333985,
    "clipped": 0.6593935,
}
# Shape, sum, and sum weighted by position of each result.
SUMS = {
    "fc": [([2, 3], 2.8424, 13.745)],
    "fc_2": [([2, 6, 3], 4.87429, 74.3983)],
    "conv2d": [([2, 2, 3, 3], 27.5159, 534.34)],
    "conv2d_transpose": [([2, 2, 11, 11], 8.46349, 3875.62)],
    "batch_norm": [([2, 4, 5, 5], -7.15256e-07, 55.1202)],
    "layer_norm": [([2, 4, 5, 5], 0.27312, -109.936)],
    "group_norm": [([2, 4, 5, 5], -1.00137, -170.256)],
    "instance_norm": [([2, 4, 5, 5], 2.26498e-06, 136.433)],
    "prelu": [([2, 4, 5, 5], 40.6981, 4059.41)],
    "bilinear": [([2, 2], -1.33294, -5.30607)],
    "row_conv": [([2, 6, 4], 4.9014, 92.4639)],
    "embedding": [([2, 3, 2], 2.67875, 15.446)],
    "auc": [([], 0.419192, 0), ([], 0.419192, 0)],
    "accuracy": [([], 0.25, 0)],
}


@pytest.mark.usefixtures("static")
@pytest.mark.parametrize("name", programs.OPTIMISERS)
def test_training_gives_the_loss_that_paddle_gives(name: str) -> None:
    (loss,) = programs.regression(paddle, lambda: programs.OPTIMISERS[name](paddle))
    assert float(loss) == pytest.approx(LOSSES[name], rel=5e-6)


@pytest.mark.usefixtures("static")
def test_a_learning_rate_schedule_is_read_at_each_run() -> None:
    schedule = paddle.optimizer.lr.StepDecay(0.2, step_size=2, gamma=0.1)
    (loss,) = programs.regression(paddle, lambda: paddle.optimizer.SGD(schedule), 6, schedule.step)
    assert float(loss) == pytest.approx(0.2478513, rel=5e-6)


@pytest.mark.usefixtures("static")
@pytest.mark.parametrize("name", programs.LAYERS)
def test_functions_with_parameters_compute_what_paddle_computes(name: str) -> None:
    for value, (shape, total, weighted) in zip(programs.layer(paddle, name), SUMS[name], strict=True):
        assert list(value.shape) == shape
        assert float(value.sum()) == pytest.approx(total, rel=1e-5, abs=2e-5)
        assert float((value.ravel() * np.arange(value.size)).sum()) == pytest.approx(weighted, rel=1e-5, abs=1e-3)
