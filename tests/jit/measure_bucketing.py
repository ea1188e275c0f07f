"""Measures 200 calls of 40 sizes: `python -m tests.jit.measure_bucketing`.

Prints, for a masked transformer encoder and for a model that works element by element, how many programs were compiled
and how long the calls after the first round took. The machine may be busy, so beside the slowest call there is the
slowest size: the best of its calls.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import proa as paddle
from proa import nn
from proa.static import InputSpec

_SIZES, _CALLS = 40, 200


class Encoder(nn.Layer):
    """Words and their places through two encoder layers; words of number 0 are masked."""

    def __init__(self, width: int = 128) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(1000, width), nn.Embedding(512, width)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0), 2)
        self.out = nn.Linear(width, 10)

    def forward(self, words: Any) -> Any:
        mask = (words == 0).astype("float32").unsqueeze([1, 2]) * -1e9
        h = self.words(words) + self.places(paddle.arange(words.shape[1]))
        return self.out(self.encoder(h, mask).mean(axis=1))


def measure(name: str, static: Any, make: Any, sizes: np.ndarray) -> tuple[int, float, float]:
    """Number of programs; slowest call and slowest size in medians."""
    seconds: dict[int, list[float]] = {int(size): [] for size in sizes}
    with paddle.no_grad():
        for call in range(_CALLS):
            size = int(sizes[call % len(sizes)])
            argument = make(size)
            started = time.perf_counter()
            static(argument).numpy()
            if call >= len(sizes):
                seconds[size].append(time.perf_counter() - started)
    every = [second for several in seconds.values() for second in several]
    median = float(np.median(every))
    slowest, slowest_size = max(every) / median, max(min(several) for several in seconds.values()) / median
    programs = static.concrete_program.run.num_programs
    print(
        f"{name}: {_CALLS} calls, {len(sizes)} sizes, {programs} programs, median {1e3 * median:.2f} ms, slowest call "
        f"{slowest:.2f} x the median, slowest size {slowest_size:.2f} x"
    )
    print(static.explain())
    return programs, slowest, slowest_size


def main() -> None:
    rng = np.random.default_rng(0)
    encoder = Encoder()
    encoder.eval()
    static = paddle.jit.to_static(encoder, input_spec=[InputSpec([4, None], "int64")], full_graph=True).forward
    sizes = rng.permutation(np.arange(64, 64 + 3 * _SIZES, 3))
    measure("encoder", static, lambda n: paddle.to_tensor(rng.integers(0, 1000, (4, n))), sizes)
    model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
    model.eval()
    batch = paddle.jit.to_static(model, input_spec=[InputSpec([None, 64])], full_graph=True).forward
    sizes = rng.permutation(np.arange(100, 100 + 5 * _SIZES, 5))
    measure("pointwise", batch, lambda n: paddle.to_tensor(rng.standard_normal((n, 64)).astype("float32")), sizes)


if __name__ == "__main__":
    main()
