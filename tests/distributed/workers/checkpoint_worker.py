"""One process of the checkpoint tests: saves or loads tensors spread over a mesh and says in JSON what it found.

checkpoint_worker.py RANK PROCESSES PORT FOLDER COMMAND ...      save 2x4 | load 8x1 4x2 1x1
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import numpy as np


def main() -> None:
    rank, processes, port, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    import jax

    jax.config.update("jax_enable_x64", True)  # as proa does when it starts JAX itself
    if processes > 1:
        jax.distributed.initialize(f"127.0.0.1:{port}", processes, rank)
    report: dict[str, Any] = {}
    for words in " ".join(sys.argv[5:]).split("/"):
        command, *meshes = words.split()
        for mesh in meshes:
            report[f"{command} {mesh}"] = COMMANDS[command](folder, mesh)
    print(json.dumps(report))


def values() -> dict[str, np.ndarray]:
    """What every process knows to be saved: shapes that divide by 8 and ones that do not, all kinds of types."""
    import ml_dtypes

    random = np.random.default_rng(5)
    return {
        "both": random.normal(size=(16, 24)).astype("float32"),
        "rows": random.normal(size=(8, 3)).astype("float64"),
        "columns": random.integers(-9, 9, size=(3, 16)).astype("int64"),
        "half": random.normal(size=(16, 8)).astype(ml_dtypes.bfloat16),
        "whole": random.normal(size=(5, 7)).astype("float32"),
        "scalar": np.array(2.5, "float32"),
        "empty": np.zeros((0, 8), "float32"),
    }


SPECS = {"both": ("a", "b"), "rows": ("a",), "columns": (None, "b"), "half": (("a", "b"),), "empty": (None, "b")}


def spread(name: str, array: np.ndarray, mesh: str) -> Any:
    """The array over a mesh such as `2x4`; on `1x1` an ordinary one."""
    import jax

    rows, columns = map(int, mesh.split("x"))
    if rows * columns == 1:
        return array
    devices = np.array(jax.devices()[: rows * columns]).reshape(rows, columns)
    spec = jax.sharding.PartitionSpec(*SPECS.get(name, ()))
    sharding = jax.sharding.NamedSharding(jax.sharding.Mesh(devices, ("a", "b")), spec)
    return jax.make_array_from_callback(array.shape, sharding, lambda index: array[index])


def state(arrays: dict[str, np.ndarray], mesh: str) -> dict[str, Any]:
    import proa as paddle

    tensors = {name: paddle.to_tensor(spread(name, array, mesh)) for name, array in arrays.items()}
    return {"model": tensors, "step": 7}


def save(folder: str, mesh: str, **options: Any) -> dict[str, Any]:
    import proa.distributed as dist

    dist.save_state_dict(state(values(), mesh), folder, **options)
    return {"files": sorted(os.listdir(folder))}


def save_in_background(folder: str, mesh: str) -> dict[str, Any]:
    from proa.framework.io import clear_async_save_task_queue

    save(folder, mesh, async_save=True)
    clear_async_save_task_queue()
    return {"files": sorted(os.listdir(folder))}


def save_on_a_full_disk(folder: str, mesh: str) -> dict[str, Any]:
    """Process 1 cannot write: everybody must be told."""
    import jax

    from proa.distributed.checkpoint import files

    write = files.write
    if jax.process_index() == 1:
        files.write = lambda *_: (_ for _ in ()).throw(OSError("disk full"))  # type: ignore[assignment]
    try:
        save(folder, mesh)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    finally:
        files.write = write
    return {"error": None}


def load(folder: str, mesh: str) -> dict[str, Any]:
    import proa.distributed as dist

    found = state({name: np.zeros_like(array) for name, array in values().items()}, mesh)
    placements = {name: tensor._data() for name, tensor in found["model"].items()}
    found["step"] = 0
    dist.load_state_dict(found, folder)
    different = []
    for name, array in values().items():
        data = found["model"][name]._data()
        blocks = (
            [(shard.index, shard.data) for shard in data.addressable_shards]
            if hasattr(data, "sharding")
            else [((), data)]
        )
        same_bits = all(np.asarray(block).tobytes() == array[index].tobytes() for index, block in blocks)
        same_place = getattr(data, "sharding", None) == getattr(placements[name], "sharding", None)
        if not same_bits or not same_place or data.dtype != array.dtype:
            different.append(name)
    return {"different": different, "step": found["step"]}


COMMANDS = {
    "save": save,
    "load": load,
    "save-in-background": save_in_background,
    "save-on-full-disk": save_on_a_full_disk,
}


if __name__ == "__main__":
    main()
