"""The choice of the next token: penalties, bias, what a grammar allows, temperature, the likely few, one draw.

A row is one place where a token is wanted, with parameters of its own; rows know nothing of one another. What no row of a
step asks for is not computed (`uses`). A draw takes one number in [0, 1) for each row and walks along the probabilities, so
that whoever hands in the same numbers gets the same tokens, whatever else is in the batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.aval import make_aval
from ...eager.declare import op
from ...ir.padding import rules

# Columns of `numbers`, one row of parameters each.
NUMBERS = ("temperature", "top_p", "min_p", "repetition", "presence", "frequency", "uniform")
TEMPERATURE, TOP_P, MIN_P, REPETITION, PRESENCE, FREQUENCY, UNIFORM = range(len(NUMBERS))
# Columns of `limits`.
TOP_K, PROMPT = range(2)
# Elements of `uses`.
USES = ("penalties", "bias", "mask", "draw", "top_k", "top_p", "logprobs", "tops")
NUM_TOPS = 20  # likely tokens that are told on demand
_CHUNK = 256  # tokens that are walked along together
Sums = Callable[[Any, Any], Any]  # over the last axis of an array
_NOWHERE = np.float32(-np.inf)


def _infer(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Any:
    logits, numbers, limits, history, bias_tokens, bias_values, allowed, uses = operands
    rows, vocabulary = logits.shape if logits.ndim == 2 else (-1, -1)
    fits = (
        numbers.shape == (rows, len(NUMBERS))
        and limits.shape == (rows, 2)
        and history.shape[:1] == bias_tokens.shape[:1] == (rows,)
        and bias_values.shape == bias_tokens.shape
        and allowed.shape == (rows, -(-vocabulary // 32))
        and uses.shape == (len(USES),)
    )
    if not fits:
        raise operation.error(ValueError, "the parameters do not fit the rows of the logits", operands)
    kinds = (((rows,), "int32"), ((rows,), "float32"), ((rows, NUM_TOPS), "int32"), ((rows, NUM_TOPS), "float32"))
    return tuple(make_aval(shape, np.dtype(dtype), place) for shape, dtype in kinds)


def _infer_scores(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Any:
    logits, targets = operands
    if logits.ndim != 2 or targets.shape != logits.shape[:1] or targets.dtype.kind != "i":
        raise operation.error(ValueError, "logits must be [rows, vocabulary], targets whole numbers [rows]", operands)
    return make_aval(targets.shape, np.dtype("float32"), place)


@op(
    "logits targets",
    infer=_infer_scores,
    grad="auto",
    padding=rules.refused("an engine's steps have few shapes of their own"),
)
def token_scores(xp: Any, logits: Any, targets: Any) -> Any:
    """The log-probability of a token in each row, computed as `choose_tokens` does for the token that it chose."""
    return scores_of(xp, logits, targets, _sums)


def scores_of(xp: Any, logits: Any, targets: Any, sums: Sums) -> Any:
    """The kernel of `token_scores`, with a way to sum rows up."""
    raw = logits.astype(np.float32)
    return _at(xp, raw, targets) - _log_total(xp, raw, sums)


def _infer_largest(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Any:
    (logits,) = operands
    if logits.ndim != 2 or not logits.shape[1]:
        raise operation.error(ValueError, "logits must be [rows, vocabulary]", operands)
    return make_aval(logits.shape[:1], np.dtype("int32"), place)


@op("logits", infer=_infer_largest, padding=rules.refused("an engine's steps have few shapes of their own"))
def likeliest_tokens(xp: Any, logits: Any) -> Any:
    """The likeliest token of each row; of equals the first."""
    return _largest(xp, logits)


@op(
    "logits numbers limits history bias_tokens bias_values allowed uses",
    outputs=4,
    infer=_infer,
    padding=rules.refused("an engine's steps have few shapes of their own"),
)
def choose_tokens(
    xp: Any,
    logits: Any,
    numbers: Any,
    limits: Any,
    history: Any,
    bias_tokens: Any,
    bias_values: Any,
    allowed: Any,
    uses: Any,
) -> Any:
    """A token for each row of `logits` [rows, vocabulary], its log-probability, and the 20 likeliest with theirs.

    `history` [rows, n] are the tokens before, -1 behind the last one, of which the first `limits[:, PROMPT]` are the
    prompt's. `bias_tokens` and `bias_values` [rows, n] are added to logits, where not -1. `allowed` are bits, 32 tokens a
    word. Log-probabilities are the model's own, before anything is changed; they are zeros unless asked for.
    """
    given = (numbers, limits, history, bias_tokens, bias_values, allowed, uses)
    return choose(xp, logits, *given, sums=_sums)


def choose(
    xp: Any, logits: Any, numbers: Any, limits: Any, history: Any, bias_tokens: Any, bias_values: Any, allowed: Any, uses:
    Any, sums: Sums, walked: Sums | None = None,
) -> Any:  # fmt: skip
    """The kernel of `choose_tokens`, with a way to sum rows up; `walked`: another one for the chances of a draw."""
    walked = walked or _sums
    raw = logits.astype(np.float32)
    changed = _when(xp, uses[1] > 0, lambda: _biased(xp, raw, bias_tokens, bias_values), lambda: raw)
    changed = _when(xp, uses[0] > 0, lambda: _penalised(xp, changed, history, numbers, limits), lambda: changed)
    changed = _when(
        xp, uses[2] > 0, lambda: xp.where(_bits(xp, allowed, raw.shape[1]), changed, _NOWHERE), lambda: changed
    )
    best = _largest(xp, changed)
    tokens = _when(xp, uses[3] > 0, lambda: _drawn(xp, changed, best, numbers, limits, uses, walked), lambda: best)
    none = xp.zeros((raw.shape[0],), np.float32)
    total = _when(xp, uses[6] > 0, lambda: _log_total(xp, raw, sums), lambda: none)
    logprobs = _when(xp, uses[6] > 0, lambda: _at(xp, raw, tokens) - total, lambda: none)
    shape = (raw.shape[0], NUM_TOPS)
    top_tokens, top_logprobs = _when(
        xp, uses[7] > 0, lambda: _likeliest(xp, raw, total),
        lambda: (xp.zeros(shape, np.int32), xp.zeros(shape, np.float32)),
    )  # fmt: skip
    return tokens, logprobs, top_tokens, top_logprobs


def _when(xp: Any, condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    if xp is np:
        return then() if condition else otherwise()
    from jax import lax

    return lax.cond(condition, then, otherwise)


def _largest(xp: Any, rows: Any) -> Any:
    """The first place of the largest of each row. XLA's own on a CPU carries places along and takes six times as long."""
    if xp is np:
        return np.argmax(rows, axis=1).astype(np.int32)
    last = np.int32(rows.shape[1] - 1)
    place = xp.where(rows == xp.max(rows, axis=1, keepdims=True), xp.arange(rows.shape[1], dtype=np.int32), last)
    return xp.min(place, axis=1)


def _at(xp: Any, rows: Any, tokens: Any) -> Any:
    return xp.take_along_axis(rows, tokens[:, None].astype(np.int32), axis=1)[:, 0]


def _sums(xp: Any, rows: Any) -> Any:
    return xp.sum(rows, axis=-1)


def _log_total(xp: Any, raw: Any, sums: Sums) -> Any:
    most = xp.max(raw, axis=1)
    return most + xp.log(sums(xp, xp.exp(raw - most[:, None])))


def _likeliest(xp: Any, raw: Any, total: Any) -> Any:
    count = min(NUM_TOPS, raw.shape[1])
    if xp is np:
        tokens = np.argsort(-raw, axis=1, kind="stable")[:, :count]
        values = np.take_along_axis(raw, tokens, axis=1)
    else:
        from jax import lax

        values, tokens = lax.top_k(raw, count)
    missing = ((0, 0), (0, NUM_TOPS - count))
    logprobs = xp.pad(values - total[:, None], missing, constant_values=_NOWHERE)
    return xp.pad(tokens.astype(np.int32), missing, constant_values=-1), logprobs


def _added(xp: Any, base: Any, tokens: Any, values: Any) -> Any:
    """`base` [rows, vocabulary] plus the values at tokens [rows, n]; a token of -1 is none."""
    rows = xp.arange(base.shape[0], dtype=np.int32)[:, None]
    present = tokens >= 0
    where = xp.where(present, tokens, 0)
    values = xp.where(present, values, xp.zeros((), base.dtype))
    if xp is np:
        base = base.copy()
        np.add.at(base, (np.broadcast_to(rows, tokens.shape), where), values)
        return base
    return base.at[rows, where].add(values)


def _biased(xp: Any, raw: Any, tokens: Any, values: Any) -> Any:
    return _added(xp, raw, tokens, values)


def _penalised(xp: Any, raw: Any, history: Any, numbers: Any, limits: Any) -> Any:
    """Repetition divides or multiplies the logit of what has been seen, the prompt included; presence and frequency subtract
    for what was generated."""
    zeros = xp.zeros(raw.shape, np.float32)
    seen = _added(xp, zeros, history, np.float32(1.0))
    index = xp.arange(history.shape[1], dtype=np.int32)[None]
    generated = xp.where(index >= limits[:, PROMPT, None], history, np.int32(-1))
    counts = _added(xp, zeros, generated, np.float32(1.0))
    repetition, presence, frequency = (numbers[:, n, None] for n in (REPETITION, PRESENCE, FREQUENCY))
    raw = xp.where(seen > 0, xp.where(raw > 0, raw / repetition, raw * repetition), raw)
    return raw - presence * (counts > 0) - frequency * counts


def _bits(xp: Any, allowed: Any, vocabulary: int) -> Any:
    token = xp.arange(vocabulary, dtype=np.int32)
    words = allowed[:, token // 32]
    return ((words >> (token % 32).astype(words.dtype)[None]) & 1) > 0


# ---- one draw a row ------------------------------------------------------------------------------


def _drawn(xp: Any, changed: Any, best: Any, numbers: Any, limits: Any, uses: Any, sums: Sums) -> Any:
    """The token that a walk along the probabilities finds; `best` where the temperature is 0."""
    temperature = numbers[:, TEMPERATURE]
    scaled = changed / xp.where(temperature > 0, temperature, np.float32(1.0))[:, None]
    weights = xp.exp(scaled - xp.max(scaled, axis=1, keepdims=True))  # the likeliest has 1
    weights = xp.where(weights >= numbers[:, MIN_P, None], weights, np.float32(0.0))
    weights = _when(xp, uses[4] > 0, lambda: _first_k(xp, weights, limits[:, TOP_K]), lambda: weights)
    weights = _when(xp, uses[5] > 0, lambda: _first_p(xp, weights, numbers[:, TOP_P], sums), lambda: weights)
    return xp.where(temperature > 0, _walk(xp, weights, numbers[:, UNIFORM], sums), best).astype(np.int32)


def _walk(xp: Any, weights: Any, uniform: Any, add_up: Sums) -> Any:
    """Where a share `uniform` of all weights has been passed: first over chunks, then inside one."""
    rows, vocabulary = weights.shape
    chunks = xp.pad(weights, ((0, 0), (0, -vocabulary % _CHUNK))).reshape(rows, -1, _CHUNK)
    sums = xp.cumsum(add_up(xp, chunks), axis=1)
    goal = uniform * sums[:, -1]
    chunk = _passed(xp, sums, goal)
    before = xp.where(chunk > 0, _at(xp, sums, xp.maximum(chunk - 1, 0)), np.float32(0.0))
    inside = xp.take_along_axis(chunks, chunk[:, None, None], axis=1)[:, 0]
    return chunk * _CHUNK + _passed(xp, xp.cumsum(inside, axis=1), goal - before)


def _passed(xp: Any, sums: Any, goal: Any) -> Any:
    """The first place where rising sums exceed the goal. Rounding may let none do so: it is the last one that adds
    anything."""
    reached = xp.sum((sums <= goal[:, None]).astype(np.int32), axis=1)
    last = xp.sum((sums < sums[:, -1:]).astype(np.int32), axis=1)
    return xp.minimum(reached, last)


def _first_k(xp: Any, weights: Any, k: Any) -> Any:
    """Chances of the k likeliest (0: of all), and of those that are as likely as the last of them."""
    count = xp.where(k > 0, xp.minimum(k, weights.shape[1]), weights.shape[1])
    if xp is np:
        limit = np.take_along_axis(-np.sort(-weights, axis=1), count[:, None] - 1, axis=1)
    else:
        limit = _threshold(xp, weights, lambda kept: xp.sum(kept, axis=1, dtype=np.int32) >= count)
    return xp.where(weights >= limit, weights, np.float32(0.0))


def _first_p(xp: Any, weights: Any, p: Any, sums: Sums) -> Any:
    """Chances of the likeliest that together have the share p, and of those as likely as the last of them.

    A row with a share of 1 stays as it is, so that it is the same beside rows that have none."""
    goal = p * sums(xp, weights)
    if xp is np:
        ordered = -np.sort(-weights, axis=1)
        last = np.minimum((np.cumsum(ordered, axis=1) < goal[:, None]).sum(axis=1), weights.shape[1] - 1)
        limit = np.take_along_axis(ordered, last[:, None], axis=1)
    else:
        limit = _threshold(xp, weights, lambda kept: sums(xp, xp.where(kept, weights, 0)) >= goal)
    return xp.where((weights >= limit) | (p[:, None] >= 1), weights, np.float32(0.0))


def _threshold(xp: Any, weights: Any, enough: Callable[[Any], Any]) -> Any:
    """The largest number such that `enough` holds for the weights that reach it; all of them are enough.

    Floats that are not negative are ordered as their bits are, so 31 halvings find it exactly. XLA's sort of a vocabulary
    takes ten times as long.
    """
    from jax import lax

    bits = lax.bitcast_convert_type(weights, np.int32)

    def step(number: Any, found: Any) -> Any:
        tried = found | (np.int32(1) << (np.int32(30) - number.astype(np.int32)))
        return xp.where(enough(bits >= tried[:, None]), tried, found)

    found = lax.fori_loop(0, 31, step, xp.zeros((weights.shape[0],), np.int32))
    return lax.bitcast_convert_type(found, np.float32)[:, None]
