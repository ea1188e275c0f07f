"""Small models for the tests of serving, with NumPy functions that say what they give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

import proa as paddle

Reference = Callable[[np.ndarray], np.ndarray]


class _Dense(paddle.nn.Layer):
    def __init__(self, seed: int) -> None:
        super().__init__()
        paddle.seed(seed)
        self.linear = paddle.nn.Linear(4, 3)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return paddle.tanh(self.linear(x))


class _Two(paddle.nn.Layer):
    """Two inputs of different kinds, two outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.table = paddle.nn.Embedding(10, 4)

    def forward(self, words: paddle.Tensor, flags: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor]:
        found = self.table(words) * flags.astype("float32").unsqueeze(-1)
        return found.sum(axis=1), words + 1


class _Mixing(paddle.nn.Layer):
    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return x - x.mean(axis=0, keepdim=True)


def _saved(layer: paddle.nn.Layer, path: Path, specs: list[paddle.static.InputSpec]) -> None:
    layer.eval()
    path.parent.mkdir(parents=True, exist_ok=True)
    paddle.jit.save(layer, str(path), input_spec=specs)


def save_dense(path: Path, seed: int = 1) -> Reference:
    """float32[-1, 4] -> float32[-1, 3]; a .proa file or Paddle's, as the path says."""
    layer = _Dense(seed)
    _saved(layer, path, [paddle.static.InputSpec([None, 4], "float32", "x")])
    weight, bias = layer.linear.weight.numpy().astype(np.float64), layer.linear.bias.numpy().astype(np.float64)
    return lambda x: np.tanh(x.astype(np.float64) @ weight + bias)


def save_two(path: Path) -> Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """int64[-1, 5] and bool[-1, 5] -> float32[-1, 4] and int64[-1, 5]."""
    layer = _Two()
    specs = [paddle.static.InputSpec([None, 5], "int64", "words"), paddle.static.InputSpec([None, 5], "bool", "flags")]
    _saved(layer, path, specs)
    table = layer.table.weight.numpy().astype(np.float64)
    return lambda words, flags: ((table[words] * flags[..., None]).sum(1), words + 1)


class _Halves(paddle.nn.Layer):
    def forward(self, half: paddle.Tensor, brain: paddle.Tensor, pixels: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        return half * 2, brain * 2, pixels + 1, pixels.astype("float64") / 2


def save_types(path: Path) -> None:
    """float16, bfloat16 and uint8 in; twice the first two, one more than the last, and its half as float64."""
    types = {"half": "float16", "brain": "bfloat16", "pixels": "uint8"}
    _saved(_Halves(), path, [paddle.static.InputSpec([None, 3], dtype, name) for name, dtype in types.items()])


def save_mixing(path: Path) -> Reference:
    """Rows that depend on each other."""
    _saved(_Mixing(), path, [paddle.static.InputSpec([None, 4], "float32", "x")])
    return lambda x: x - x.mean(0, keepdims=True)


def numbers(rows: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((rows, 4)).astype(np.float32)
