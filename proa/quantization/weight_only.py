"""Linear layers whose weight is kept in few bits, and the factors that protect what large inputs are multiplied with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..eager.tensor import Tensor, tensor_from_data
from ..nn.layer import Layer
from ..nn.quant.weights import weight_dequantize, weight_only_linear, weight_quantize

_POWERS = np.linspace(0.0, 1.0, 11)
_MOST_ROWS = 512  # of a layer's inputs that are kept to compare outputs with


class WeightOnlyLinear(Layer):
    """x @ weight + bias, with the weight in 8 or 4 bits; `factors` divide the inputs and were multiplied into the weight."""

    def __init__(self, layer: Any, bits: int = 8, group_size: int = -1, factors: Any = None) -> None:
        super().__init__()
        self.training = layer.training
        self._bits, self._group_size = bits, group_size
        self.in_features, self.out_features = (int(size) for size in layer.weight.shape)
        weight = layer.weight.detach()
        self._dtype = str(weight.dtype).rpartition(".")[2]
        if factors is not None:
            weight = weight * tensor_from_data(np.asarray(factors, self._dtype)[:, None])
        numbers, scales = weight_quantize(weight, f"weight_only_int{bits}", group_size=group_size)
        self.register_buffer("quant_weight", numbers)
        self.register_buffer("weight_scale", scales.astype(self._dtype))
        inverse = None if factors is None else tensor_from_data((1.0 / np.asarray(factors)).astype(self._dtype))
        self.register_buffer("input_factors", inverse)
        self.bias = layer.bias

    @staticmethod
    def fits(layer: Any, bits: int, group_size: int) -> bool:
        """Whether the weight divides into groups of inputs, and pairs of outputs."""
        inputs, outputs = layer.weight.shape
        return (group_size < 0 or inputs % group_size == 0) and (bits == 8 or outputs % 2 == 0)

    def forward(self, x: Tensor) -> Tensor:
        if self.input_factors is not None:
            x = x * self.input_factors  # type: ignore[operator]
        return weight_only_linear(
            x, self.quant_weight, self.bias, self.weight_scale, f"int{self._bits}", group_size=self._group_size
        )

    def extra_repr(self) -> str:
        return f"{self.in_features}, {self.out_features}, bits={self._bits}, group_size={self._group_size}"


class _Watched:
    """Rows of a layer's inputs, and how large each input is on average."""

    def __init__(self) -> None:
        self.rows: list[np.ndarray] = []
        self.num_rows = 0
        self.sums: Any = 0.0
        self.count = 0

    def __call__(self, layer: Any, inputs: Any) -> None:
        rows = np.asarray(inputs[0].numpy(), np.float32).reshape(-1, inputs[0].shape[-1])
        self.sums = self.sums + np.abs(rows).sum(axis=0, dtype=np.float64)
        self.count += len(rows)
        if self.num_rows < _MOST_ROWS:
            self.rows.append(rows[: _MOST_ROWS - self.num_rows])
            self.num_rows += len(self.rows[-1])


def input_factors(layers: dict[str, Any], run: Callable[[], None], bits: int, group_size: int) -> dict[str, np.ndarray]:
    """For each layer that was called: the factors of its inputs with which rounded weights change its outputs least."""
    watched = {name: _Watched() for name in layers}
    hooks = [layer.register_forward_pre_hook(watched[name]) for name, layer in layers.items()]
    try:
        run()
    finally:
        for hook in hooks:
            hook.remove()
    found = {}
    for name, layer in layers.items():
        seen = watched[name]
        if seen.count:
            found[name] = _best(layer, np.concatenate(seen.rows), seen.sums / seen.count, bits, group_size)
    return found


def _best(layer: Any, rows: np.ndarray, sizes: np.ndarray, bits: int, group_size: int) -> np.ndarray:
    weight = np.asarray(layer.weight.numpy(), np.float32)
    wanted = rows @ weight
    best, least = np.ones(len(weight), np.float32), np.inf
    for power in _POWERS:
        factors = np.maximum(sizes, 1e-6 * max(float(sizes.max()), 1e-30)) ** power
        factors = (factors / np.sqrt(factors.max() * factors.min())).astype(np.float32)
        made = weight_quantize(
            tensor_from_data(weight * factors[:, None]), f"weight_only_int{bits}", group_size=group_size
        )
        rounded = weight_dequantize(*made, f"weight_only_int{bits}", "float32", group_size).numpy()
        error = float(((rows / factors @ rounded - wanted) ** 2).mean())
        if error < least:
            best, least = factors, error
    return best
