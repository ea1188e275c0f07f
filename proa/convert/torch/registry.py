"""Which function translates which ATen operator.

    @reads("transpose")          # aten.transpose.int and every other form
    @reads("max.dim")            # this form only

A function takes the operator's arguments in ATen's order: tensors as tensors, sizes as numbers, data types as our names.
What only says where or how a tensor lies in memory (device, layout, memory_format) is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

READERS: dict[str, Callable[..., Any]] = {}


def reads(*names: str) -> Callable[[Any], Any]:
    """Registers a function as the translator of ATen operators of these names."""

    def register(function: Any) -> Any:
        for name in names:
            READERS[name] = function
        return function

    return register


def find_reader(target: str) -> Callable[..., Any] | None:
    """`aten.max.dim` is looked for as "max.dim", then as "max"; operators of other libraries by their full names."""
    name = target.removeprefix("aten.")
    return READERS.get(name) or READERS.get(name.rpartition(".")[0] if name.count(".") else name)


__all__ = ["READERS", "find_reader", "reads"]
