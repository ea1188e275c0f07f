"""Datasets and samplers: constants are what PaddlePaddle 3.3.1 was seen to give under the same seeds."""

# ruff: noqa: NPY002 - the global state is what these samplers draw from

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa import io


class Numbers(io.Dataset):
    def __init__(self, length: int = 10) -> None:
        self.length = length

    def __getitem__(self, index: int):
        return np.array([index, index + 1], np.float32), index

    def __len__(self) -> int:
        return self.length


class Stream(io.IterableDataset):
    def __iter__(self):
        return iter(range(4))


@pytest.fixture(autouse=True)
def _numpy_seed():
    np.random.seed(0)


def test_random_sampler_draws_like_paddle():
    assert list(io.RandomSampler(Numbers())) == [2, 8, 4, 9, 1, 6, 7, 3, 0, 5]
    np.random.seed(0)
    assert list(io.RandomSampler(Numbers(), replacement=True, num_samples=5)) == [5, 0, 3, 3, 7]
    np.random.seed(0)
    assert list(io.RandomSampler(Numbers(), num_samples=5)) == [2, 8, 4, 9, 1]


def test_random_sampler_takes_an_iterator_of_indices():
    assert list(io.RandomSampler(Numbers(), generator=iter([5, 2, 7]))) == [5, 2, 7]
    assert list(io.RandomSampler(Numbers(), num_samples=2, generator=iter([5, 2, 7]))) == [5, 2]
    assert len(io.RandomSampler(Numbers(), generator=iter([5]))) == 10
    with pytest.raises(TypeError):
        list(io.RandomSampler(Numbers(), generator=3))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"num_samples": 15}, ValueError),
        ({"num_samples": 0}, ValueError),
        ({"num_samples": 1.5}, ValueError),
        ({"replacement": "a"}, TypeError),
    ],
)
def test_random_sampler_misuse(options, error):
    with pytest.raises(error, match=r"\(RandomSampler\)"):
        io.RandomSampler(Numbers(), **options)


def test_other_samplers():
    assert list(io.SequenceSampler(Numbers(3))) == [0, 1, 2]
    assert len(io.SequenceSampler(Numbers(3))) == 3
    assert list(io.SubsetRandomSampler([3, 5, 9])) == [9, 5, 3]
    with pytest.raises(ValueError, match="at least one index"):
        io.SubsetRandomSampler([])
    with pytest.raises(NotImplementedError):
        iter(io.Sampler(Numbers()))


def test_weighted_sampler_is_numpys_choice():
    weights = np.array([0.1, 0.3, 0.5, 0.7, 0.2])
    assert list(io.WeightedRandomSampler(weights, 5)) == [3, 3, 3, 3, 2]
    np.random.seed(0)
    assert list(io.WeightedRandomSampler(weights.tolist(), 5, False)) == [3, 2, 1, 4, 0]
    assert set(io.WeightedRandomSampler([0.0, 1.0, 0.0], 20)) == {1}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (([0.1, 0.3], 5, False), AssertionError),
        (([0.1, -0.3], 5), AssertionError),
        (([0.0, 0.0], 5), AssertionError),
        (([1.0, float("nan")], 5), AssertionError),
        (([1.0, 0.0], 0), ValueError),
        (([1.0, 0.0], 1, 3), ValueError),
        (([[1.0, 0.0]], 1), AssertionError),
    ],
)
def test_weighted_sampler_misuse(arguments, error):
    with pytest.raises(error, match=r"\(WeightedRandomSampler\)"):
        io.WeightedRandomSampler(*arguments)


def test_batch_sampler():
    assert list(io.BatchSampler(Numbers(), shuffle=True, batch_size=3)) == [[2, 8, 4], [9, 1, 6], [7, 3, 0], [5]]
    dropping = io.BatchSampler(Numbers(), batch_size=3, drop_last=True)
    assert list(dropping) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert (len(dropping), len(io.BatchSampler(Numbers(), batch_size=3))) == (3, 4)
    assert list(io.BatchSampler(sampler=[4, 2, 9], batch_size=2)) == [[4, 2], [9]]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"dataset": Numbers(), "sampler": [1]},
        {"sampler": [1], "shuffle": True},
        {"dataset": Stream()},
        {"dataset": Numbers(), "shuffle": 1},
        {"dataset": Numbers(), "batch_size": 0},
        {"dataset": Numbers(), "batch_size": 1.5},
        {"dataset": Numbers(), "drop_last": 3},
    ],
)
def test_batch_sampler_misuse(options):
    with pytest.raises(AssertionError, match=r"\(BatchSampler\)"):
        io.BatchSampler(**options)


def test_distributed_batch_sampler_shares_batches():
    shares = [list(io.DistributedBatchSampler(Numbers(), 2, 3, rank)) for rank in range(3)]
    assert shares == [[[0, 1], [6, 7]], [[2, 3], [8, 9]], [[4, 5], [0, 1]]]
    shares = [list(io.DistributedBatchSampler(Numbers(), 2, 3, rank, shuffle=True)) for rank in range(3)]
    assert shares == [[[6, 1], [1, 7]], [[4, 0], [9, 3]], [[2, 8], [0, 5]]]
    shares = [list(io.DistributedBatchSampler(Numbers(), 3, 3, rank, drop_last=True)) for rank in range(3)]
    assert shares == [[[0, 1, 2]], [[3, 4, 5]], [[6, 7, 8]]]
    assert len(io.DistributedBatchSampler(Numbers(), 3, 3, 0, drop_last=True)) == 1
    assert len(io.DistributedBatchSampler(Numbers(), 3, 3, 0)) == 2
    assert [list(io.DistributedBatchSampler(Numbers(2), 2, 5, rank)) for rank in range(5)] == [
        [[0]], [[1]], [[0]], [[1]], [[0]],
    ]  # fmt: skip
    assert list(io.DistributedBatchSampler(Numbers(7), 2, 4, 1, shuffle=True)) == [[1, 0]]


def test_distributed_batch_sampler_epochs():
    sampler = io.DistributedBatchSampler(Numbers(), 4, 1, 0, shuffle=True)
    first, second = list(sampler), list(sampler)
    assert first == [[2, 8, 4, 9], [1, 6, 7, 3], [0, 5]]
    assert second == [[2, 9, 6, 4], [0, 3, 1, 7], [8, 5]]
    sampler.set_epoch(5)
    assert list(sampler) == [[9, 5, 2, 4], [7, 1, 0, 8], [6, 3]]
    assert sampler.epoch == 6


def test_distributed_batch_sampler_reads_the_environment(monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    monkeypatch.setenv("PADDLE_TRAINER_ID", "1")
    assert list(io.DistributedBatchSampler(Numbers(4), 1)) == [[1], [3]]


@pytest.mark.parametrize(
    "arguments", [(0,), (1, 0), (1, 2, -1), (1, 2, 5), (1, 2, 0, 3), (1, 2, 0, False, 3)]
)  # fmt: skip
def test_distributed_batch_sampler_misuse(arguments):
    with pytest.raises(AssertionError, match=r"\(DistributedBatchSampler\)"):
        io.DistributedBatchSampler(Numbers(), *arguments)


def test_dataset_must_be_written():
    with pytest.raises(NotImplementedError, match="__getitem__"):
        io.Dataset()[0]
    with pytest.raises(NotImplementedError, match="__len__"):
        len(io.Dataset())
    with pytest.raises(NotImplementedError, match="__iter__"):
        iter(io.IterableDataset())
    with pytest.raises(RuntimeError):
        Stream()[0]
    with pytest.raises(RuntimeError):
        len(Stream())


def test_tensor_dataset():
    x, y = paddle.arange(6).reshape([3, 2]), paddle.arange(3)
    data = io.TensorDataset([x, y])
    assert len(data) == 3
    assert [field.tolist() for field in data[1]] == [[2, 3], 1]
    assert [field.tolist() for field in data[0:2]] == [[[0, 1], [2, 3]], [0, 1]]
    with pytest.raises(IndexError):
        data[5]
    with pytest.raises(AssertionError, match=r"lengths \[3, 4\]"):
        io.TensorDataset([x, paddle.arange(4)])
    with pytest.raises(AssertionError, match="list"):
        io.TensorDataset([[1, 2]])


def test_combined_datasets():
    composed = io.ComposeDataset([Numbers(3), Numbers(3)])
    assert len(composed) == 3
    assert [np.asarray(field).tolist() for field in composed[1]] == [[1, 2], 1, [1, 2], 1]
    joined = io.ConcatDataset([Numbers(3), Numbers(4)])
    assert (len(joined), joined[4][1], joined[-1][1], joined.cumulative_sizes) == (7, 1, 3, [3, 7])
    assert io.ConcatDataset.cumsum([Numbers(3), Numbers(4)]) == [3, 7]
    with pytest.raises(IndexError):
        joined[7]
    with pytest.raises(ValueError, match="only 7 samples"):
        joined[-8]
    assert [*io.ChainDataset([Stream(), Stream()])] == [0, 1, 2, 3, 0, 1, 2, 3]
    subset = io.Subset(Numbers(), [1, 3])
    assert (len(subset), subset[1][1]) == (2, 3)
    with pytest.raises(IndexError):
        subset[5]


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        (io.ComposeDataset, []),
        (io.ComposeDataset, [Numbers(3), Numbers(4)]),
        (io.ComposeDataset, [Stream()]),
        (io.ComposeDataset, [[1, 2]]),
        (io.ChainDataset, []),
        (io.ChainDataset, [Numbers()]),
        (io.ConcatDataset, []),
        (io.ConcatDataset, [Stream()]),
    ],
)
def test_combined_datasets_misuse(kind, parts):
    with pytest.raises(AssertionError, match=kind.__name__):
        kind(parts)


def test_random_split():
    parts = io.random_split(Numbers(), [3, 7])
    assert sorted(parts[0].indices + parts[1].indices) == list(range(10))  # type: ignore[operator]
    paddle.seed(3)
    first = [part.indices for part in io.random_split(Numbers(), [3, 7])]
    paddle.seed(3)
    assert first == [part.indices for part in io.random_split(Numbers(), [3, 7])]
    assert first[0] + first[1] != list(range(10))  # type: ignore[operator]
    assert [len(part) for part in io.random_split(Numbers(11), [0.3, 0.3, 0.4])] == [4, 3, 4]
    assert [len(part) for part in io.random_split(Numbers(13), [0.2, 0.3, 0.5])] == [3, 4, 6]
    for lengths in ([3, 3], [0.3, 0.3], [0.3, 1.3]):
        with pytest.raises(ValueError, match=r"\(random_split\)"):
            io.random_split(Numbers(), lengths)
