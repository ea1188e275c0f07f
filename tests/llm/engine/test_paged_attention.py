"""Attention through pages: against attention over the same keys in one piece, in float64."""

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.ops.generation.pages import page_levels, paged_attention, write_pages


def _plain(query: Any, keys: Any, values: Any, position: int, scale: float, window: Any, cap: float, sinks: Any) -> Any:
    """One query [heads, size] and keys [count, kv heads, size]; those up to its position."""
    heads, groups = query.shape[0], query.shape[0] // keys.shape[1]
    out = np.zeros((heads, values.shape[2]))
    first = 0 if window is None else max(0, position + 1 - window)
    for head in range(heads):
        k, v = keys[first : position + 1, head // groups], values[first : position + 1, head // groups]
        scores = k @ query[head] * scale
        scores = cap * np.tanh(scores / cap) if cap else scores
        powers = np.exp(scores - scores.max())
        total = powers.sum() + (0 if sinks is None else np.exp(sinks[head] - scores.max()))
        out[head] = powers @ v / total
    return out


class _Case:
    """Sequences of different lengths in shuffled pages; what lies in pages of nobody is not small."""

    def __init__(self, seed: int = 0, value_size: int = 6) -> None:
        draw = np.random.default_rng(seed)
        self.page_size, self.length = 4, 3
        lengths = [3, 10, 17]
        order = draw.permutation(np.arange(1, 20))
        self.tables = np.zeros((3, 6), "int32")
        self.pool_k = draw.normal(size=(20, 4, 2, 8)).astype("float32") * 50
        self.pool_v = draw.normal(size=(20, 4, 2, value_size)).astype("float32") * 50
        self.keys, self.values = [], []
        self.positions = np.zeros((3, 3), "int32")
        for row, count in enumerate(lengths):
            pages = -(-count // 4)
            self.tables[row, :pages], order = order[:pages], order[pages:]
            self.keys.append(draw.normal(size=(count, 2, 8)).astype("float32"))
            self.values.append(draw.normal(size=(count, 2, value_size)).astype("float32"))
            self.positions[row] = np.arange(count - 3, count)
            for place in range(count):
                self.pool_k[self.tables[row, place // 4], place % 4] = self.keys[row][place]
                self.pool_v[self.tables[row, place // 4], place % 4] = self.values[row][place]
        self.query = draw.normal(size=(3, 3, 4, 8)).astype("float32")
        self.sinks = draw.normal(size=4).astype("float32")

    def expected(self, window: Any = None, cap: float = 0.0, sinks: Any = None) -> np.ndarray:
        return np.array([[
            _plain(self.query[row, place].astype("float64"), self.keys[row], self.values[row],
                   int(self.positions[row, place]), 0.3, window, cap, sinks)
            for place in range(3)] for row in range(3)])  # fmt: skip


@pytest.mark.parametrize("mode", ["numpy", "xla"])
@pytest.mark.parametrize(
    ("window", "cap", "sinks"), [(None, 0.0, False), (5, 0.0, False), (2, 3.0, True), (None, 1.0, True)]
)
def test_pages_give_what_one_piece_gives(mode: str, window: Any, cap: float, sinks: bool) -> None:
    case = _Case()
    given = [
        case.query,
        case.pool_k,
        case.pool_v,
        case.tables,
        case.positions,
        case.sinks if sinks else None,
        None,
        None,
    ]
    if mode == "numpy":
        found = paged_attention.operation.kernel(np, *given, 0.3, window, cap)
    else:
        import jax

        call = jax.jit(lambda *arrays: paged_attention.operation.kernel(jax.numpy, *arrays, 0.3, window, cap))
        found = np.asarray(call(*given))
    np.testing.assert_allclose(found, case.expected(window, cap, case.sinks if sinks else None), atol=2e-6)


def test_eight_bits_are_near() -> None:
    case = _Case(1, value_size=8)
    keys, key_scales = page_levels(paddle.to_tensor(case.pool_k))
    values, value_scales = page_levels(paddle.to_tensor(case.pool_v))
    assert keys.dtype == paddle.int8
    assert key_scales.shape == [20, 4, 2]
    found = paged_attention(
        *(paddle.to_tensor(a) for a in (case.query,)), keys, values, paddle.to_tensor(case.tables),
        paddle.to_tensor(case.positions), None, key_scales, value_scales, 0.3, None, 0.0,
    )  # fmt: skip
    error = np.abs(found.numpy() - case.expected())
    assert 0 < error.max() < 0.03


def test_rows_of_zeros_stay_zeros_in_eight_bits() -> None:
    levels, scales = page_levels(paddle.to_tensor(np.zeros((2, 3, 4), "float32")))
    assert not levels.numpy().any()
    assert not scales.numpy().any()


@pytest.mark.parametrize("count", [1, 2, 5])
def test_rows_are_written_at_their_slots(count: int) -> None:
    draw = np.random.default_rng(count)
    pool, rows = draw.normal(size=(5, 4, 2, 3)).astype("float32"), draw.normal(size=(count, 1, 2, 3)).astype("float32")
    slots = draw.permutation(20)[:count].astype("int32").reshape(count, 1)
    expected = pool.copy()
    for row, slot in zip(rows[:, 0], slots[:, 0], strict=True):
        expected[slot // 4, slot % 4] = row
    found = write_pages(*(paddle.to_tensor(a) for a in (pool, rows, slots)))
    np.testing.assert_array_equal(found.numpy(), expected)


def test_what_does_not_fit_is_refused() -> None:
    case = _Case()
    tensors = [paddle.to_tensor(a) for a in (case.query, case.pool_k, case.pool_v, case.tables, case.positions)]
    with pytest.raises(ValueError, match="tables must be"):
        paged_attention(*tensors[:3], tensors[3][:2], tensors[4])
    with pytest.raises(ValueError, match="heads or sizes"):
        paged_attention(tensors[0][..., :4], *tensors[1:])
    with pytest.raises(ValueError, match="one slot for each row"):
        write_pages(tensors[1], paddle.zeros([3, 2, 8]), paddle.zeros([2], "int32"))
    with pytest.raises(TypeError, match="slots must be integers"):
        write_pages(tensors[1], paddle.zeros([2, 2, 8]), paddle.zeros([2]))
