"""Collectives beside NumPy: every dtype, odd sizes, all subgroups, several processes.

    python -m tests.distributed.collectives                        # the sweep: 2, 3 and 4 processes
    python -m tests.distributed.collectives --processes 2 --small  # what the suite runs

Every process can make the numbers of all others, so each computes what it must get by itself.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

import proa as paddle

DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
    "complex128",
)  # fmt: skip
SHAPES = ((), (1,), (0,), (7,), (3, 5), (2, 0, 3), (129,), (4, 3, 2))
TOLERANCE = {
    "float16": 2e-3,
    "bfloat16": 2e-2,
    "float32": 1e-6,
    "float64": 1e-14,
    "complex64": 1e-5,
    "complex128": 1e-13,
}
dist = paddle.distributed


def numbers(rank: int, shape: Sequence[int], dtype: str, case: object) -> np.ndarray:
    """The numbers of a process in a case, as float64 (or complex128, int64, bool)."""
    random = np.random.default_rng([rank, zlib.crc32(repr(case).encode())])
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if "int" in dtype:
        return random.integers(0, 100, shape)
    made = random.integers(-8, 9, shape) / 4.0
    return made + 1j * random.integers(-8, 9, shape) / 4.0 if "complex" in dtype else made


def tensor(values: np.ndarray, dtype: str) -> Any:
    return paddle.to_tensor(values).astype(dtype)


def as_numpy(value: Any) -> np.ndarray:
    if value.dtype in (paddle.bfloat16, paddle.float16):
        value = value.astype("float32")
    return value.numpy()


def agree(what: object, got: Any, expected: np.ndarray, dtype: str) -> None:
    assert str(got.dtype).endswith(dtype), f"{what}: {got.dtype}, expected {dtype}"
    values = as_numpy(got)
    assert values.shape == np.shape(expected), f"{what}: shape {values.shape}, expected {np.shape(expected)}"
    if dtype in TOLERANCE:
        np.testing.assert_allclose(values, expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype], err_msg=str(what))
    else:
        np.testing.assert_array_equal(values, np.asarray(expected).astype(values.dtype), err_msg=str(what))


def reduced(op: int, parts: list[np.ndarray]) -> np.ndarray:
    stacked = np.stack(parts)
    if stacked.dtype == bool:
        return stacked.any(0) if op in (0, 1, 4) else stacked.all(0)
    if op == 4:
        total = stacked.sum(0)
        return total // len(parts) if stacked.dtype.kind in "iu" else total / len(parts)
    return {0: stacked.sum, 1: stacked.max, 2: stacked.min, 3: stacked.prod}[op](0)


def check_reductions(group: Any, ranks: list[int], shape: tuple[int, ...], dtype: str) -> None:
    rank = dist.get_rank()
    for op in (0, 1, 2, 3, 4):
        if op in (1, 2) and "complex" in dtype:
            continue
        case = ("reduce", op, shape, dtype)
        parts = [numbers(r, shape, dtype, case) for r in ranks]
        if dtype == "uint8":
            parts = [part // 50 for part in parts]
        elif dtype == "int8":
            parts = [part // 30 for part in parts]
        own = parts[ranks.index(rank)]
        expected = reduced(op, parts)
        x = tensor(own, dtype)
        dist.all_reduce(x, op, group)
        agree((case, ranks), x, expected, dtype)
        x = tensor(own, dtype)
        dist.reduce(x, ranks[-1], op, group)
        agree((case, "reduce", ranks), x, expected if rank == ranks[-1] else own, dtype)


def check_movements(group: Any, ranks: list[int], shape: tuple[int, ...], dtype: str) -> None:
    rank, count = dist.get_rank(), len(ranks)
    here = ranks.index(rank)
    case = ("move", shape, dtype)
    parts = [numbers(r, shape, dtype, case) for r in ranks]
    lists = [[numbers(r, shape, dtype, (case, target)) for target in ranks] for r in ranks]
    for source in ranks:
        x = tensor(parts[here], dtype)
        dist.broadcast(x, source, group)
        agree((case, "broadcast", source), x, parts[ranks.index(source)], dtype)
    gathered: list[Any] = []
    dist.all_gather(gathered, tensor(parts[here], dtype), group)
    for got, expected in zip(gathered, parts, strict=True):
        agree((case, "all_gather"), got, expected, dtype)
    kept = gathered[0]
    dist.all_gather(gathered, tensor(parts[here], dtype), group)
    assert gathered[0] is kept, "the tensors of a list are filled"
    collected: list[Any] | None = [] if rank == ranks[-1] else None
    dist.gather(tensor(parts[here], dtype), collected, ranks[-1], group)
    for got, expected in zip(collected or (), parts, strict=False):
        agree((case, "gather"), got, expected, dtype)
    assert collected is None or len(collected) == count
    x = tensor(parts[here], dtype)
    given = [tensor(each, dtype) for each in lists[0]] if here == 0 else None
    dist.scatter(x, given, ranks[0], group)
    agree((case, "scatter"), x, lists[0][here], dtype)
    swapped: list[Any] = []
    dist.alltoall(swapped, [tensor(each, dtype) for each in lists[here]], group)
    for position, got in enumerate(swapped):
        agree((case, "alltoall"), got, lists[position][here], dtype)
    total = reduced(0, [lists[position][here] for position in range(count)])
    if dtype not in ("uint8", "int8"):
        dist.reduce_scatter(x, [tensor(each, dtype) for each in lists[here]], group=group)
        agree((case, "reduce_scatter"), x, total, dtype)


def check_pieces(group: Any, ranks: list[int], dtype: str) -> None:
    """Pieces of different sizes, some of them empty."""
    here = ranks.index(dist.get_rank())
    sizes = [[(3 * a + 2 * b) % 5 for b in range(len(ranks))] for a in range(len(ranks))]
    made = [numbers(r, (sum(sizes[a]), 3), dtype, "pieces") for a, r in enumerate(ranks)]
    pieces = [np.split(each, np.cumsum(sizes[a])[:-1]) for a, each in enumerate(made)]
    wanted = [sizes[a][here] for a in range(len(ranks))]
    out = paddle.zeros([sum(wanted), 3], dtype)
    dist.alltoall_single(out, tensor(made[here], dtype), sizes[here], wanted, group)
    agree("pieces", out, np.concatenate([pieces[a][here] for a in range(len(ranks))]), dtype)
    even = [numbers(r, (2 * len(ranks), 2), dtype, "even") for r in ranks]
    out = paddle.zeros([2 * len(ranks), 2], dtype)
    dist.alltoall_single(out, tensor(even[here], dtype), group=group)
    agree("even", out, np.concatenate([each[2 * here : 2 * here + 2] for each in even]), dtype)


def check_messages(ranks: list[int], dtype: str) -> None:
    """A ring, in which everybody sends and receives at the same time; then one after another."""
    rank = dist.get_rank()
    here = ranks.index(rank)
    after, before = ranks[(here + 1) % len(ranks)], ranks[here - 1]
    into = [paddle.zeros([5, 2], dtype) for _ in range(3)]
    operations = []
    for number in range(3):
        operations.append(dist.P2POp(dist.isend, tensor(numbers(rank, (5, 2), dtype, number), dtype), after))
        operations.append(dist.P2POp(dist.irecv, into[number], before))
    for task in dist.batch_isend_irecv(operations):
        task.wait()
    for number in range(3):
        agree(("ring", number), into[number], numbers(before, (5, 2), dtype, number), dtype)
    x = tensor(numbers(rank, (), dtype, "single"), dtype)
    y = paddle.zeros([], dtype)
    if here == 0:
        dist.send(x, ranks[1])
    elif here == 1:
        dist.recv(y, ranks[0])
        agree("single", y, numbers(ranks[0], (), dtype, "single"), dtype)


def check_objects(group: Any, ranks: list[int]) -> None:
    rank = dist.get_rank()
    gathered: list[Any] = []
    dist.all_gather_object(gathered, {"rank": rank, "text": "ä" * rank}, group)
    assert gathered == [{"rank": r, "text": "ä" * r} for r in ranks]
    things = [rank, "x" * 3_000_000 if rank == ranks[0] else None]
    dist.broadcast_object_list(things, ranks[0], group)
    assert things == [ranks[0], "x" * 3_000_000]
    out: list[Any] = []
    dist.scatter_object_list(out, [("for", r) for r in ranks] if rank == ranks[-1] else None, ranks[-1], group)
    assert out == [("for", rank)]
    if rank == ranks[0]:
        dist.send_object_list([1, "a"], ranks[1])
    elif rank == ranks[1]:
        received: list[Any] = [None, None]
        dist.recv_object_list(received, ranks[0])
        assert received == [1, "a"]
    dist.barrier(group)


def subgroups(size: int) -> list[list[int]]:
    return [list(each) for length in range(2, size) for each in itertools.combinations(range(size), length)]


def work(small: bool) -> None:
    dist.init_parallel_env()
    size, rank = dist.get_world_size(), dist.get_rank()
    everybody = list(range(size))
    dtypes = DTYPES if not small else ("bool", "int64", "bfloat16", "complex64")
    shapes = SHAPES if not small else ((), (2, 0, 3), (7, 1))
    for dtype in dtypes:
        for shape in shapes:
            check_reductions(None, everybody, shape, dtype)
            check_movements(None, everybody, shape, dtype)
        check_pieces(None, everybody, dtype)
        check_messages(everybody, dtype)
    check_objects(None, everybody)
    for ranks in subgroups(size):
        group = dist.new_group(ranks)
        if rank not in ranks:
            assert dist.get_rank(group) == -1
            continue
        for dtype in ("float32", "int32"):
            check_reductions(group, ranks, (3, 5), dtype)
            check_movements(group, ranks, (5,), dtype)
            check_pieces(group, ranks, dtype)
        check_objects(group, ranks)
    dist.barrier()
    print(f"process {rank} of {size}: all agree")


def main() -> None:
    from .support.processes import run_processes

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", action="store_true", help="be one process of a job")
    parser.add_argument("--small", action="store_true", help="fewer dtypes and shapes")
    parser.add_argument("--processes", type=int, nargs="+", default=[2, 3, 4])
    chosen = parser.parse_args()
    if chosen.worker:
        work(chosen.small)
        return
    for count in chosen.processes:
        more = ["--small"] if chosen.small else []
        for output in run_processes(count, ["-m", "tests.distributed.collectives", "--worker", *more], limit=900):
            sys.stdout.write(output.strip().splitlines()[-1] + "\n")


if __name__ == "__main__":
    main()
