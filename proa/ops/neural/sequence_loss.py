"""Losses over alignments: CTC and RNN-T, by the forward algorithm in logarithms.

Both recursions are one primitive (a scan over time in XLA, a loop in NumPy); the gradient is derived from the XLA kernel.
Impossible is a large negative number instead of -inf, so that no derivative becomes NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import FLOAT32, INT64
from ...core.errors import value_error
from ...eager.declare import op, public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ..arguments import require_tensor
from ..basic import cast_to
from ..precision import wide
from .cross_entropy import check_reduction, reduce_loss
from .loss import _reduced

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


# ---- CTC -----------------------------------------------------------------------------------------


@op("logits labels input_lengths label_lengths", infer=_infer_batch(1), grad="auto", name="ctc")
def ctc_likelihood(xp: Any, logits: Any, labels: Any, input_lengths: Any, label_lengths: Any, blank: int) -> Any:
    """-log of the summed probability of all alignments, for logits [time, batch, classes]; 0 where there is none."""
    logp = _log_softmax(xp, wide(logits))
    steps, batch, _ = logp.shape
    length = labels.shape[1]
    # Labels with a blank before, between and behind them: state 2k + 1 is label k.
    odd = xp.arange(2 * length + 1) % 2 == 1
    padded = xp.concatenate([labels.astype(INT64), xp.full((batch, 1), blank, INT64)], axis=1)
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
    return xp.where(total < _NEVER / 2, xp.zeros((), total.dtype), -total)


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
    S(A(2, 1, 3), A(1, 2, values=[[1, 1]], dtype="int32"), _lengths(2), _lengths(2), reduction="none",
      zero_infinity=True),
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
    """Connectionist temporal classification: -log P(labels), over all their alignments with the input.

    `log_probs` are logits [time, batch, classes] (a softmax is taken inside), `labels` [batch, longest label].
    A label that is too long for its input costs 0, as in Paddle, with or without `zero_infinity`.
    """
    where = "ctc_loss"
    check_reduction(where, reduction)
    aval = require_tensor(where, "log_probs", log_probs)._aval
    marks = require_tensor(where, "labels", labels)._aval
    received = f"log_probs: {aval}, labels: {marks}, blank: {blank}"
    if aval.ndim != 3 or marks.ndim != 2 or marks.shape[0] != aval.shape[1]:
        raise value_error(where, "log_probs must be [time, batch, classes], labels [batch, length]", received)
    if not 0 <= blank < aval.shape[2]:
        raise value_error(where, f"blank must be from 0 to {aval.shape[2] - 1}", received)
    times = require_tensor(where, "input_lengths", input_lengths)
    counts = require_tensor(where, "label_lengths", label_lengths)
    for name, value in (("input_lengths", times), ("label_lengths", counts)):
        if value._aval.shape != (aval.shape[1],):
            raise value_error(
                where, f"{name} must have one entry for each sample", f"{name}: {value._aval}, {received}"
            )
    loss: Any = ctc_likelihood(log_probs, labels, times, counts, int(blank))
    if norm_by_times:  # the gradient alone is divided by the number of steps
        scaled = loss / cast_to(times, loss._aval.dtype)
        loss = scaled + (loss - scaled).detach()
    if reduction == "mean":
        return (loss / cast_to(counts, loss._aval.dtype).clip(min=1.0)).mean()  # type: ignore[attr-defined]
    return reduce_loss(loss, reduction)


# ---- RNN-T ---------------------------------------------------------------------------------------


@op(
    "logits labels input_lengths label_lengths",
    scalars="fastemit",
    infer=_infer_batch(0),
    grad="auto",
    follow_scalars=False,
    name="rnnt",
)
def rnnt_likelihood(
    xp: Any, logits: Any, labels: Any, input_lengths: Any, label_lengths: Any, fastemit: Any, blank: int
) -> Any:
    """-log of the summed probability of all paths, for logits [batch, time, labels + 1, classes]."""
    logp = _log_softmax(xp, wide(logits))
    batch, steps, rows, _ = logp.shape
    silent = logp[..., blank]
    index = labels.astype(INT64)[:, None, : rows - 1, None]
    emit = xp.take_along_axis(logp[:, :, :-1], xp.broadcast_to(index, (batch, steps, rows - 1, 1)), axis=3)[..., 0]
    if xp is not np:
        # FastEmit leaves the loss as it is and makes the gradient of emissions larger.
        import jax

        emit = emit + fastemit.astype(emit.dtype) * (emit - jax.lax.stop_gradient(emit))
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
    last = label_lengths.astype(INT64)[:, None]
    end = xp.take_along_axis(state, last, axis=1)[:, 0]
    final = xp.take_along_axis(silent, xp.clip(input_lengths.astype(INT64) - 1, 0, None)[:, None, None], axis=1)[:, 0]
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
    """The transducer loss: -log P(label), over all paths through [batch, time, labels + 1, classes] of logits.

    A log_softmax is taken inside; one taken before does no harm.
    """
    where = "rnnt_loss"
    check_reduction(where, reduction)
    aval = require_tensor(where, "input", input)._aval
    marks = require_tensor(where, "label", label)._aval
    received = f"input: {aval}, label: {marks}, blank: {blank}"
    if aval.ndim != 4 or marks.ndim != 2 or marks.shape[0] != aval.shape[0] or marks.shape[1] < aval.shape[2] - 1:
        raise value_error(where, "input must be [batch, time, labels + 1, classes], label [batch, labels]", received)
    if not 0 <= blank < aval.shape[3]:
        raise value_error(where, f"blank must be from 0 to {aval.shape[3] - 1}", received)
    for name_, value in (("input_lengths", input_lengths), ("label_lengths", label_lengths)):
        if require_tensor(where, name_, value)._aval.shape != (aval.shape[0],):
            raise value_error(
                where, f"{name_} must have one entry for each sample", f"{name_}: {value._aval}, {received}"
            )
    loss = rnnt_likelihood(input, label, input_lengths, label_lengths, float(fastemit_lambda), int(blank))
    return reduce_loss(loss, reduction)
