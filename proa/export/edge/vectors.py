"""Inputs, and the results that are right for them, as plain files that any language reads.

`check.txt` has a line for each array: `input|output NAME TYPE FILE SIZE SIZE …`; the files hold the numbers, little-endian,
row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...core.errors import value_error
from ..models import Port

TYPES = ("float32", "float64", "int32", "int64", "uint8", "int8", "bool")
TOLERANCE = 1e-3  # largest difference allowed, beside the largest number of a result


def made_up(where: str, ports: Sequence[Port], shapes: Sequence[Sequence[int]] | None) -> dict[str, np.ndarray]:
    """Inputs with fixed pseudo-random numbers. A free size is 1, unless `shapes` says another."""
    if shapes is not None and len(shapes) != len(ports):
        raise value_error(where, f"the model has {len(ports)} inputs", f"{len(shapes)} shapes")
    generator = np.random.default_rng(2024)
    made = {}
    for number, port in enumerate(ports):
        shape = [size or 1 for size in port.shape] if shapes is None else list(shapes[number])
        fits = len(shape) == len(port.shape) and all(b in (None, a) for a, b in zip(shape, port.shape))
        if not fits or min(shape, default=1) < 1:
            raise value_error(where, f"{port.name} has the shape {list(port.shape)}", f"{shape}")
        if port.type not in TYPES:
            raise value_error(where, f"{port.name} has a type that devices are not fed with", port.type)
        dtype = np.dtype(port.type)
        made[port.name] = (
            generator.uniform(-1, 1, shape).astype(dtype)
            if dtype.kind == "f"
            else generator.integers(0, 2, shape).astype(dtype)
        )
    return made


def write_vectors(folder: Path, inputs: dict[str, np.ndarray], outputs: dict[str, np.ndarray]) -> None:
    lines = []
    for kind, arrays in (("input", inputs), ("output", outputs)):
        for number, (name, array) in enumerate(arrays.items()):
            if any(space in name for space in " \t\n"):
                raise value_error("export edge", "names with spaces cannot be written down", repr(name))
            file = f"{kind}_{number}.bin"
            (folder / file).write_bytes(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes())
            lines.append(" ".join([kind, name, array.dtype.name, file, *map(str, array.shape)]))
    (folder / "check.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def difference(found: np.ndarray, right: np.ndarray) -> float:
    """The largest difference, beside the largest number; infinite where shapes or numbers make no sense."""
    if found.shape != right.shape or found.dtype != right.dtype:
        return float("inf")
    if right.dtype.kind != "f":
        return 0.0 if np.array_equal(found, right) else float("inf")
    if not right.size:
        return 0.0
    gap = np.abs(found.astype(np.float64) - right).max() / max(1e-6, np.abs(right).max())
    return float(gap) if np.isfinite(gap) else float("inf")
