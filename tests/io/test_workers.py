"""What happens to workers: errors, deaths, early ends, many epochs, other loaders in them; and what they leave behind."""

from __future__ import annotations

import gc
import itertools
import os
import pathlib
import signal
import time
import traceback

import numpy as np
import pytest

import proa as paddle
from proa import io
from proa.io.workers.segments import Mappings


class Samples(io.Dataset):
    def __init__(self, make, length: int = 12) -> None:
        self.make = make
        self.length = length

    def __getitem__(self, index: int):
        return self.make(index)

    def __len__(self) -> int:
        return self.length


class OddError(Exception):
    """Cannot be made from its message alone, as pickle tries to."""

    def __init__(self, first, second) -> None:
        super().__init__(f"{first} and {second}")


def children() -> set[int]:
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
        return {int(pid) for pid in file.read().split()}


def num_named_mappings() -> int:
    """Shared memory with a name, which would stay behind when the processes are killed."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        return sum("/dev/shm/" in line for line in file)


def wait_until(condition, seconds: float = 15.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


@pytest.fixture(autouse=True)
def _nothing_is_left():
    before_children = children()
    yield
    gc.collect()
    assert wait_until(lambda: children() <= before_children)
    assert not num_named_mappings()


def raise_at(position: int, error: BaseException):
    def make(index):
        if index == position:
            raise error
        return index

    return make


@pytest.mark.parametrize(
    "error", [IndexError("no such"), KeyError("k"), OddError(1, 2), FileNotFoundError(2, "gone", "f")]
)
def test_an_error_keeps_its_type_and_shows_the_workers_traceback(error):
    iterator = iter(io.DataLoader(Samples(raise_at(5, error)), batch_size=2, num_workers=2))
    assert [next(iterator).tolist(), next(iterator).tolist()] == [[0, 1], [2, 3]]
    with pytest.raises(type(error)) as caught:
        next(iterator)
    assert list(iterator) == []
    assert str(caught.value) == str(error)
    note = "".join(caught.value.__notes__)
    assert "DataLoader worker 0" in note
    assert "in make" in note


def test_an_error_of_a_local_class():
    class LocalError(Exception):
        pass

    with pytest.raises(LocalError, match="here"):
        list(io.DataLoader(Samples(raise_at(0, LocalError("here"))), num_workers=1))


def test_stop_iteration_does_not_end_the_loop_in_silence():
    for num_workers in (0, 1):
        with pytest.raises(RuntimeError, match="StopIteration"):
            list(io.DataLoader(Samples(raise_at(0, StopIteration())), num_workers=num_workers))


def test_an_error_in_worker_init_fn():
    def initialise(worker):
        raise ValueError(f"worker {worker} cannot start")

    with pytest.raises(ValueError, match="worker 0 cannot start"):
        list(io.DataLoader(Samples(lambda i: i), num_workers=2, worker_init_fn=initialise))


def test_persistent_workers_survive_an_error():
    loader = io.DataLoader(
        Samples(lambda i: (os.getpid(), 1 // (i - 3))), num_workers=2, persistent_workers=True, batch_size=1
    )
    pids = set()
    for _ in range(2):
        iterator = iter(loader)
        pids.update(int(next(iterator)[0]) for _ in range(3))
        with pytest.raises(ZeroDivisionError):
            next(iterator)
    assert len(pids) == 2


def test_a_killed_worker_is_noticed():
    def make(index):
        if index == 6:
            os.kill(os.getpid(), signal.SIGKILL)
        return np.zeros(1000)

    begin = time.monotonic()
    with pytest.raises(RuntimeError, match=r"worker 1 .*signal 9 \(SIGKILL\)"):
        list(io.DataLoader(Samples(make), batch_size=2, num_workers=2))
    assert time.monotonic() - begin < 20


def test_a_worker_that_exits_is_noticed_while_another_is_busy():
    def make(index):
        if index == 1:
            os._exit(3)
        time.sleep(30)
        return index

    begin = time.monotonic()
    with pytest.raises(RuntimeError, match=r"worker 1 .*exit code 3"):
        list(io.DataLoader(Samples(make), num_workers=2))
    assert time.monotonic() - begin < 20


def test_a_worker_killed_between_epochs():
    loader = io.DataLoader(Samples(lambda i: os.getpid(), 4), num_workers=2, persistent_workers=True)
    pid = int(next(iter(loader)))
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="SIGKILL"):
        list(loader)
    assert len(list(loader)) == 4  # new ones are started


def test_timeout():
    def make(index):
        time.sleep(30 if index == 2 else 0)
        return index

    begin = time.monotonic()
    with pytest.raises(TimeoutError, match=r"within 0.3 seconds"):
        list(io.DataLoader(Samples(make), num_workers=1, timeout=0.3))
    assert time.monotonic() - begin < 20


def test_leaving_early_and_starting_again():
    for persistent in (False, True):
        loader = io.DataLoader(
            Samples(lambda i: (np.full(2000, i), i), 40), batch_size=2, num_workers=2, persistent_workers=persistent
        )
        for _ in range(3):
            for batch in loader:
                if batch[1].tolist() == [4, 5]:
                    break
        found = [(batch[0].numpy()[:, 7].tolist(), batch[1].tolist()) for batch in loader]
        assert found == [([i, i + 1], [i, i + 1]) for i in range(0, 40, 2)]


def persistent(length: int = 20, **options) -> io.DataLoader:
    return io.DataLoader(Samples(lambda i: i, length), batch_size=4, num_workers=2, persistent_workers=True, **options)


class Numbers(io.IterableDataset):
    def __iter__(self):
        yield from range(io.get_worker_info().id, 20, 2)


@pytest.mark.parametrize("ahead", [False, True])
def test_a_loop_over_a_loader_that_nobody_else_holds(ahead, monkeypatch):
    monkeypatch.setattr("proa.io.reader._always_ahead", ahead)
    before = children()
    whole = [list(range(i, i + 4)) for i in range(0, 20, 4)]
    assert [batch.tolist() for batch in persistent()] == whole
    assert [batch.tolist() for _, batch in enumerate(persistent())] == whole
    assert [batch.tolist() for batch in list(persistent())] == whole
    assert [batch.tolist() for batch in persistent()()] == whole
    assert [(a.tolist(), b.tolist()) for a, b in zip(persistent(), persistent(), strict=True)] == [
        (w, w) for w in whole
    ]
    stream = io.DataLoader(Numbers(), batch_size=4, num_workers=2, persistent_workers=True, prefetch_factor=3)
    iterator = iter(stream)
    del stream
    assert sorted(number for batch in iterator for number in batch.tolist()) == list(range(20))
    assert children() <= before  # the loop is over, even where the iterator is still held
    assert list(iterator) == []


def test_workers_of_a_loader_that_nobody_else_holds_end_with_the_loop():
    before = children()
    for batch in persistent():
        assert batch.tolist() == [0, 1, 2, 3]
        break
    del batch
    assert children() <= before
    assert next(iter(persistent())).tolist() == [0, 1, 2, 3]
    assert children() <= before

    def batches():
        yield from persistent()

    generator = batches()
    assert next(generator).tolist() == [0, 1, 2, 3]
    assert len(children() - before) == 2
    generator.close()
    assert children() <= before
    iterator = iter(persistent())
    next(iterator)
    iterator.close()
    assert children() <= before

    def fail():
        for batch in persistent():
            return batch.tolist()[0] // 0

    with pytest.raises(ZeroDivisionError):
        fail()
    assert wait_until(lambda: children() <= before)


def test_workers_stay_while_their_loader_is_held():
    loader = io.DataLoader(Samples(lambda i: os.getpid(), 8), num_workers=2, persistent_workers=True)
    first = {int(pid) for pid in loader}
    iterator = iter(loader)
    next(iterator)
    del iterator
    assert {int(pid) for pid in loader} == first


def in_child(function) -> int:
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)
        try:
            os._exit(0 if function() else 1)
        except BaseException:
            traceback.print_exc()
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.parametrize("ahead", [False, True])
def test_a_forked_process_has_workers_of_its_own(ahead, monkeypatch):
    monkeypatch.setattr("proa.io.reader._always_ahead", ahead)
    loader = persistent()
    whole = [list(range(i, i + 4)) for i in range(0, 20, 4)]
    iterator = iter(loader)
    assert next(iterator).tolist() == whole[0]

    def refuses():
        with pytest.raises(RuntimeError, match=r"forked from it; make a new iterator here"):
            next(iterator)
        return True

    def loads():
        return [[batch.tolist() for batch in loader] for _ in range(2)] == [whole, whole]

    assert in_child(refuses) == 0
    assert in_child(loads) == 0
    assert [batch.tolist() for batch in iterator] == whole[1:]
    assert in_child(loads) == 0  # the parent's workers are there, and wait
    assert loads()


def test_workers_end_at_once_although_a_forked_process_lives_on():
    loader = persistent()
    list(loader)
    workers = [worker.process for worker in loader._pool.workers]
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(write)
        os.read(read, 1)  # until the parent is done
        os._exit(0)
    begin = time.monotonic()
    del loader
    gc.collect()
    assert time.monotonic() - begin < 1.5
    assert [worker.exitcode for worker in workers] == [0, 0]
    os.close(write)
    os.close(read)
    assert os.waitpid(pid, 0)[1] == 0


def test_two_loops_over_one_loader():
    loader = io.DataLoader(Samples(lambda i: i, 4), num_workers=2, persistent_workers=True)
    pairs = [(int(a), int(b)) for a in loader for b in loader]
    assert pairs == [(a, b) for a in range(4) for b in range(4)]


def test_many_epochs_with_persistent_workers():
    loader = io.DataLoader(
        Samples(lambda i: (os.getpid(), np.full(50_000, i, np.float32))),
        batch_size=4,
        num_workers=2,
        persistent_workers=True,
    )
    pids = set()
    for _ in range(30):
        position = 0
        for pid, values in loader:
            pids.update(pid.tolist())
            assert values[:, 0].tolist() == [position, position + 1, position + 2, position + 3]
            position += 4
    assert len(pids) == 2
    assert all(len(worker.mappings.memory) <= 5 for worker in loader._pool.workers)


def test_batches_that_are_kept_stay_as_they_are():
    loader = io.DataLoader(Samples(lambda i: np.full(5000, i, np.float32), 60), batch_size=2, num_workers=2)
    iterator = iter(loader)
    kept = list(iterator)
    doubled = [batch * 2 for batch in kept]
    second = [batch.numpy() for batch in loader]
    for number, (batch, twice, again) in enumerate(zip(kept, doubled, second, strict=True)):
        assert set(batch.numpy()[0]) == {2 * number}
        assert set(twice.numpy()[0]) == {4 * number}
        assert set(again[1]) == {2 * number + 1}


def test_segments_are_used_again_and_forgotten():
    mappings = Mappings(keep=2)
    for number in range(5):
        mappings.memory[number] = np.zeros(64, np.uint8)
    views = [mappings.lease(number)[8:16].view(np.float64).reshape(1, 1) for number in range(5)]
    assert mappings.take_returned() == ([], [])
    del views[0]
    assert mappings.take_returned() == ([0], [])
    views.clear()
    again, forgotten = mappings.take_returned()
    assert (sorted(again + forgotten), len(forgotten)) == ([1, 2, 3, 4], 3)
    assert len(mappings.memory) == 2


def test_shared_memory_has_no_name_and_holds_no_descriptor():
    def make(index):
        return np.zeros(10_000), num_named_mappings(), len(os.listdir("/proc/self/fd"))

    num_descriptors = len(os.listdir("/proc/self/fd"))
    iterator = iter(io.DataLoader(Samples(make, 40), num_workers=1))
    kept = list(itertools.islice(iterator, 30))
    assert any("proa-loader" in line for line in pathlib.Path("/proc/self/maps").read_text().splitlines())
    assert {int(named) for _, named, _ in kept} | {num_named_mappings()} == {0}
    assert len({int(descriptors) for _, _, descriptors in kept}) == 1
    assert len(os.listdir("/proc/self/fd")) <= num_descriptors + 4  # the worker's pipes, not thirty batches


def test_batches_of_growing_size():
    loader = io.DataLoader(Samples(lambda i: np.full((i + 1) * 700, i), 20), num_workers=2)
    for number, batch in enumerate(loader):
        assert batch.shape == [1, (number + 1) * 700]
        assert set(batch.numpy()[0]) == {number}


def test_a_loader_in_a_worker():
    def make(index):
        inner = io.DataLoader(Samples(lambda i: i * index, 3), num_workers=1)
        return [int(value) for value in inner]

    found = [[field.item() for field in batch] for batch in io.DataLoader(Samples(make, 3), num_workers=2)]
    assert found == [[0, 0, 0], [0, 1, 2], [0, 2, 4]]


def test_workers_run_tensors_on_numpy_alone():
    # Compiled in the parent first, and read by the dataset: a child can neither run the program nor ask XLA.
    weight = paddle.ones([3], "float32")
    for _ in range(5):
        weight = (weight * 1.5).tanh()
        weight.numpy()
    pending = weight + 1

    class WithTensors(io.Dataset):
        def __init__(self) -> None:
            self.weight = weight
            self.parts = {"pending": pending}

        def __getitem__(self, index: int):
            return (self.weight * 1.5).tanh() + self.parts["pending"] * index

        def __len__(self) -> int:
            return 4

    def collate(samples):
        assert all(isinstance(value._data(), np.ndarray) for value in samples)
        with pytest.raises(ImportError):
            import jax  # noqa: F401
        return paddle.stack(samples)

    data = WithTensors()
    for _ in range(5):  # the same work is compiled by now
        data[1].numpy()
    expected = np.tanh(weight.numpy() * 1.5) + pending.numpy() * np.arange(4, dtype=np.float32)[:, None]
    (found,) = list(io.DataLoader(data, batch_size=4, num_workers=2, collate_fn=collate, timeout=20))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


def test_tensor_dataset_in_workers():
    x = paddle.arange(12).astype("float32").reshape([6, 2]) * 2
    found = [batch[0].tolist() for batch in io.DataLoader(io.TensorDataset([x]), batch_size=3, num_workers=2)]
    assert found == [x[:3].tolist(), x[3:].tolist()]


@pytest.mark.parametrize("shared", [True, False])
def test_long_lists_of_indices(shared):
    """Requests that do not fit into a pipe meet answers that do not either."""
    loader = io.DataLoader(
        Samples(lambda i: np.full(40, i), 90_000), batch_size=30_000, num_workers=1, prefetch_factor=3,
        use_shared_memory=shared,
    )  # fmt: skip
    assert [int(batch[-1, 0]) for batch in loader] == [29_999, 59_999, 89_999]


def test_a_batch_of_many_arrays():
    loader = io.DataLoader(Samples(lambda i: np.full(100, i), 600), batch_size=300, num_workers=2, collate_fn=list)
    for number, batch in enumerate(loader):
        assert [int(array[99]) for array in batch] == list(range(300 * number, 300 * number + 300))


def test_forking_beside_compiled_steps():
    model = paddle.nn.Linear(64, 8)
    optimizer = paddle.optimizer.Adam(parameters=model.parameters())
    data = Samples(lambda i: (np.full(64, i / 100, np.float32), np.full(8, i, np.float32)), 40)
    losses = []
    for num_workers in (0, 2, 3, 0, 1):
        for x, y in io.DataLoader(data, batch_size=4, num_workers=num_workers):
            loss = ((model(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(float(loss))
    assert len(losses) == 50
    assert losses[-1] < losses[9]
