"""A Paddle model in memory: what `.pdmodel` and PIR `.json` files have in common.

Operations have the names, operand order and attribute names of Paddle's newer format (PIR, without the `pd_op.` in
front: "conv2d", "matmul", "batch_norm_"); the older format is translated from and to them when files are read and
written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(eq=False)
class Value:
    """Something that an operation makes or takes. `shape` has -1 for unknown dimensions; None means not known at all."""

    name: str
    dtype: str = "float32"  # our names: float32, int64, bool, bfloat16 …
    shape: tuple[int, ...] | None = None
    trainable: bool = field(
        default=True, kw_only=True
    )  # of a parameter: whether it has a gradient, where it can have one


@dataclass(eq=False)
class Op:
    """One operation. An input is a Value, None (absent) or a list of Values (a tensor array operand)."""

    name: str
    inputs: list[Any] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)
    outputs: list[Any] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)  # of conditions and loops

    def __str__(self) -> str:
        return self.name


@dataclass(eq=False)
class Block:
    """Operations in order; `arguments` are the Values a loop body starts with, `results` what it ends with."""

    ops: list[Op] = field(default_factory=list)
    arguments: list[Value] = field(default_factory=list)
    results: list[Value] = field(default_factory=list)


@dataclass(eq=False)
class Model:
    """Inputs in order, parameters with their numbers, operations, and which values are the results."""

    inputs: list[Value]
    parameters: dict[str, np.ndarray]  # by name; bfloat16 as ml_dtypes.bfloat16
    parameter_values: dict[str, Value]
    block: Block
    outputs: list[Value]
    version: int = 0
    offsets: dict[str, int] = field(default_factory=dict)  # where in the parameters' file the numbers of each begin
