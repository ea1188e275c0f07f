"""One process of a job that trains with divided data: what a test asks for by name."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.distributed.fleet.layers.mpu import mp_ops
from proa.ir.transforms import donation

dist, nn = paddle.distributed, paddle.nn
RANDOM = np.random.default_rng(0)
INPUTS = RANDOM.normal(size=(8, 3))
TARGETS = RANDOM.normal(size=(8, 1))


def own_rows(values: np.ndarray) -> np.ndarray:
    return values[dist.get_rank() :: dist.get_world_size()]


def by_hand(weight: np.ndarray, steps: int, rate: float) -> np.ndarray:
    """Linear regression on all rows, by NumPy."""
    for _ in range(steps):
        weight = weight - rate * 2 * INPUTS.T @ (INPUTS @ weight - TARGETS) / len(INPUTS)
    return weight


def train(model: Any, layer: Any, steps: int, accumulate: bool) -> None:
    optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
    x, y = (paddle.to_tensor(own_rows(values)) for values in (INPUTS, TARGETS))
    for _ in range(steps):
        if accumulate:  # two halves of a batch; only the second exchanges
            with model.no_sync():
                (((model(x[:2]) - y[:2]) ** 2).mean() / 2).backward()
            (((model(x[2:]) - y[2:]) ** 2).mean() / 2).backward()
        else:
            ((model(x) - y) ** 2).mean().backward()
        optimizer.step()
        optimizer.clear_grad()


def regression() -> None:
    """As one process on all rows; also with gradients that are added up first, and in buckets of one tensor each."""
    for accumulate, megabytes in ((False, 25), (True, 25), (False, 1e-6)):
        paddle.seed(5 + dist.get_rank())  # different parameters, until the wrapper makes them equal
        layer = nn.Linear(3, 1, bias_attr=False)
        layer.to(dtype="float64")
        model = paddle.DataParallel(layer, comm_buffer_size=megabytes)
        start: list[Any] = []
        dist.all_gather_object(start, layer.weight.numpy())
        np.testing.assert_array_equal(start[0], start[1])
        train(model, layer, 12, accumulate)
        np.testing.assert_allclose(layer.weight.numpy(), by_hand(start[0], 12, 0.1), rtol=1e-12)


def passes() -> None:
    """Two backward passes without an update give the sum of two means; paddle.grad exchanges nothing."""
    layer = nn.Linear(1, 1, bias_attr=False)
    model = paddle.DataParallel(layer)
    x = paddle.full([1, 1], float(dist.get_rank() + 1))
    for _ in range(2):
        model(x).sum().backward()
    assert layer.weight.grad.item() == 3.0
    (gradient,) = paddle.grad(model(x).sum(), layer.weight)
    assert gradient.item() == dist.get_rank() + 1.0
    layer.weight.clear_grad()
    with model.no_sync():
        model(x).sum().backward()
    assert layer.weight.grad.item() == dist.get_rank() + 1.0
    model.apply_collective_grads()
    assert layer.weight.grad.item() == 1.5


class Branches(nn.Layer):
    """Process 0 uses the first branch, process 1 the second, nobody the third."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.LayerList([nn.Linear(2, 1) for _ in range(3)])
        self.register_buffer("seen", paddle.full([1], float(dist.get_rank())))

    def forward(self, x: Any) -> Any:
        return self.parts[dist.get_rank()](x)


def unused() -> None:
    model = paddle.DataParallel(Branches(), find_unused_parameters=True)
    assert model._layers.seen.item() == 0.0, "buffers begin as those of the first process"
    model(paddle.ones([1, 2])).sum().backward()
    grads = [part.weight.grad for part in model._layers.parts]
    assert [None if grad is None else grad.numpy().tolist() for grad in grads] == [
        [[0.5], [0.5]],
        [[0.5], [0.5]],
        None,
    ]
    strict = paddle.DataParallel(Branches())
    with pytest.raises(RuntimeError, match=r"does not depend on 4 parameters.*find_unused_parameters=True"):
        strict(paddle.ones([1, 2])).sum().backward()


def different() -> None:
    with pytest.raises(RuntimeError, match=r"process . has other parameters than process ."):
        paddle.DataParallel(nn.Linear(2, 2 + dist.get_rank()))


def mixed() -> None:
    """Parameters of two dtypes, batch norm, a sampler that knows its process."""
    model = paddle.DataParallel(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1D(4), nn.Linear(4, 1).to(dtype="float64")))
    sampler = paddle.io.DistributedBatchSampler(list(range(10)), batch_size=2)
    seen: list[Any] = []
    dist.all_gather_object(seen, [index for batch in sampler for index in batch])
    assert sorted(seen[0] + seen[1]) == list(range(10))
    inner = model._layers
    out = inner[2](inner[1](inner[0](paddle.randn([4, 4]))).astype("float64"))
    out.sum().backward()
    found: list[Any] = []
    trained = [parameter for parameter in model.parameters() if not parameter.stop_gradient]
    dist.all_gather_object(found, [parameter.grad.numpy() for parameter in trained])
    for first, second in zip(*found, strict=True):
        np.testing.assert_array_equal(first, second)


def native() -> None:
    """A process's own programs use native kernels as in a job of one, until a tensor spans processes."""
    from proa.kernels.cpu import library
    from proa.kernels.cpu.library import _other_machine

    assert library._unsuitable() == _other_machine()


def in_place() -> None:
    """Averaged gradients, parts of one piece, are read where they lie: nothing is copied before a compiled update."""
    paddle.set_flags({"FLAGS_hot_threshold": 2})
    moved: list[Any] = []
    model = paddle.DataParallel(nn.Sequential(*(nn.Linear(32, 32) for _ in range(3))))
    optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(donation, "_moved", lambda value, before=donation._moved: moved.append(value) or before(value))
        counts = []
        for _ in range(8):
            model(paddle.ones([4, 32])).square().mean().backward()
            optimizer.step()
            optimizer.clear_grad()
            counts.append(len(moved))
    # The numbers of the cold steps move to XLA's memory once: six parameters, two states each, the count, and no gradient.
    assert counts[-1] == counts[4] == 19, counts


def threads() -> None:
    """What PROA_NUM_THREADS says holds in a job as well; the test sets it to 1."""
    tasks = [Path(f"/proc/self/task/{task}/comm") for task in os.listdir("/proc/self/task")]
    names = [task.read_text().strip() for task in tasks if task.exists()]
    assert sum("XLAEigen" in name for name in names) == 1, names


def parallel_operators() -> None:
    """Tensor parallelism's operators beside the whole computation in one process."""
    rank = dist.get_rank()
    random = np.random.default_rng(3)
    x, first, second = random.normal(size=(4, 6)), random.normal(size=(6, 8)), random.normal(size=(8, 5))
    label = np.array([0, 4, 2, 3])

    def whole() -> list[np.ndarray]:
        tensors = [paddle.to_tensor(each, stop_gradient=False) for each in (x, first, second)]
        logits = paddle.matmul(nn.functional.relu(paddle.matmul(tensors[0], tensors[1])), tensors[2])
        both = paddle.concat([logits, logits[:, :1] * 2], axis=-1)  # six classes
        loss = nn.functional.cross_entropy(both, paddle.to_tensor(label), reduction="sum")
        loss.backward()
        return [loss.numpy(), *(each.grad.numpy() for each in tensors)]

    expected = whole()
    tensors = [
        paddle.to_tensor(each, stop_gradient=False)
        for each in (x, first[:, 4 * rank : 4 * rank + 4], second[4 * rank : 4 * rank + 4])
    ]
    hidden = nn.functional.relu(paddle.matmul(mp_ops._c_identity(tensors[0]), tensors[1]))
    logits = mp_ops._mp_allreduce(paddle.matmul(hidden, tensors[2]))
    both = mp_ops._c_split(paddle.concat([logits, logits[:, :1] * 2], axis=-1))
    loss, softmax = mp_ops._c_softmax_with_cross_entropy(both, paddle.to_tensor(label), return_softmax=True)
    loss.sum().backward()
    np.testing.assert_allclose(loss.sum().numpy(), expected[0])
    np.testing.assert_allclose(mp_ops._c_concat(softmax).numpy().sum(-1), np.ones(4))
    np.testing.assert_allclose(tensors[0].grad.numpy(), expected[1], atol=1e-12)
    np.testing.assert_allclose(tensors[1].grad.numpy(), expected[2][:, 4 * rank : 4 * rank + 4], atol=1e-12)
    np.testing.assert_allclose(tensors[2].grad.numpy(), expected[3][4 * rank : 4 * rank + 4], atol=1e-12)
    part = paddle.to_tensor(random.normal(size=(3, 2)) + rank, stop_gradient=False)
    ids = paddle.to_tensor([[0, 5, 2, 3]])
    rows = mp_ops._mp_allreduce(mp_ops._c_lookup_table(part, ids, 3 * rank, 6))
    tables: list[Any] = []
    dist.all_gather(tables, part.detach())
    np.testing.assert_allclose(rows.numpy(), np.concatenate([t.numpy() for t in tables])[[[0, 5, 2, 3]]])
    together = mp_ops._c_concat(part)
    (together * paddle.to_tensor([[1.0, 2.0, 3.0, 4.0]] * 3, dtype="float64")).sum().backward()
    np.testing.assert_allclose(part.grad.numpy(), [[1.0 + 2 * rank, 2.0 + 2 * rank]] * 3)


def fleet_job() -> None:
    """fleet.init and its wrappers: divided data."""
    fleet = dist.fleet
    fleet.init(is_collective=True)
    rank = dist.get_rank()
    assert (fleet.worker_index(), fleet.worker_num(), fleet.is_first_worker()) == (rank, 2, rank == 0)
    groups = fleet.get_hybrid_communicate_group()
    assert (groups.get_data_parallel_rank(), groups.get_data_parallel_world_size()) == (rank, 2)
    assert groups.get_model_parallel_world_size() == 1
    layer = nn.Linear(1, 1, bias_attr=False)
    model = fleet.distributed_model(layer)
    optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(1.0, parameters=model.parameters()))
    before = layer.weight.item()
    model(paddle.full([1, 1], float(rank))).sum().backward()
    optimizer.step()
    assert layer.weight.item() == pytest.approx(before - 0.5)
    assert fleet.util.all_gather(rank) == [0, 1]
    assert fleet.util.all_reduce(rank + 1) == 3
    assert fleet.util.get_file_shard(["a", "b", "c"]) == [["a", "b"], ["c"]][rank]
    layer.weight.grad.set_value(paddle.full([1, 1], float(rank)))
    fleet.utils.hybrid_parallel_util.fused_allreduce_gradients(model.parameters())
    assert layer.weight.grad.item() == 0.5


if __name__ == "__main__":
    dist.init_parallel_env()
    for name in sys.argv[1].split(","):
        globals()[name]()
        print(name, "done", flush=True)
