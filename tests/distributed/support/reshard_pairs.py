"""From every placement to every other: `python -m tests.distributed.support.reshard_pairs` runs all pairs (some minutes).

What each device has afterwards is compared with what NumPy cuts, or with what its parts must give when they are reduced.
"""

from __future__ import annotations

import itertools
import os
import random
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

MESHES = {
    "line": np.arange(8),
    "part of a line": np.array([1, 3, 4]),
    "rows": np.arange(8).reshape(2, 4),
    "columns": np.arange(8).reshape(4, 2).T,
    "cube": np.arange(8).reshape(2, 2, 2),
}
SHAPES = [(8, 16), (5, 7), (3, 1), (16,), (2, 9, 4)]
REDUCTIONS = {
    "kRedSum": np.sum, "kRedMax": np.max, "kRedMin": np.min, "kRedProd": np.prod, "kRedAvg": np.mean,
}  # fmt: skip


def kinds(dist: Any, ndim: int) -> list[Any]:
    partial = [dist.Partial(getattr(dist.ReduceType, name)) for name in REDUCTIONS]
    return [dist.Replicate(), *(dist.Shard(dim) for dim in range(ndim)), *partial]


def pairs(dist: Any) -> Iterator[tuple[Any, ...]]:
    for (name, mesh), shape in itertools.product(MESHES.items(), SHAPES):
        placements = list(itertools.product(kinds(dist, len(shape)), repeat=mesh.ndim))
        for before, after in itertools.product(placements, repeat=2):
            yield name, mesh, shape, before, after


def ends(length: int, count: int) -> list[int]:
    """Written apart from the package: the first parts get what is left over."""
    sizes = [length // count + (number < length % count) for number in range(count)]
    return list(itertools.accumulate(sizes, initial=0))


def expected_part(whole: np.ndarray, mesh: np.ndarray, placements: Any, place: tuple[int, ...]) -> np.ndarray:
    for size, placement, position in zip(mesh.shape, placements, place, strict=True):
        if placement.is_shard():
            cut = ends(whole.shape[placement.get_dim()], size)
            whole = np.take(whole, range(cut[position], cut[position + 1]), axis=placement.get_dim())
    return whole


def check(dist: Any, mesh: np.ndarray, shape: tuple[int, ...], before: Any, after: Any) -> None:
    from proa.distributed.meshes.layouts import found_layout
    from proa.distributed.meshes.local import locals_of

    whole = np.arange(1, 1 + np.prod(shape), dtype="float32").reshape(shape)
    process_mesh = dist.ProcessMesh(mesh, [f"axis{i}" for i in range(mesh.ndim)])
    source = dist.shard_tensor(whole, process_mesh, list(before))
    result = dist.reshard(source, process_mesh, list(after))
    assert result.placements == list(after)
    assert result.process_mesh == process_mesh
    assert result.is_dist()
    np.testing.assert_array_equal(result.numpy(), whole)
    parts = np.empty(mesh.size, object)
    parts[:] = [part.numpy() for part in locals_of(result, found_layout(result))]
    parts = parts.reshape(mesh.shape)
    assert result._local_shape == list(parts.flat[0].shape)
    for axis, placement in enumerate(after):
        if placement.is_partial():  # all parts along the axis, reduced, are what each of them would have
            reduction = REDUCTIONS[placement.reduce_type().name]
            parts = _reduced(parts, axis, reduction)
    for place in np.ndindex(mesh.shape):
        np.testing.assert_array_equal(parts[place], expected_part(whole, mesh, after, place))


def _reduced(parts: np.ndarray, axis: int, reduction: Any) -> np.ndarray:
    made = np.empty(parts.shape, object)
    for place in np.ndindex(parts.shape):
        line = [parts[(*place[:axis], i, *place[axis + 1 :])] for i in range(parts.shape[axis])]
        made[place] = reduction(np.stack(line), axis=0)
    return made


def main() -> None:
    os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
    from proa import distributed as dist

    every = list(pairs(dist))
    limit = int(os.environ.get("PAIRS") or len(every))
    chosen = every if limit >= len(every) else random.Random(0).sample(every, limit)
    started = time.perf_counter()
    for name, mesh, shape, before, after in chosen:
        try:
            check(dist, mesh, shape, before, after)
        except Exception:
            print(f"{name} {shape}: {before} -> {after}")
            raise
    print(f"{len(chosen):,} of {len(every):,} pairs, {time.perf_counter() - started:.0f} s: all as NumPy cuts them")


if __name__ == "__main__":
    main()
