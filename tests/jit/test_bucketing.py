"""Many sizes, few executables: results equal those without padding."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn
from proa.jit.bucketing import Buckets
from proa.static import InputSpec

F = paddle.nn.functional


class Encoder(nn.Layer):
    """A masked transformer encoder with several kinds of heads."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(50, 16), nn.Embedding(512, 16)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0), 2)
        self.out = nn.Linear(16, 5)

    def forward(self, words: Any) -> Any:
        mask = (words == 0).astype("float32").unsqueeze([1, 2]) * -1e9
        h = self.words(words) + self.places(paddle.arange(words.shape[1]))
        h = self.encoder(h, mask)
        return self.out(h), h.mean(axis=1), h.max(axis=1), h[:, 0], h[:, -1]


def buckets_of(static: Any) -> Buckets:
    run = static.concrete_program.run
    assert isinstance(run, Buckets)
    return run


def test_forty_lengths_of_a_transformer_share_at_most_eight_programs() -> None:
    net = Encoder()
    net.eval()
    static = paddle.jit.to_static(
        Encoder.forward.__get__(net), input_spec=[InputSpec([None, None], "int64")], full_graph=True
    )
    rng = np.random.default_rng(0)
    lengths = rng.permutation(np.arange(10, 130, 3))
    assert len(lengths) == 40
    with paddle.no_grad():
        for number in range(120):
            length = int(lengths[number % 40])
            words = paddle.to_tensor(rng.integers(0, 50, (2, length)))
            found = static(words)
            if number >= 20:
                continue
            with paddle.jit.eager_mode("immediate"):
                expected = net(words)
            for one, two in zip(found, expected, strict=True):
                assert one.shape == two.shape
                np.testing.assert_allclose(one.numpy(), two.numpy(), atol=1e-5, rtol=1e-5)
    assert buckets_of(static).num_programs <= 8
    assert "up to" in static.explain()


OPERATIONS = {
    "pointwise": lambda x: F.gelu(x * 2 + 1) - x.exp() / 3,
    "sum": lambda x: x.sum(axis=1),
    "mean": lambda x: x.mean(axis=1, keepdim=True),
    "mean of all but one": lambda x: x.mean(axis=[1, 2]),
    "maximum": lambda x: x.max(axis=1) + x.min(axis=1),
    "softmax along": lambda x: F.softmax(x, axis=1),
    "softmax across": lambda x: F.softmax(x, axis=-1),
    "log softmax": lambda x: F.log_softmax(x, axis=1),
    "gram": lambda x: x.transpose([0, 2, 1]) @ x,
    "scores": lambda x: F.softmax(x @ x.transpose([0, 2, 1]) / 2, axis=-1) @ x,
    "attention": lambda x: F.scaled_dot_product_attention(*[x.reshape([x.shape[0], -1, 2, 3])] * 3),
    "causal attention": lambda x: F.scaled_dot_product_attention(
        *[x.reshape([x.shape[0], -1, 2, 3])] * 3, is_causal=True
    ),
    "flattened and back": lambda x: F.relu(x.reshape([-1, 6]) * 2).reshape([x.shape[0], x.shape[1], 6]),
    "heads": lambda x: x.reshape([x.shape[0], x.shape[1], 2, 3]).transpose([0, 2, 1, 3]),
    "last": lambda x: x[:, -1] + x[:, 0],
    "size as a number": lambda x: x * x.shape[1],
    "layer norm": lambda x: F.layer_norm(x, 6),
    "stack and concat": lambda x: (
        paddle.concat([x, x * 2], axis=-1) + paddle.stack([x, x], axis=1).sum(axis=1).tile([1, 1, 2])
    ),
    "arg max": lambda x: x.argmax(axis=1),
    "cumsum": lambda x: x.cumsum(axis=1),
    "mask": lambda x: paddle.where(x > 0, x, paddle.zeros_like(x)).any(axis=1),
    "sorted": lambda x: x.sort(axis=1),
    "flipped": lambda x: x.flip([1]),
    "norm": lambda x: x.norm(axis=1),
    "cumsum from the end": lambda x: x.flip([1]).cumsum(axis=1),
    "joined along": lambda x: paddle.concat([x, x], axis=1),
    "numbered": lambda x: x.flatten() * paddle.arange(x.size).astype("float32"),
    "a position in axes that are one": lambda x: (
        paddle.tile(x, [1, 4, 1])[:, -1] + x.reshape([-1, 6])[x.shape[0] * x.shape[1] - 1] + x.tile([1, 2, 1])[:, 3]
    ),
    "everything": lambda x: x.mean() + x.sum() + x.max(),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_padding_changes_nothing(name: str) -> None:
    function = OPERATIONS[name]
    static = paddle.jit.to_static(function, input_spec=[InputSpec([None, None, 6])], full_graph=True)
    rng = np.random.default_rng(1)
    with paddle.no_grad():
        for shape in ((3, 11, 6), (3, 9, 6), (2, 5, 6)):
            x = paddle.to_tensor(rng.standard_normal(shape).astype("float32"))
            found = static(x)
            with paddle.jit.eager_mode("immediate"):
                expected = function(x)
            assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
            np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-5, rtol=1e-5)


def test_what_is_padded_and_what_is_not() -> None:
    def plan(name: str) -> int:
        static = paddle.jit.to_static(OPERATIONS[name], input_spec=[InputSpec([None, None, 6])], full_graph=True)
        return len(buckets_of(static).plan.sizes)

    assert [plan(name) for name in ("pointwise", "scores", "flattened and back", "attention", "mean")] == [2] * 5
    assert [plan(name) for name in ("sorted", "flipped", "joined along")] == [2] * 3
    assert plan("numbered") == 0  # one number for all elements of both axes


def test_a_batch_through_convolutions() -> None:
    net = nn.Sequential(
        nn.Conv2D(1, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.Linear(36, 3)
    )
    net.eval()
    plain = net.forward
    static = paddle.jit.to_static(lambda x: net(x), input_spec=[InputSpec([None, 1, 8, 8])], full_graph=True)
    with paddle.no_grad():
        for size in (1, 3, 7, 5, 6):
            x = paddle.randn([size, 1, 8, 8])
            np.testing.assert_allclose(static(x).numpy(), plain(x).numpy(), atol=1e-5)
    assert buckets_of(static).num_programs <= 4
    assert buckets_of(static).plan.reasons == []


def test_when_the_budget_is_spent_it_warns_with_the_reason_and_goes_on() -> None:
    function = lambda x: paddle.fft.rfft(x).abs()  # noqa: E731
    static = paddle.jit.to_static(function, input_spec=[InputSpec([None])], full_graph=True, max_programs=2)

    def run(size: int) -> None:
        x = paddle.randn([size])
        with paddle.no_grad():
            np.testing.assert_allclose(static(x).numpy(), np.abs(np.fft.rfft(x.numpy())), atol=1e-5)

    run(3)
    run(4)
    with pytest.warns(
        RuntimeWarning, match=r"budget of 2 .* is spent.*fft_r2c \(axis 0 of x, x.shape\[0\]\): a transform of more"
    ):
        run(5)
    run(6)
    assert buckets_of(static).num_programs == 2


def test_sizes_beyond_the_last_bucket() -> None:
    static = paddle.jit.to_static(lambda x: x * 2, input_spec=[InputSpec([None])], full_graph=True, max_programs=2)
    with paddle.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for size in (4, 30, 50, 500, 3):
            assert static(paddle.ones([size])).numpy().tolist() == [2.0] * size
    assert buckets_of(static).num_programs == 2


def test_inputs_that_do_not_agree_and_empty_ones_run_exactly() -> None:
    static = paddle.jit.to_static(
        lambda x, y: (x.sum(), y.sum()), input_spec=[InputSpec([None]), InputSpec([None])], full_graph=True
    )
    with paddle.no_grad():
        first, second = static(paddle.ones([3]), paddle.ones([5]))
        assert (first.item(), second.item()) == (3.0, 5.0)
        first, second = static(paddle.ones([0]), paddle.ones([0]))
        assert (first.item(), second.item()) == (0.0, 0.0)


def test_an_index_out_of_range_is_still_found_and_padding_raises_nothing() -> None:
    table = paddle.ones([4, 2])
    static = paddle.jit.to_static(
        lambda i: F.embedding(i + 3, table), input_spec=[InputSpec([None], "int64")], full_graph=True
    )
    with paddle.no_grad():
        assert static(paddle.to_tensor([0, 0, 0])).shape == [3, 2]  # the surplus would be 3 as well
        with pytest.raises((ValueError, IndexError)):
            static(paddle.to_tensor([0, 5, 0])).numpy()


def test_the_line_of_an_error_is_that_of_the_code() -> None:
    """Fills are instructions too: numbers of instructions are not those of the capture."""
    table = paddle.ones([4, 2])

    def look_up(i: Any, x: Any) -> Any:
        mean = x.mean(axis=0) + x.sum(axis=0)
        return F.embedding(i + 3, table) + mean

    spec = [InputSpec([None], "int64"), InputSpec([None, 2])]
    static = paddle.jit.to_static(look_up, input_spec=spec, full_graph=True)
    line = look_up.__code__.co_firstlineno + 2
    with paddle.no_grad(), pytest.raises((ValueError, IndexError)) as raised:
        static(paddle.to_tensor([0, 5, 0]), paddle.ones([3, 2])).numpy()
    assert any(f'test_bucketing.py", line {line}' in note for note in raised.value.__notes__)


def test_a_bucket_is_no_longer_than_a_table_beside_it() -> None:
    table = paddle.to_tensor(np.arange(24, dtype=np.float32).reshape(12, 2))
    function = lambda x: (x + table[: x.shape[0]]).cumsum(axis=0)  # noqa: E731
    static = paddle.jit.to_static(function, input_spec=[InputSpec([None, 2])], full_graph=True)
    with paddle.no_grad():
        for size in (5, 7, 10, 12, 3):
            x = paddle.randn([size, 2])
            expected = np.cumsum(x.numpy() + table.numpy()[:size], axis=0)
            np.testing.assert_allclose(static(x).numpy(), expected, rtol=1e-5, atol=1e-5)
        with pytest.raises(ValueError, match="broadcast"):
            static(paddle.randn([13, 2]))
    run = buckets_of(static)
    assert run.plan.reasons == []
    assert all(bucket.sizes and bucket.sizes[0] <= 12 for bucket in run.buckets.values())


def test_a_result_that_is_given_twice_is_cut_twice() -> None:
    static = paddle.jit.to_static(lambda x: (y := x * 2, y), input_spec=[InputSpec([None])], full_graph=True)
    with paddle.no_grad():
        for size in (7, 5):
            assert [one.tolist() for one in static(paddle.ones([size]))] == [[2.0] * size] * 2


MOVES = {
    "roll": lambda x, y: paddle.roll(y, -(-x.shape[1] * x.shape[1] // 4), 0),
    "pad": lambda x, y: F.pad(y, [0, 0, 0, x.shape[1] // 2], value=7.0, pad_from_left_axis=False),
    "difference": lambda x, y: paddle.diff(y, n=1, axis=0) * (x.shape[1] // 2),
    "top": lambda x, y: paddle.topk(y, x.shape[1] - 1, axis=0)[0],
    "repeat": lambda x, y: paddle.tile(y, [1, x.shape[1] // 2]),
}


@pytest.mark.parametrize("name", MOVES)
def test_what_an_input_that_is_not_padded_says_about_another_that_is(name: str) -> None:
    """Numbers that follow from a size of the first input, in an operation along the padded axis of the second."""
    function = MOVES[name]
    static = paddle.jit.to_static(function, input_spec=[InputSpec([3, None]), InputSpec([None, 2])], full_graph=True)
    rng = np.random.default_rng(2)
    with paddle.no_grad():
        for width, length in ((4, 7), (6, 7), (5, 6), (3, 7)):
            x, y = paddle.ones([3, width]), paddle.to_tensor(rng.standard_normal((length, 2)).astype("float32"))
            with paddle.jit.eager_mode("immediate"):
                expected = function(x, y)
            np.testing.assert_allclose(static(x, y).numpy(), expected.numpy(), rtol=1e-6)
