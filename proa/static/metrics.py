"""Metrics as parts of a program; what they count over many runs is kept in global variables."""

from __future__ import annotations

from typing import Any

from ..core.errors import type_error, value_error
from ..eager.tensor import Tensor
from ..ops.basic import cast_to, full_of
from ..ops.create.creation import assign
from ..ops.shape.joining import concat
from .variable import create_global_var


def accuracy(
    input: Tensor, label: Tensor, k: int = 1, correct: Tensor | None = None, total: Tensor | None = None
) -> Tensor:
    """The share of rows whose label is among the `k` largest outputs; `correct` and `total` receive the counts.

    Args:
        input: scores, a row for each sample.
        label: the right classes, `[rows, 1]`.
        k: how many of the largest count.
        correct: a variable for the number of right ones, or None.
        total: a variable for the number of rows, or None.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     scores = paddle.static.data("scores", [2, 3])
        ...     label = paddle.static.data("label", [2, 1], "int64")
        ...     share = paddle.static.accuracy(scores, label)
        >>> feed = {"scores": np.array([[1, 5, 2], [4, 1, 0]], "float32"), "label": np.array([[1], [2]])}
        >>> paddle.static.Executor().run(main, feed=feed, fetch_list=[share])[0].item()
        0.5
    """
    for what, given in (("input", input), ("label", label)):
        if not isinstance(given, Tensor):
            raise type_error("static.accuracy", f"{what} must be a variable", type(given).__name__)
    x: Any = input
    _, best = x.topk(k, -1)
    hits = (best == label.reshape([-1, 1])).any(-1).astype("float32")
    if correct is not None:
        assign(hits.sum().astype(correct.dtype).reshape(list(correct.shape)), correct)
    if total is not None:
        ones = hits * 0 + 1
        assign(ones.sum().astype(total.dtype).reshape(list(total.shape)), total)
    return hits.mean()


def auc(
    input: Tensor,
    label: Tensor,
    curve: str = "ROC",
    num_thresholds: int = 4095,
    topk: int = 1,
    slide_steps: int = 1,
    ins_tag_weight: Tensor | None = None,
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """The area under the curve over all runs, over the last `slide_steps` of them, and the counts it comes from.

    Args:
        input: probabilities of both classes, `[rows, 2]`.
        label: 0 or 1, `[rows, 1]`.
        curve: "ROC" or "PR".
        num_thresholds: how finely probabilities are told apart.
        topk: taken; it changes nothing.
        slide_steps: how many runs the second area covers.
        ins_tag_weight: weights of the samples, or None.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     probabilities = paddle.static.data("probabilities", [2, 2])
        ...     label = paddle.static.data("label", [2, 1], "int64")
        ...     area, recent, counts = paddle.static.auc(probabilities, label)
        >>> executor = paddle.static.Executor()
        >>> executor.run(startup)
        []
        >>> feed = {"probabilities": np.array([[0.9, 0.1], [0.2, 0.8]], "float32"), "label": np.array([[0], [1]])}
        >>> executor.run(main, feed=feed, fetch_list=[area])[0].item()
        1.0
    """
    if curve not in ("ROC", "PR"):
        raise value_error("static.auc", "curve is 'ROC' or 'PR'", repr(curve))
    x: Any = input
    labels: Any = label
    count = num_thresholds + 1
    weight = None if ins_tag_weight is None else ins_tag_weight.reshape([-1]).astype("int64")
    bins = (x[:, -1] * num_thresholds).astype("int64").clip(0, num_thresholds)
    positive = (labels.reshape([-1]) != 0).astype("int64")
    counted = []
    for chosen in (positive, 1 - positive):
        numbers = chosen if weight is None else chosen * weight
        counted.append(full_of(0, (count,), numbers._aval.dtype).index_add(bins, 0, numbers))
    steps = max(1, slide_steps)
    recent = [create_global_var([steps, count], 0, "int64", True) for _ in range(2)]
    ever = [create_global_var([1, count], 0, "int64", True) for _ in range(2)]
    for window, total, numbers in zip(recent, ever, counted, strict=True):
        row = numbers.reshape([1, count])
        assign(row if steps == 1 else concat([window[1:], row], 0), window)
        assign(total + row, total)
    batch = [window.sum(0) for window in recent] if slide_steps else [total.sum(0) for total in ever]
    areas = [_area(p, n, curve) for p, n in ((ever[0].sum(0), ever[1].sum(0)), batch)]
    return areas[0], areas[1], [*recent, *ever]


def _area(positive: Any, negative: Any, curve: str) -> Tensor:
    """The area under the curve, by trapezoids from the highest threshold to the lowest."""
    hits = cast_to(positive, _double()).flip(0).cumsum(0)
    misses = cast_to(negative, _double()).flip(0).cumsum(0)
    zero = hits[:1] * 0
    if curve == "PR":
        along, height = hits / hits[-1].clip(1.0), hits / (hits + misses).clip(1.0)
    else:
        along, height = misses / misses[-1].clip(1.0), hits / hits[-1].clip(1.0)
    along, height = concat([zero, along], 0), concat([zero if curve == "ROC" else zero + 1, height], 0)
    return ((along[1:] - along[:-1]) * (height[1:] + height[:-1])).sum() / 2


def _double() -> Any:
    import numpy as np

    return np.dtype(np.float64)


def ctr_metric_bundle(input: Tensor, label: Tensor, ins_tag_weight: Tensor | None = None) -> tuple[Tensor, ...]:
    """Sums over all runs: squared error, absolute error, predictions, their sigmoids, clicks, samples.

    Args:
        input: predictions, `[rows, 1]`.
        label: clicks, 0 or 1, `[rows, 1]`.
        ins_tag_weight: weights of the samples, or None.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     probabilities = paddle.static.data("probabilities", [2, 1])
        ...     label = paddle.static.data("label", [2, 1], "int64")
        ...     sums = paddle.static.ctr_metric_bundle(probabilities, label)
        >>> len(sums)
        6
    """
    x: Any = input
    labels: Any = label.astype("float32")
    weight: Any = 1.0 if ins_tag_weight is None else ins_tag_weight.reshape([-1, 1])
    error = x - labels
    ones = x * 0 + 1
    parts = [error * error, error.abs(), x, x.sigmoid(), labels, ones]
    sums = []
    for part in parts:
        total = create_global_var([1], 0.0, "float32", True)
        assign(total + (part * weight).sum().reshape([1]), total)
        sums.append(total)
    return tuple(sums)
