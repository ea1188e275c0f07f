"""`state_dict` of a loader: what follows after it is loaded is what would have followed anyway."""

# ruff: noqa: NPY002 - what samplers and datasets draw from

from __future__ import annotations

import json
import random

import numpy as np
import pytest

import proa as paddle
from proa import io


class Augmented(io.Dataset):
    def __init__(self, length: int = 23) -> None:
        self.length = length

    def __getitem__(self, index: int):
        return index, np.random.rand(), random.random(), paddle.rand([1])

    def __len__(self) -> int:
        return self.length


class UnevenStream(io.IterableDataset):
    """Of different lengths in different workers."""

    def __iter__(self):
        info = io.get_worker_info()
        number = 0 if info is None else info.id
        for value in range(9 + 6 * number):
            yield 100 * number + value, np.random.rand()


def plain(batch):
    return [field.tolist() if isinstance(field, paddle.Tensor) else field for field in batch]


def loader_for(kind: str, num_workers: int, persistent: bool = False) -> io.DataLoader:
    options = {"num_workers": num_workers, "persistent_workers": persistent}
    data = Augmented()
    if kind == "stream":
        return io.DataLoader(UnevenStream(), batch_size=2, **options)
    if kind == "shuffled":
        return io.DataLoader(data, batch_size=3, shuffle=True, **options)
    if kind == "weighted":
        sampler = io.BatchSampler(sampler=io.WeightedRandomSampler(np.arange(1.0, 24.0), 30), batch_size=4)
        return io.DataLoader(data, batch_sampler=sampler, **options)
    if kind == "distributed":
        return io.DataLoader(data, batch_sampler=io.DistributedBatchSampler(data, 2, 3, 1, shuffle=True), **options)
    return io.DataLoader(data, batch_size=None, **options)


def reseed(value: int) -> None:
    np.random.seed(value)
    random.seed(value)
    paddle.seed(value)


# How a stream is split is the dataset's business, by the number of workers: there it cannot change.
CASES = [
    *[(kind, *workers) for kind in ("shuffled", "unbatched") for workers in ((0, 0), (2, 2), (2, 0), (0, 3))],
    ("weighted", 0, 2),
    ("distributed", 2, 0),
    ("stream", 0, 0),
    ("stream", 2, 2),
]


@pytest.mark.parametrize(("kind", "before", "after"), CASES)
def test_going_on_in_the_middle_of_an_epoch(kind, before, after):
    reseed(1)
    loader = loader_for(kind, before)
    list(loader)  # one whole epoch first
    iterator = iter(loader)
    for _ in range(3):
        next(iterator)
        np.random.rand()  # what a training loop may do besides
    state = json.loads(json.dumps(loader.state_dict()))
    rest = [plain(batch) for batch in iterator]
    following = [plain(batch) for batch in loader]
    drawn = np.random.rand(), random.random(), paddle.rand([1]).item()

    reseed(2)  # a new process knows nothing of the old one's
    other = loader_for(kind, after)
    other.load_state_dict(state)
    assert [plain(batch) for batch in other] == rest
    assert [plain(batch) for batch in other] == following
    assert (np.random.rand(), random.random(), paddle.rand([1]).item()) == drawn
    assert len(rest) > 0


@pytest.mark.parametrize("num_workers", [0, 2])
def test_every_place_of_an_epoch(num_workers):
    reseed(1)
    loader = loader_for("shuffled", num_workers, persistent=True)
    states = [loader.state_dict()]
    batches = []
    for batch in loader:
        batches.append(plain(batch))
        states.append(loader.state_dict())
    fresh = loader_for("shuffled", num_workers, persistent=True)
    for position, state in enumerate(states):
        fresh.load_state_dict(state)
        assert [plain(batch) for batch in fresh] == batches[position:]


def test_between_epochs():
    reseed(1)
    loader = loader_for("shuffled", 0)
    list(loader)
    state = loader.state_dict()
    expected = [plain(batch) for batch in loader]
    reseed(2)
    other = loader_for("shuffled", 0)
    other.load_state_dict(state)
    assert other.state_dict()["epoch"] == 1
    assert [plain(batch) for batch in other] == expected


def test_a_state_that_was_loaded_can_be_saved_again():
    loader = loader_for("shuffled", 0)
    next(iter(loader))
    state = loader.state_dict()
    other = loader_for("shuffled", 0)
    other.load_state_dict(state)
    assert other.state_dict() == state
    iterator = iter(other)
    next(iterator)
    assert other.state_dict()["position"] == 2


def test_a_sampler_with_a_state_of_its_own():
    class Counting:
        def __init__(self) -> None:
            self.passes = 0

        def __iter__(self):
            self.passes += 1
            return iter([[self.passes, step] for step in range(5)])

        def state_dict(self):
            return {"passes": self.passes}

        def load_state_dict(self, state):
            self.passes = state["passes"]

    loader = io.DataLoader(Augmented(), batch_sampler=Counting())
    list(loader)
    iterator = iter(loader)
    next(iterator)
    other = io.DataLoader(Augmented(), batch_sampler=Counting())
    other.load_state_dict(loader.state_dict())
    assert [batch[0].tolist() for batch in other] == [[2, 1], [2, 2], [2, 3], [2, 4]]


def test_wrong_states():
    loader = loader_for("shuffled", 0)
    state = loader.state_dict()
    with pytest.raises(TypeError, match="not a loader's state"):
        loader.load_state_dict({"a": 1})
    with pytest.raises(TypeError, match="list"):
        loader.load_state_dict([])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="version 99"):
        loader.load_state_dict({**state, "version": 99})
    with pytest.raises(ValueError, match="another number of batches"):
        io.DataLoader(Augmented(5)).load_state_dict(state)
