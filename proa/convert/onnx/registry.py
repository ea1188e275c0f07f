"""Which function translates which operator of ONNX.

    @reads("Gather")
    def gather(x: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor: ...

Inputs come by position and attributes by name, as annotations say (`formats/paddle/reading/registry.py`); `opset` is the
version of the operator set that the model was written for, for operators that changed. Operators of another domain have it
in front of their names: "com.microsoft.FusedMatMul".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...formats.paddle.reading.registry import Reader

READERS: dict[str, Reader] = {}


def reads(*names: str, creates: bool = False, translates_blocks: bool = False) -> Callable[[Any], Any]:
    """Registers a function as the translator of ONNX's operators of these names.

    `creates`: the result's size comes from the values of the inputs (a shape), so it is never computed while reading.
    `translates_blocks`: the function gets the translation, the node and its inputs as they are held.
    """

    def register(function: Any) -> Any:
        for name in names:
            READERS[name] = Reader(function, creates, translates_blocks)
        return function

    return register


__all__ = ["READERS", "reads"]
