"""What torch gives for the same program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .reading import array_of, require_torch


class Reference:
    """The exported program itself, run by torch."""

    def __init__(self, program: Any) -> None:
        self.torch = require_torch()
        self.program = program
        self.module = program.module()
        self.title = f"PyTorch {self.torch.__version__}"

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Arrays stand for the tensors among the inputs, in their order; plain numbers stay as they were exported."""
        torch = self.torch
        leaves, form = torch.utils._pytree.tree_flatten(self._example())
        given = iter(arrays)
        filled = [self._tensor(next(given)) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        positional, named = torch.utils._pytree.tree_unflatten(filled, form)
        with torch.no_grad():
            results = self.module(*positional, **named)
        found = torch.utils._pytree.tree_leaves(results)
        return [array_of(one) for one in found if isinstance(one, torch.Tensor)]

    def _example(self) -> Any:
        if self.program.example_inputs is None:
            raise ValueError("(convert) the program does not hold the inputs that it was exported with.")
        return self.program.example_inputs

    def _tensor(self, array: np.ndarray) -> Any:
        if array.dtype.name == "bfloat16":
            return self.torch.from_numpy(array.view(np.uint16).copy()).view(self.torch.bfloat16)
        return self.torch.from_numpy(np.array(array))


__all__ = ["Reference"]
