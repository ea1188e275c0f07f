"""One operation on ten million elements: sort, argsort, unique, searchsorted, nonzero, cumsum."""

from __future__ import annotations

from typing import Any

import numpy as np

OPERATIONS = ("sort", "argsort", "unique", "searchsorted", "nonzero", "cumsum")
DTYPES = ("float32", "int64")
SIZE = 10_000_000


def large_arrays(operation: str, dtype: str, size: int) -> list[np.ndarray]:
    """The operands, such that every framework can give the very same answer in reasonable time."""
    generator = np.random.default_rng(5)
    if operation == "cumsum":
        # Sums stay below 2**24: float32 holds them exactly, in whatever order they are added.
        return [generator.integers(0, 2, size).astype(dtype)]
    if operation == "unique":
        # Few different values: Paddle takes minutes for millions of them.
        return [generator.integers(0, 1000, size).astype(dtype)]
    if operation == "nonzero":
        return [generator.integers(0, 2, size).astype(dtype)]
    count = 2 if operation == "searchsorted" else 1
    if dtype == "float32":
        arrays = [generator.standard_normal(size, dtype=np.float32) for _ in range(count)]
    else:
        arrays = [generator.integers(-(2**40), 2**40, size) for _ in range(count)]
    return [np.sort(arrays[0]), arrays[1]] if count == 2 else arrays


class PaddleLarge:
    """The operation, then one element of its result."""

    def __init__(self, paddle: Any, operation: str, dtype: str, size: int = SIZE) -> None:
        self.operands = [paddle.to_tensor(array) for array in large_arrays(operation, dtype, size)]
        self.function = getattr(paddle, operation)

    def run(self) -> float:
        return float(self.function(*self.operands).reshape([-1])[-1])


class TorchLarge:
    """The same in PyTorch."""

    def __init__(self, torch: Any, operation: str, dtype: str, size: int = SIZE) -> None:
        self.operands = [torch.from_numpy(array) for array in large_arrays(operation, dtype, size)]
        self.function = {
            "sort": lambda x: torch.sort(x).values,
            "argsort": lambda x: torch.argsort(x, stable=True),
            "cumsum": lambda x: torch.cumsum(x, 0),
        }.get(operation) or getattr(torch, operation)

    def run(self) -> float:
        return float(self.function(*self.operands).reshape([-1])[-1])


FAMILIES = {"paddle": PaddleLarge, "torch": TorchLarge}
