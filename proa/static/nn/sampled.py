"""Noise-contrastive estimation: a loss over many classes that looks at a few drawn ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...eager.annotations import AttrLike
from ...eager.tensor import Tensor, tensor_from_data
from ...nn import functional as F
from ...nn.initializer import XavierUniform
from ...ops.arguments import integer
from ...ops.create.random import uniform
from ...ops.index.lookup import searchsorted
from .parameters import Parameters


def nce(
    input: Tensor,
    label: Tensor,
    num_total_classes: int,
    sample_weight: Tensor | None = None,
    param_attr: AttrLike | None = None,
    bias_attr: AttrLike | None = None,
    num_neg_samples: int | None = None,
    name: str | None = None,
    sampler: str = "uniform",
    custom_dist: Sequence[float] | np.ndarray | None = None,
    seed: int = 0,
    is_sparse: bool = False,
) -> Tensor:
    """For each row the loss [rows, 1] of telling its label from `num_neg_samples` (10) drawn classes.

    Args:
        input: `[rows, width]`.
        label: the right classes, `[rows, 1]`.
        num_total_classes: how many classes there are.
        sample_weight: weights of the rows, or None.
        param_attr: the weight's ParamAttr.
        bias_attr: the bias's; False: no bias.
        num_neg_samples: how many are drawn.
        name: a label; it changes nothing.
        sampler: how: "uniform", "log_uniform" or "custom_dist".
        custom_dist: the classes' probabilities, for the last one.
        seed: another number than 0 draws the same classes at each run; with 0, draws follow `paddle.seed`.
        is_sparse: taken; it changes nothing.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x, label = paddle.static.data("x", [4, 3]), paddle.static.data("label", [4, 1], "int64")
        ...     loss = paddle.static.nn.nce(x, label, 20)
        >>> loss.shape
        paddle.Size([4, 1])
    """
    make = Parameters("nce", input, name)
    weight = make.weight([num_total_classes, input.shape[1]], param_attr, XavierUniform())
    bias = make.bias([num_total_classes, 1], bias_attr)
    count = 10 if num_neg_samples is None else int(num_neg_samples)
    probabilities = _class_probabilities(make.where, sampler, num_total_classes, custom_dist)
    table = tensor_from_data(probabilities.astype(np.float32))
    rows = input._aval.shape[0]
    labels: Any = label.reshape([rows, -1])
    drawn = _draw(probabilities, [rows, count], integer(make.where, "seed", seed))
    true = _odds(input, labels, weight, bias, table, count)
    false = _odds(input, drawn, weight, bias, table, count)
    # An output o stands for the odds o / (o + b) of coming from the data, b being the expected number of draws.
    cost: Any = -(true[0] / (true[0] + true[1])).log() / labels.shape[1]
    total = cost.sum(1, keepdim=True) - (false[1] / (false[0] + false[1])).log().sum(1, keepdim=True)
    return total if sample_weight is None else total * sample_weight.reshape([rows, 1])


def _odds(x: Tensor, classes: Any, weight: Any, bias: Any, table: Any, count: int) -> tuple[Any, Any]:
    """The outputs for some classes of each row, and how often each of them is expected to be drawn."""
    chosen: Any = F.embedding(classes, weight)
    logits = (chosen * x.unsqueeze(1)).sum(-1)
    if bias is not None:
        logits = logits + F.embedding(classes, bias).squeeze(-1)
    return F.sigmoid(logits), F.embedding(classes, table.unsqueeze(1)).squeeze(-1) * count


def _class_probabilities(where: str, sampler: str, classes: int, custom: Any) -> np.ndarray:
    if sampler == "uniform":
        return np.full(classes, 1 / classes)
    if sampler == "log_uniform":
        numbers = np.arange(classes)
        return (np.log(numbers + 2) - np.log(numbers + 1)) / math.log(classes + 1)
    if sampler == "custom_dist":
        probabilities = np.asarray(custom, np.float64)
        if probabilities.shape != (classes,):
            raise value_error(where, f"custom_dist must have {classes} probabilities", f"{list(probabilities.shape)}")
        return probabilities
    raise value_error(where, "sampler is 'uniform', 'log_uniform' or 'custom_dist'", repr(sampler))


def _draw(probabilities: np.ndarray, shape: list[int], seed: int) -> Any:
    """Classes drawn by their probabilities: anew at each run, or with a seed always the same."""
    steps = tensor_from_data(np.cumsum(probabilities / probabilities.sum()).astype(np.float32)[:-1])
    return searchsorted(steps, uniform(shape, "float32", 0.0, 1.0, seed), right=True)
