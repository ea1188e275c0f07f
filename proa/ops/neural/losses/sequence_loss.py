"""Losses over alignments: CTC and RNN-T, by the forward algorithm in logarithms.

Both recursions are one primitive (a scan over time in XLA, a loop in NumPy); the gradient is derived from the XLA kernel.
Impossible is a large negative number instead of -inf, so that no derivative becomes NaN.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.aval import Aval
from ....core.dtype import FLOAT32, INT64, is_floating
from ....core.errors import type_error, value_error
from ....eager.declare import op, public
from ....eager.samples import A, S, samples
from ....eager.tensor import Tensor
from ....ir.operation import Check
from ....ir.padding import rules
from ...arguments import require_tensor
from ...basic import cast_to
from ...index.gather import index_tensor
from ...index.indexing_kernels import IndexOutOfRange
from ...precision import wide
from .cross_entropy import check_reduction, reduce_loss
from .regression_loss import _reduced

_NEVER = -1e30


def _log_softmax(xp: Any, x: Any) -> Any:
    shifted = x - xp.max(x, axis=-1, keepdims=True)
    return shifted - xp.log(xp.sum(xp.exp(shifted), axis=-1, keepdims=True))


def _scan(xp: Any, step: Any, state: Any, sequences: tuple[Any, ...]) -> Any:
    """The state after all steps."""
    if xp is np:
        for values in zip(*sequences, strict=True):
            state = step(state, values)
        return state
    import jax

    return jax.lax.scan(lambda carried, values: (step(carried, values), None), state, sequences)[0]


def _infer_batch(position: int) -> Any:
    def infer(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
        wider = operands[0].dtype if operands[0].dtype.itemsize > 2 else FLOAT32
        return operands[0].with_shape((operands[0].shape[position],)).with_dtype(wider)

    return infer


def _fit_check(shortest: int) -> Check:
    """Labels that are classes, and lengths that fit; what stands behind a label's length is never looked at.

    The last attributes are the longest input, the longest label and the number of classes.
    """

    def condition(xp: Any, *arguments: Any) -> Any:
        labels, input_lengths, label_lengths = arguments[1:4]
        steps, longest, classes = arguments[-3:]
        used = xp.arange(labels.shape[1])[None, :] < label_lengths[:, None]
        good = xp.all(((labels >= 0) & (labels < classes)) | ~used)
        good = good & xp.all((input_lengths >= shortest) & (input_lengths <= steps))
        return good & xp.all((label_lengths >= 0) & (label_lengths <= longest))

    def explain(kinds: Any, attributes: tuple[Any, ...]) -> str:
        steps, longest, classes = attributes[-3:]
        return (
            f"a label or a length is out of range; allowed: labels from 0 to {classes - 1}, "
            f"input lengths from {shortest} to {steps}, label lengths from 0 to {longest}"
        )

    return Check(condition, explain, IndexOutOfRange, (1, 2, 3))


def _whole_numbers(where: str, batch: int, received: str, **tensors: Any) -> None:
    """Labels and lengths are integers; the lengths have one entry for each sample."""
    for name, value in tensors.items():
        aval = index_tensor(where, value, name)._aval
        if name.endswith("lengths") and aval.shape != (batch,):
            raise value_error(where, f"{name} must have one entry for each sample", f"{name}: {aval}, {received}")


# ---- CTC -----------------------------------------------------------------------------------------


@op(
    "logits labels input_lengths label_lengths", infer=_infer_batch(1), check=_fit_check(0), grad="auto", name="ctc",
    paddle_name="warpctc", amp="wide", padding=rules.neural.alignment,
)  # fmt: skip
def ctc_likelihood(
    xp: Any, logits: Any, labels: Any, input_lengths: Any, label_lengths: Any, blank: int, steps: int, length: int,
    classes: int,
) -> Any:  # fmt: skip
    """-log of the summed probability of all alignments, for logits [time, batch, classes]; 0 where there is none."""
    logp = _log_softmax(xp, wide(logits))
    batch = logp.shape[1]
    labels = xp.clip(labels.astype(INT64), 0, classes - 1)  # what stands behind the end may be anything
    # Labels with a blank before, between and behind them: state 2k + 1 is label k.
    odd = xp.arange(2 * length + 1) % 2 == 1
    padded = xp.concatenate([labels, xp.full((batch, 1), blank, INT64)], axis=1)
    symbols = xp.where(odd[None, :], padded[:, xp.arange(2 * length + 1) // 2], blank)
    before = xp.concatenate([xp.full((batch, 2), -1, INT64), symbols[:, :-2]], axis=1)[:, : 2 * length + 1]
    may_skip = odd[None, :] & (symbols != before)
    emitted = xp.take_along_axis(logp, xp.broadcast_to(symbols[None], (steps, *symbols.shape)), axis=2)
    never = xp.asarray(_NEVER, logp.dtype)
    states = xp.arange(2 * length + 1)[None, :]
    state = xp.where(states <= 1, emitted[0], never) if steps else xp.full(symbols.shape, _NEVER, logp.dtype)

    def moved(values: Any, by: int) -> Any:
        border = xp.full((batch, min(by, values.shape[1])), _NEVER, values.dtype)
        return xp.concatenate([border, values[:, : values.shape[1] - by]], axis=1)[:, : values.shape[1]]

    def step(alpha: Any, values: Any) -> Any:
        now, time = values
        total = xp.logaddexp(alpha, moved(alpha, 1))
        total = xp.where(may_skip, xp.logaddexp(total, moved(alpha, 2)), total)
        return xp.where((time < input_lengths)[:, None], xp.maximum(total + now, never), alpha)

    if steps > 1:
        state = _scan(xp, step, state, (emitted[1:], xp.arange(1, steps)))
    last = 2 * label_lengths.astype(INT64)[:, None]
    end = xp.take_along_axis(state, xp.clip(last, 0, 2 * length), axis=1)[:, 0]
    previous = xp.take_along_axis(state, xp.clip(last - 1, 0, 2 * length), axis=1)[:, 0]
    total = xp.where(last[:, 0] > 0, xp.logaddexp(end, previous), end)
    return xp.where((total < _NEVER / 2) | (input_lengths <= 0), xp.zeros((), total.dtype), -total)


def _reference_ctc(logits: Any, labels: Any, input_lengths: Any, label_lengths: Any, blank: int = 0,
                   reduction: str = "mean", norm_by_times: bool = False, zero_infinity: bool = False) -> Any:  # fmt: skip
    """Alignments one by one (for the samples)."""
    import itertools

    logp = logits.astype(np.float64) - np.log(np.exp(logits.astype(np.float64)).sum(-1, keepdims=True))
    out = []
    for b in range(logits.shape[1]):
        wanted, total = list(labels[b, : label_lengths[b]]), 0.0
        for path in itertools.product(range(logits.shape[2]), repeat=int(input_lengths[b])):
            short = [k for i, k in enumerate(path) if k != blank and (i == 0 or k != path[i - 1])]
            if short == wanted:
                total += np.exp(sum(logp[t, b, k] for t, k in enumerate(path)))
        out.append(-np.log(total) if total else 0.0)
    loss = np.array(out)
    return (loss / np.maximum(label_lengths, 1)).mean() if reduction == "mean" else _reduced(loss, reduction)


def _lengths(*values: int) -> A:
    return A(len(values), values=list(values), dtype="int64")


_MARKS = A(2, 2, values=[[1, 1], [2, 0]], dtype="int32")


@samples(
    S(A(4, 2, 3), _MARKS, _lengths(4, 3), _lengths(2, 1)),
    S(A(4, 2, 3), A(2, 1, values=[[0], [1]], dtype="int32"), _lengths(4, 4), _lengths(1, 1), 2, "none"),
    S(A(4, 2, 3), _MARKS, _lengths(4, 3), _lengths(2, 0), reduction="sum"),
    S(A(4, 2, 3), _MARKS, _lengths(2, 3), _lengths(2, 1), reduction="sum", zero_infinity=True),  # the first is too long
    reference=_reference_ctc, second_order=False, why="second derivatives of a scan take long to compile",
)  # fmt: skip
@public(module="nn.functional")
def ctc_loss(
    log_probs: Tensor,
    labels: Tensor,
    input_lengths: Tensor,
    label_lengths: Tensor,
    blank: int = 0,
    reduction: str = "mean",
    norm_by_times: bool = False,
    zero_infinity: bool = False,
) -> Tensor:
    """Connectionist temporal classification: `-log P(labels)`, over all their alignments with the input.

    A label that is too long for its input costs 0, as in Paddle, with or without `zero_infinity`.

    Args:
        log_probs: logits, `[time, batch, classes]`; a softmax is taken inside.
        labels: `[batch, longest label]` (int32).
        input_lengths: how long each input is.
        label_lengths: how long each label is.
        blank: the class that stands for nothing.
        reduction: 'mean' (the default; each loss divided by its label's length), 'sum', or 'none' for a loss of each
            sample.
        norm_by_times: whether gradients are divided by the input's length.
        zero_infinity: accepted; losses are finite.

    Returns:
        One number, or one for each sample with `reduction='none'`.

    Examples:
        >>> logits = paddle.zeros([2, 1, 2])  # two steps, the classes blank and 1, all as likely
        >>> labels = paddle.to_tensor([[1]], dtype="int32")
        >>> input_lengths = paddle.to_tensor([2])
        >>> label_lengths = paddle.to_tensor([1])
        >>> loss = paddle.nn.functional.ctc_loss(logits, labels, input_lengths, label_lengths, reduction="none")
        >>> print(loss.exp().numpy().round(4))
        [1.3333]
    """
    where = "ctc_loss"
    check_reduction(where, reduction)
    aval = require_tensor(where, "log_probs", log_probs)._aval
    marks = require_tensor(where, "labels", labels)._aval
    received = f"log_probs: {aval}, labels: {marks}, blank: {blank}"
    if not is_floating(aval.dtype):
        raise type_error(where, "log_probs must be floating", received, "convert with astype('float32')")
    if aval.ndim != 3 or marks.ndim != 2 or marks.shape[0] != aval.shape[1]:
        raise value_error(where, "log_probs must be [time, batch, classes], labels [batch, length]", received)
    if not 0 <= blank < aval.shape[2]:
        raise value_error(where, f"blank must be from 0 to {aval.shape[2] - 1}", received)
    _whole_numbers(
        where, aval.shape[1], received, labels=labels, input_lengths=input_lengths, label_lengths=label_lengths
    )
    loss: Any = ctc_likelihood(
        log_probs, labels, input_lengths, label_lengths, int(blank), aval.shape[0], marks.shape[1], aval.shape[2]
    )
    if norm_by_times:  # the gradient alone is divided by the number of steps
        scaled = loss / cast_to(input_lengths, loss._aval.dtype).clip(min=1.0)
        loss = scaled + (loss - scaled).detach()
    if reduction == "mean":
        return (loss / cast_to(label_lengths, loss._aval.dtype).clip(min=1.0)).mean()
    return reduce_loss(loss, reduction)


# ---- RNN-T ---------------------------------------------------------------------------------------


@op(
    "logits labels input_lengths label_lengths",
    scalars="fastemit",
    infer=_infer_batch(0),
    check=_fit_check(1),
    grad="auto",
    follow_scalars=False,
    name="rnnt",
    paddle_name="warprnnt",
    amp="wide",
    padding=rules.neural.alignment,
)
def rnnt_likelihood(
    xp: Any, logits: Any, labels: Any, input_lengths: Any, label_lengths: Any, fastemit: Any, blank: int, steps: int,
    longest: int, classes: int,
) -> Any:  # fmt: skip
    """-log of the summed probability of all paths, for logits [batch, time, labels + 1, classes]."""
    logp = _log_softmax(xp, wide(logits))
    batch = logp.shape[0]
    silent = logp[..., blank]
    index = xp.clip(labels.astype(INT64), 0, classes - 1)[:, None, :longest, None]
    emit = xp.take_along_axis(logp[:, :, :-1], xp.broadcast_to(index, (batch, steps, longest, 1)), axis=3)[..., 0]
    if xp is not np:
        # FastEmit leaves the loss as it is and makes the gradient of emissions larger.
        import jax

        most = xp.finfo(emit.dtype).max
        factor = xp.clip(fastemit, -most, most).astype(emit.dtype)  # infinity times 0 would change the loss
        emit = emit + factor * (emit - jax.lax.stop_gradient(emit))
    climbed = xp.concatenate([xp.zeros((batch, steps, 1), emit.dtype), xp.cumsum(emit, axis=2)], axis=2)

    def running(values: Any) -> Any:
        """log(sum(exp)) of everything up to each element of the last axis."""
        if xp is np:
            return np.logaddexp.accumulate(values, axis=-1)
        import jax

        return jax.lax.cumlogsumexp(values, axis=values.ndim - 1)

    def step(alpha: Any, values: Any) -> Any:
        silent_before, climb, time = values
        reached = climb + running(alpha + silent_before - climb)
        return xp.where((time < input_lengths)[:, None], reached, alpha)

    state = climbed[:, 0]
    if steps > 1:
        by_time = [xp.moveaxis(a, 1, 0) for a in (silent[:, :-1], climbed[:, 1:])]
        state = _scan(xp, step, state, (*by_time, xp.arange(1, steps)))
    last = xp.clip(label_lengths.astype(INT64), 0, longest)[:, None]
    end = xp.take_along_axis(state, last, axis=1)[:, 0]
    ended = xp.clip(input_lengths.astype(INT64) - 1, 0, steps - 1)
    final = xp.take_along_axis(silent, ended[:, None, None], axis=1)[:, 0]
    return -(end + xp.take_along_axis(final, last, axis=1)[:, 0])


def _reference_rnnt(x: Any, labels: Any, input_lengths: Any, label_lengths: Any, blank: int = 0,
                    fastemit_lambda: float = 0.001, reduction: str = "mean") -> Any:  # fmt: skip
    logp = x.astype(np.float64) - np.log(np.exp(x.astype(np.float64)).sum(-1, keepdims=True))
    out = []
    for b in range(len(x)):
        steps, count = int(input_lengths[b]), int(label_lengths[b])

        def total(t: int, u: int, b: int = b, steps: int = steps, count: int = count) -> float:
            if t == steps:
                return 1.0 if u == count else 0.0
            found = np.exp(logp[b, t, u, blank]) * total(t + 1, u)
            return found + (np.exp(logp[b, t, u, labels[b, u]]) * total(t, u + 1) if u < count else 0.0)

        out.append(-np.log(total(0, 0)))
    loss = np.array(out)
    return loss.sum() / len(x) if reduction == "mean" else _reduced(loss, reduction)


def _int32(*values: int) -> A:
    return A(len(values), values=list(values), dtype="int32")


_WORDS = A(2, 2, values=[[1, 2], [2, 1]], dtype="int32")


@samples(
    S(A(2, 3, 3, 3), _WORDS, _int32(3, 2), _int32(2, 1), fastemit_lambda=0.0),
    S(A(2, 3, 3, 3), _WORDS, _int32(3, 3), _int32(2, 2), 0, 0.0, "none"),
    S(A(1, 2, 2, 3), A(1, 1, values=[[0]], dtype="int32"), _int32(2), _int32(1), 2, 0.0, "sum"),
    reference=_reference_rnnt, second_order=False, why="second derivatives of a scan take long to compile",
)  # fmt: skip
@public(module="nn.functional")
def rnnt_loss(
    input: Tensor,
    label: Tensor,
    input_lengths: Tensor,
    label_lengths: Tensor,
    blank: int = 0,
    fastemit_lambda: float = 0.001,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """The transducer loss: `-log P(label)`, over all paths through time and labels.

    A log_softmax is taken inside; one taken before does no harm.

    Args:
        input: logits, `[batch, time, labels + 1, classes]`.
        label: `[batch, labels]` (int32).
        input_lengths: how long each input is (int32).
        label_lengths: how long each label is (int32).
        blank: the class that stands for nothing.
        fastemit_lambda: the weight of the regularisation that favours early labels.
        reduction: 'mean' (the default), 'sum', or 'none' for a loss of each element.
        name: a label; it changes nothing.

    Returns:
        One number, or one for each sample with `reduction='none'`.

    Examples:
        >>> lengths = paddle.to_tensor([2], dtype="int32"), paddle.to_tensor([1], dtype="int32")
        >>> input = paddle.zeros([1, 2, 2, 2])
        >>> label = paddle.to_tensor([[1]], dtype="int32")
        >>> loss = paddle.nn.functional.rnnt_loss(input, label, *lengths, fastemit_lambda=0.0)
        >>> round(loss.item(), 4)  # two paths of three turns each: -log(2 / 8)
        1.3863
    """
    where = "rnnt_loss"
    check_reduction(where, reduction)
    aval = require_tensor(where, "input", input)._aval
    marks = require_tensor(where, "label", label)._aval
    received = f"input: {aval}, label: {marks}, blank: {blank}"
    if not is_floating(aval.dtype):
        raise type_error(where, "input must be floating", received, "convert with astype('float32')")
    if aval.ndim != 4 or marks.ndim != 2 or marks.shape[0] != aval.shape[0] or marks.shape[1] < aval.shape[2] - 1:
        raise value_error(where, "input must be [batch, time, labels + 1, classes], label [batch, labels]", received)
    if not 0 <= blank < aval.shape[3]:
        raise value_error(where, f"blank must be from 0 to {aval.shape[3] - 1}", received)
    if not aval.shape[1] or not aval.shape[2]:
        raise value_error(where, "there must be a step of time and a place before the first label", received)
    _whole_numbers(
        where, aval.shape[0], received, label=label, input_lengths=input_lengths, label_lengths=label_lengths
    )
    weight = float(fastemit_lambda)
    if math.isnan(weight):
        raise value_error(where, "fastemit_lambda must be a number", f"fastemit_lambda: {fastemit_lambda}")
    loss = rnnt_likelihood(
        input, label, input_lengths, label_lengths, weight, int(blank), aval.shape[1], aval.shape[2] - 1, aval.shape[3]
    )
    return reduce_loss(loss, reduction)
