"""The choice of tokens: against plain definitions in float64, and rows that do not notice each other."""

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.graph.capture import capture
from proa.ops.generation.choosing import NUM_TOPS, USES, choose_tokens, likeliest_tokens

VOCABULARY = 300
FIELDS = ("logits", "numbers", "limits", "history", "bias_tokens", "bias_values", "allowed", "uses")


class _Spec:
    def __init__(self, name: str, array: np.ndarray) -> None:
        self.name, self.shape, self.dtype = name, array.shape, array.dtype


def _given(rows: int, seed: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    numbers = np.stack([
        draw.choice([0.0, 0.3, 1.0, 2.0], rows), draw.choice([1.0, 0.9, 0.3], rows), draw.choice([0.0, 0.1], rows),
        draw.choice([1.0, 1.4], rows), draw.choice([0.0, 0.7], rows), draw.choice([0.0, 0.4], rows), draw.random(rows),
    ], 1).astype("float32")  # fmt: skip
    history = draw.integers(0, VOCABULARY, (rows, 40)).astype("int32")
    history[:, 30:] = -1
    bias_tokens = np.full((rows, 4), -1, "int32")
    bias_tokens[:, :2] = draw.integers(0, VOCABULARY, (rows, 2))
    return {
        "logits": (3 * draw.normal(size=(rows, VOCABULARY))).astype("float32"),
        "numbers": numbers,
        "limits": np.stack([draw.choice([0, 1, 5, 1000], rows), draw.integers(0, 30, rows)], 1).astype("int32"),
        "history": history,
        "bias_tokens": bias_tokens,
        "bias_values": draw.normal(size=(rows, 4)).astype("float32") * 3,
        "allowed": draw.integers(-(2**31), 2**31, (rows, -(-VOCABULARY // 32))).astype("int32"),
        "uses": np.ones(len(USES), "int32"),
    }


def _plain(given: dict[str, np.ndarray], row: int) -> tuple[int, float, float]:
    """The token, its log-probability, and how far the draw is from a neighbouring token: one row, by definition."""
    uses = dict(zip(USES, given["uses"], strict=True))
    temperature, top_p, min_p, repetition, presence, frequency, uniform = given["numbers"][row].astype("float64")
    top_k, prompt = given["limits"][row]
    raw = given["logits"][row].astype("float64")
    changed = raw.copy()
    if uses["bias"]:
        for token, value in zip(given["bias_tokens"][row], given["bias_values"][row], strict=True):
            if token >= 0:
                changed[token] += value
    if uses["penalties"]:
        tokens = [t for t in given["history"][row] if t >= 0]
        for token in set(tokens):
            changed[token] = changed[token] / repetition if changed[token] > 0 else changed[token] * repetition
        for token in tokens[prompt:]:
            changed[token] -= frequency
        for token in set(tokens[prompt:]):
            changed[token] -= presence
    if uses["mask"]:
        for token in range(VOCABULARY):
            if not int(given["allowed"][row, token // 32]) >> (token % 32) & 1:
                changed[token] = -np.inf
    chance = raw - raw.max()
    chance -= np.log(np.exp(chance).sum())
    if not uses["draw"] or temperature == 0:
        token = int(np.argmax(changed))
        return token, chance[token], 1.0
    powers = np.exp((changed - changed.max()) / temperature)
    powers[powers < min_p] = 0
    order = np.argsort(-powers, kind="stable")
    if uses["top_k"] and top_k:
        powers[order[top_k:]] = 0
    if uses["top_p"] and top_p < 1:
        passed = np.cumsum(powers[order]) / powers.sum()
        powers[order[int((passed < top_p).sum()) + 1 :]] = 0
    sums = np.cumsum(powers) / powers.sum()
    token = int((sums <= uniform).sum())
    return token, chance[token], float(np.abs(sums - uniform).min())


@pytest.fixture(scope="module")
def compiled() -> Any:
    given = _given(8, 0)
    return capture(choose_tokens, [_Spec(name, given[name]) for name in FIELDS])


@pytest.mark.parametrize(
    "asked", [(), ("draw",), ("draw", "top_k"), ("draw", "top_p"), ("penalties", "bias"), ("mask",), USES]
)
def test_tokens_follow_their_definition(compiled: Any, asked: tuple[str, ...]) -> None:
    sure = 0
    for seed in range(12):
        given = _given(8, seed)
        given["uses"] = np.array([name in asked or name == "logprobs" for name in USES], "int32")
        arrays = [given[name] for name in FIELDS]
        for results in (
            compiled(*map(paddle.to_tensor, arrays)), choose_tokens.operation.kernel(np, *arrays),
        ):  # fmt: skip
            tokens, chances = (np.asarray(result) for result in results[:2])
            for row in range(8):
                token, chance, distance = _plain(given, row)
                if distance > 1e-5:  # nearer to the border the rounding of float32 decides
                    sure += 1
                    assert tokens[row] == token
                    assert abs(chances[row] - chance) < 2e-5
    assert sure > 150


def test_rows_do_not_notice_each_other(compiled: Any) -> None:
    for seed in range(5):
        given = _given(8, seed)
        whole = [np.asarray(t) for t in compiled(*(paddle.to_tensor(given[name]) for name in FIELDS))]
        order = np.random.default_rng(seed).permutation(8)
        moved = {name: array if name == "uses" else array[order] for name, array in given.items()}
        for before, after in zip(whole, compiled(*(paddle.to_tensor(moved[name]) for name in FIELDS)), strict=True):
            np.testing.assert_array_equal(before[order], np.asarray(after))


def test_draws_have_the_probabilities_asked_for(compiled: Any) -> None:
    given = _given(8, 3)
    given["logits"][:] = -1e9
    given["logits"][:, [7, 100, 299]] = np.log(np.array([0.5, 0.3, 0.2], "float32"))
    given["numbers"][:] = np.array([1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0], "float32")
    given["uses"] = np.array([name == "draw" for name in USES], "int32")
    counts = np.zeros(VOCABULARY)
    for step in range(250):
        given["numbers"][:, -1] = (step * 8 + np.arange(8) + 0.5) / 2000
        for token in np.asarray(compiled(*(paddle.to_tensor(given[name]) for name in FIELDS))[0]):
            counts[token] += 1
    assert np.flatnonzero(counts).tolist() == [7, 100, 299]
    np.testing.assert_allclose(counts[[7, 100, 299]] / 2000, [0.5, 0.3, 0.2], atol=1.5e-3)


@pytest.mark.parametrize("uniform", [0.0, 1.0 - 2.0**-24])
def test_the_ends_of_the_range_draw_something_possible(compiled: Any, uniform: float) -> None:
    given = _given(8, 9)
    given["numbers"][:, 0], given["numbers"][:, -1] = 1.0, uniform
    tokens = np.asarray(compiled(*(paddle.to_tensor(given[name]) for name in FIELDS))[0])
    for row, token in enumerate(tokens):
        assert int(given["allowed"][row, token // 32]) >> (token % 32) & 1


def test_the_likeliest_are_told_in_order(compiled: Any) -> None:
    given = _given(8, 4)
    _tokens, _, top, chances = (np.asarray(t) for t in compiled(*(paddle.to_tensor(given[name]) for name in FIELDS)))
    raw = given["logits"].astype("float64")
    expected = raw - np.log(np.exp(raw).sum(1, keepdims=True))
    np.testing.assert_array_equal(top, np.argsort(-raw, 1, kind="stable")[:, :NUM_TOPS])
    np.testing.assert_allclose(chances, np.take_along_axis(expected, top.astype("int64"), 1), atol=2e-5)


def test_the_first_of_equals_is_the_likeliest() -> None:
    logits = paddle.to_tensor(np.array([[1.0, 3.0, 3.0], [-np.inf, -np.inf, -5.0]], "float32"))
    assert likeliest_tokens(logits).tolist() == [1, 2]


def test_parameters_that_do_not_fit_are_refused() -> None:
    given = _given(3, 0)
    given["allowed"] = given["allowed"][:, 1:]
    with pytest.raises(ValueError, match="do not fit the rows"):
        choose_tokens(*(paddle.to_tensor(given[name]) for name in FIELDS))
