"""The DataLoader in this process and with workers: batches, order, random numbers, misuse."""

# ruff: noqa: NPY002 - what users' datasets draw from

from __future__ import annotations

import collections
import os
import random

import numpy as np
import pytest

import proa as paddle
from proa import io
from proa.io import reader

Point = collections.namedtuple("Point", "x y")


class Samples(io.Dataset):
    """Sample i is `make(i)`."""

    def __init__(self, make, length: int = 10) -> None:
        self.make = make
        self.length = length

    def __getitem__(self, index: int):
        return self.make(index)

    def __len__(self) -> int:
        return self.length


class Stream(io.IterableDataset):
    """0 to `length` - 1; split between workers if asked to."""

    def __init__(self, length: int = 7, split: bool = False) -> None:
        self.length = length
        self.split = split

    def __iter__(self):
        info = io.get_worker_info()
        start, step = (info.id, info.num_workers) if info is not None and self.split else (0, 1)
        for value in range(start, self.length, step):
            yield np.float32(value), value


def described(batch):
    if isinstance(batch, paddle.Tensor):
        assert batch.stop_gradient
        return f"{batch.dtype.name}{list(batch.shape)}"
    if isinstance(batch, dict):
        return {key: described(value) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return [described(value) for value in batch]
    return batch


def first_batch(make, **options):
    return next(iter(io.DataLoader(Samples(make), **options)))


def labels(loader) -> list[list[int]]:
    return [batch[1].tolist() for batch in loader]


WORKERS = pytest.mark.parametrize("num_workers", [0, 2])

SHAPES = [
    (lambda i: (np.array([i, i + 1], np.float32), i), ["float32[4, 2]", "int64[4]"]),
    (lambda i: np.zeros((2, 300), np.float32), "float32[4, 2, 300]"),
    (lambda i: np.zeros((300, 5), np.float32).T, "float32[4, 5, 300]"),
    (lambda i: 1.5, "float64[4]"),
    (lambda i: True, "bool[4]"),
    (lambda i: np.int32(1), "int32[4]"),
    (lambda i: np.bool_(True), "bool[4]"),
    (lambda i: ("a", 1), [["a", "a", "a", "a"], "int64[4]"]),
    (lambda i: "a", ["a", "a", "a", "a"]),
    (lambda i: {"a": np.zeros(3), "c": {"d": 1.0}}, {"a": "float64[4, 3]", "c": {"d": "float64[4]"}}),
    (lambda i: (1, [2.0, (np.zeros(2), 3)]), ["int64[4]", ["float64[4]", ["float64[4, 2]", "int64[4]"]]]),
    (lambda i: (paddle.ones([2]) * i, i), ["float32[4, 2]", "int64[4]"]),
    (lambda i: paddle.to_tensor([1.0], stop_gradient=False), "float32[4, 1]"),
    (lambda i: paddle.ones([200], "bfloat16"), "bfloat16[4, 200]"),
    (lambda i: np.zeros((0, 3), np.float32), "float32[4, 0, 3]"),
]


@WORKERS
@pytest.mark.parametrize(("make", "expected"), SHAPES)
def test_collated(make, expected, num_workers):
    assert described(first_batch(make, batch_size=4, num_workers=num_workers)) == expected


@WORKERS
@pytest.mark.parametrize("shared", [True, False])
def test_values_arrive(num_workers, shared):
    make = lambda i: (np.arange(500, dtype=np.float64) * i, {"label": i, "name": str(i) * 3000})  # noqa: E731
    loader = io.DataLoader(Samples(make), batch_size=3, num_workers=num_workers, use_shared_memory=shared)
    kept = list(loader)
    position = 0
    for array, fields in kept:
        for row, label, name in zip(array.numpy(), fields["label"].tolist(), fields["name"], strict=True):
            np.testing.assert_array_equal(row, np.arange(500.0) * position)
            assert (label, name) == (position, str(position) * 3000)
            position += 1
    assert position == 10


@WORKERS
def test_without_batches(num_workers):
    sample = {"a": np.zeros(2), "b": 1, "c": "s", "d": (1.5, np.int64(3)), "e": True}
    found = first_batch(lambda i: sample, batch_size=None, num_workers=num_workers)
    assert described(found) == {"a": "float64[2]", "b": 1, "c": "s", "d": [1.5, 3], "e": True}
    loader = io.DataLoader(Samples(lambda i: i), batch_size=None, num_workers=num_workers)
    assert (len(loader), list(loader)) == (10, list(range(10)))
    assert [value for _, value in io.DataLoader(Stream(3), batch_size=None)] == [0, 1, 2]
    np.random.seed(0)
    loader = io.DataLoader(Samples(lambda i: i), batch_size=None, shuffle=True, num_workers=num_workers)
    assert list(loader) == [2, 8, 4, 9, 1, 6, 7, 3, 0, 5]


@WORKERS
def test_own_collate_fn(num_workers):
    def collate(samples):
        return {
            "n": len(samples),
            "x": np.stack([x for x, _ in samples]),
            "p": Point(np.ones(2), 3),
            "t": paddle.ones([2]),
        }

    found = first_batch(
        lambda i: (np.zeros(2, np.float32), i), batch_size=4, num_workers=num_workers, collate_fn=collate
    )
    assert (found["n"], described(found["x"]), described(found["t"])) == (4, "float32[4, 2]", "float32[2]")
    assert isinstance(found["p"], Point)
    assert (described(found["p"].x), found["p"].y) == ("float64[2]", 3)
    as_given = first_batch(lambda i: (np.zeros(2), i), batch_size=2, num_workers=num_workers, collate_fn=list)
    assert described(as_given) == [["float64[2]", 0], ["float64[2]", 1]]


def test_an_array_the_dataset_keeps_is_copied():
    shared = np.zeros(3, np.float32)

    def make(index):
        shared[:] = index
        return shared

    found = [x.tolist() for x in list(io.DataLoader(Samples(make, 3), batch_size=None))]
    assert found == [[0, 0, 0], [1, 1, 1], [2, 2, 2]]


@pytest.mark.parametrize("num_workers", [0, 1, 2, 3])
def test_order_and_random_numbers_do_not_depend_on_workers(num_workers):
    def make(index):
        return (
            index, np.random.rand(), random.random(), paddle.rand([1]), np.full(100, np.random.rand(), np.float32),
        )  # fmt: skip

    def run(workers):
        np.random.seed(0)
        random.seed(0)
        paddle.seed(0)
        loader = io.DataLoader(Samples(make), batch_size=4, shuffle=True, num_workers=workers)
        return [[field.tolist() for field in batch] for _ in range(2) for batch in loader]

    found = run(num_workers)
    assert [batch[0] for batch in found[:3]] == [[2, 8, 4, 9], [1, 6, 7, 3], [0, 5]]  # as Paddle shuffles
    assert found == run(0)
    for stream in (1, 2, 3, 4):
        values = [str(value) for batch in found for value in batch[stream]]
        assert len(set(values)) == len(values)


def test_several_epochs_are_shuffled_like_paddles():
    np.random.seed(0)
    expected = [np.random.permutation(10).tolist() for _ in range(3)]
    np.random.seed(0)
    loader = io.DataLoader(Samples(lambda i: (np.random.rand(), i)), batch_size=10, shuffle=True)
    assert [labels(loader)[0] for _ in range(3)] == expected


def test_the_main_process_keeps_its_random_streams():
    np.random.seed(1)
    random.seed(1)
    expected = np.random.rand(), random.random()
    np.random.seed(1)
    random.seed(1)
    list(io.DataLoader(Samples(lambda i: np.random.rand() + random.random())))
    assert (np.random.rand(), random.random()) == expected


@pytest.mark.parametrize("num_drawn", [0, 1, 2, 3])
def test_a_kept_half_of_a_pair_of_normal_numbers(num_drawn):
    """NumPy draws normal numbers in pairs and keeps one: neither the dataset's nor the program's goes astray."""
    loader = io.DataLoader(Samples(lambda i: np.random.randn(), 3))
    program = np.random.RandomState(5)
    expected = [program.randn() for _ in range(4 * num_drawn + 1)]
    np.random.seed(5)
    paddle.seed(5)
    values = [np.random.randn() for _ in range(num_drawn)]
    samples = []
    for batch in loader:
        samples.append(batch.item())
        values += [np.random.randn() for _ in range(num_drawn)]
    values.append(np.random.randn())
    assert values == expected
    assert len({*samples, *values}) == 3 + len(values)


def test_worker_init_fn_may_seed():
    def initialise(worker):
        np.random.seed(7 + worker)

    loader = io.DataLoader(
        Samples(lambda i: (np.random.rand(), random.random()), 4), num_workers=2, worker_init_fn=initialise
    )
    found = [batch[0].item() for batch in loader]
    first, second = np.random.RandomState(7), np.random.RandomState(8)
    assert found == [first.rand(), second.rand(), first.rand(), second.rand()]
    assert len({batch[1].item() for batch in loader}) == 4


def test_iterable_dataset():
    loader = io.DataLoader(Stream(), batch_size=3)
    assert labels(loader) == [[0, 1, 2], [3, 4, 5], [6]]
    assert labels(io.DataLoader(Stream(), batch_size=3, drop_last=True)) == [[0, 1, 2], [3, 4, 5]]
    unsplit = io.DataLoader(Stream(), batch_size=3, num_workers=2)
    assert labels(unsplit) == [[0, 1, 2], [0, 1, 2], [3, 4, 5], [3, 4, 5], [6], [6]]
    split = io.DataLoader(Stream(10, split=True), batch_size=2, num_workers=3)
    assert labels(split) == [[0, 3], [1, 4], [2, 5], [6, 9], [7], [8]]
    with pytest.raises(ValueError, match="no length"):
        len(loader)


def test_worker_info():
    def make(index):
        info = io.get_worker_info()
        assert info is not None
        return info.id, info.num_workers, len(info.dataset), os.getpid()

    found = [tuple(field.item() for field in batch) for batch in io.DataLoader(Samples(make, 4), num_workers=2)]
    assert [row[:3] for row in found] == [(0, 2, 4), (1, 2, 4), (0, 2, 4), (1, 2, 4)]
    assert len({row[3] for row in found} | {os.getpid()}) == 3
    assert io.get_worker_info() is None


@WORKERS
def test_nothing_in_the_dataset(num_workers):
    for shuffle in (False, True):
        loader = io.DataLoader(Samples(lambda i: i, 0), batch_size=4, shuffle=shuffle, num_workers=num_workers)
        assert (len(loader), list(loader)) == (0, [])
    assert list(io.DataLoader(Stream(0), batch_size=2, num_workers=num_workers)) == []


def test_lists_and_batch_samplers():
    assert [batch.tolist() for batch in io.DataLoader([1, 2, 3], batch_size=2)] == [[1, 2], [3]]
    loader = io.DataLoader(Samples(lambda i: (0, i)), batch_sampler=[[0, 1], [3]])
    assert labels(loader) == [[0, 1], [3]]
    assert len(loader) == 2
    sampler = io.DistributedBatchSampler(Samples(lambda i: i), 2, 3, 1)
    assert [batch.tolist() for batch in io.DataLoader(Samples(lambda i: i), batch_sampler=sampler)] == [[2, 3], [8, 9]]
    assert len(iter(loader)) == 2
    assert len(list(loader())) == 2


MISUSE = [
    ({"batch_sampler": [[0]], "batch_size": 2}, AssertionError),
    ({"batch_sampler": [[0]], "shuffle": True}, AssertionError),
    ({"batch_sampler": [[0]], "drop_last": True}, AssertionError),
    ({"batch_size": 0}, AssertionError),
    ({"batch_size": -1}, AssertionError),
    ({"batch_size": 1.5}, AssertionError),
    ({"num_workers": -1}, AssertionError),
    ({"num_workers": "a"}, AssertionError),
    ({"timeout": -1}, AssertionError),
    ({"prefetch_factor": 0}, AssertionError),
    ({"places": 3}, ValueError),
    ({"places": []}, ValueError),
]


@pytest.mark.parametrize(("options", "error"), MISUSE)
def test_misuse(options, error):
    with pytest.raises(error):
        io.DataLoader(Samples(lambda i: i), **options)


def test_misuse_of_streams():
    with pytest.raises(ValueError, match="cannot be shuffled"):
        io.DataLoader(Stream(), shuffle=True)
    with pytest.raises(ValueError, match="batch_sampler"):
        io.DataLoader(Stream(), batch_sampler=[[0]])


def test_places():
    for places in (paddle.CPUPlace(), "cpu", [paddle.CPUPlace()]):
        batch = first_batch(lambda i: np.zeros(2), places=places)
        assert batch.place.is_cpu_place()


BAD_SAMPLES = [
    (lambda i: np.zeros(i), ValueError, "equal shapes"),
    (lambda i: [1] * (i + 1), ValueError, "equally many"),
    (lambda i: {"a": 1} if i else {"b": 1}, KeyError, "same keys"),
    (lambda i: None, TypeError, "NoneType"),
    (lambda i: object(), TypeError, "object"),
]


@WORKERS
@pytest.mark.parametrize(("make", "error", "words"), BAD_SAMPLES)
def test_what_cannot_be_collated(make, error, words, num_workers):
    with pytest.raises(error, match=words):
        first_batch(make, batch_size=4, num_workers=num_workers)


def test_collate_functions_by_themselves():
    found = io.default_collate_fn([(1, np.ones(2)), (3, np.zeros(2))])
    assert [field.tolist() for field in found] == [[1, 3], [[1, 1], [0, 0]]]
    assert all(isinstance(field, np.ndarray) for field in found)
    assert io.default_convert_fn([(1, 2), {"a": (3,)}]) == [[1, 2], {"a": [3]}]
    with pytest.raises(IndexError):
        io.default_collate_fn([])


def test_the_thread_that_fills_a_device(monkeypatch):
    monkeypatch.setattr(reader, "_always_ahead", True)
    loader = io.DataLoader(Samples(lambda i: (np.full(300, i), i), 20), batch_size=3, num_workers=2)
    expected = [list(range(start, min(start + 3, 20))) for start in range(0, 20, 3)]
    assert labels(loader) == expected
    for batch in loader:
        assert batch[1].tolist() == expected[0]
        break
    assert labels(loader) == expected
    stream = io.DataLoader(Stream(10, split=True), batch_size=2, num_workers=3, persistent_workers=True)
    for _ in range(3):
        assert labels(stream) == [[0, 3], [1, 4], [2, 5], [6, 9], [7], [8]]
    with pytest.raises(ZeroDivisionError):
        list(io.DataLoader(Samples(lambda i: 1 // (5 - i)), num_workers=2))
