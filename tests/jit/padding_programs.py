"""Random programs with unknown sizes, forward and backward: `python -m tests.jit.padding_programs --programs 2000`.

A program is a chain of steps on a tensor [batch, length, features] whose length changes on the way: it is cut, joined,
strided, flattened with the batch and taken apart again. Its results are the last tensor, a loss, and the gradients of the
loss in the input and in all weights.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

import proa as paddle
from proa import nn
from tests.jit.padding_harness import Padded

F = nn.functional
SIZES = ((3, 15), (2, 18), (4, 13), (1, 20))
BUCKET = {"b": 4, "t": 22}
_WIDTH = 6


class Chain:
    """The steps of one program; weights are made while it is put together, so that every run has the same."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.weights: list[Any] = []
        self.shrunk = 0
        self.names: list[str] = []
        self.steps: list[Callable[[Any], Any]] = []
        for _ in range(self.rng.integers(2, 7)):
            self._add(STEPS)
        self.loss = LOSSES[list(LOSSES)[self.rng.integers(len(LOSSES))]]

    def _add(self, table: dict[str, Any]) -> None:
        name = list(table)[self.rng.integers(len(table))]
        if name in SHRINKING:
            if self.shrunk == 2:
                return
            self.shrunk += 1
        self.names.append(name)
        self.steps.append(table[name](self))

    def weight(self, *shape: int) -> Any:
        made = paddle.to_tensor(self.rng.standard_normal(shape).astype("float32") * 0.4, stop_gradient=False)
        self.weights.append(made)
        return made

    def layer(self, layer: nn.Layer) -> Any:
        for parameter in layer.parameters():
            parameter.set_value(self.rng.standard_normal(parameter.shape).astype("float32") * 0.4)
            self.weights.append(parameter)
        return layer

    def __call__(self, x: Any) -> Any:
        y = x
        for step in self.steps:
            y = step(y)
        loss = self.loss(y)
        return y, loss, [g for g in paddle.grad(loss, [x, *self.weights], allow_unused=True) if g is not None]


def _heads(x: Any) -> Any:
    return x.reshape([x.shape[0], x.shape[1], 2, _WIDTH // 2])


def _attend(x: Any, causal: bool) -> Any:
    mixed = F.scaled_dot_product_attention(*[_heads(x)] * 3, is_causal=causal)
    return x + mixed.reshape([x.shape[0], x.shape[1], _WIDTH])


def _weighted(x: Any) -> Any:
    weights = F.softmax(x @ x.transpose([0, 2, 1]) * 0.3, axis=-1)
    return weights @ x


def _along_time(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: function(x.transpose([0, 2, 1])).transpose([0, 2, 1])


def _conv(chain: Chain, stride: int, dilation: int) -> Callable[[Any], Any]:
    weight = chain.weight(_WIDTH, _WIDTH, 3)
    return _along_time(lambda x: F.conv1d(x, weight, stride=stride, padding=dilation, dilation=dilation))


def _normed(chain: Chain) -> Callable[[Any], Any]:
    weight, bias = chain.weight(_WIDTH), chain.weight(_WIDTH)
    return lambda x: F.layer_norm(x, _WIDTH, weight, bias)


def _batch_normed(chain: Chain) -> Callable[[Any], Any]:
    weight, bias = chain.weight(_WIDTH), chain.weight(_WIDTH)
    mean, variance = paddle.zeros([_WIDTH]), paddle.ones([_WIDTH])
    return _along_time(lambda x: F.batch_norm(x, mean, variance, weight, bias, training=True))


def _linear(chain: Chain) -> Callable[[Any], Any]:
    weight, bias = chain.weight(_WIDTH, _WIDTH), chain.weight(_WIDTH)
    return lambda x: F.linear(x, weight, bias)


def _flattened(chain: Chain) -> Callable[[Any], Any]:
    weight = chain.weight(_WIDTH, _WIDTH)

    def step(x: Any) -> Any:
        rows = F.linear(x.reshape([-1, _WIDTH]), weight)
        return (rows - rows.mean(axis=0)).reshape([x.shape[0], x.shape[1], _WIDTH])

    return step


def _recurrent(chain: Chain) -> Callable[[Any], Any]:
    cells = chain.layer(nn.GRU(_WIDTH, _WIDTH // 2, direction="bidirect"))
    return lambda x: cells(x)[0]


STEPS: dict[str, Callable[[Chain], Callable[[Any], Any]]] = {
    "linear": _linear,
    "layer norm": _normed,
    "batch norm": _batch_normed,
    "gru": _recurrent,
    "flattened": _flattened,
    "conv": lambda chain: _conv(chain, 1, 1),
    "dilated conv": lambda chain: _conv(chain, 1, 2),
    "strided conv": lambda chain: _conv(chain, 2, 1),
    "gelu": lambda _: F.gelu,
    "tanh": lambda _: paddle.tanh,
    "relu": lambda _: lambda x: F.relu(x) + x * 0.1,
    "reciprocal": lambda _: lambda x: 1 / (x * x + 0.5),
    "dropout": lambda _: lambda x: F.dropout(x, 0.25),
    "noise": lambda _: lambda x: x + paddle.randn(x.shape) * 0.1,
    "attention": lambda _: lambda x: _attend(x, False),
    "causal attention": lambda _: lambda x: _attend(x, True),
    "weights by hand": lambda _: _weighted,
    "softmax": lambda _: lambda x: F.softmax(x, axis=1) * 4,
    "log softmax": lambda _: lambda x: F.log_softmax(x, axis=1) * 0.3,
    "without mean": lambda _: lambda x: x - x.mean(axis=1, keepdim=True),
    "without maximum": lambda _: lambda x: x - x.max(axis=1, keepdim=True),
    "by length": lambda _: lambda x: x / (x.norm(axis=1, keepdim=True) + 1),
    "by spread": lambda _: lambda x: x / (x.std(axis=[0, 1], keepdim=True) + 0.5),
    "running sum": lambda _: lambda x: x.cumsum(axis=1) * 0.2,
    "sorted": lambda _: lambda x: x.sort(axis=1),
    "flipped": lambda _: lambda x: x.flip([1]) + x * 0.5,
    "rolled": lambda _: lambda x: x.roll(2, 1) - x,
    "positive": lambda _: lambda x: paddle.where(x > 0, x, x * 0.3),
    "positions": lambda _: lambda x: x + paddle.arange(x.shape[1]).astype("float32").unsqueeze([0, 2]) * 0.05,
    "size": lambda _: lambda x: x * (1.0 / x.shape[1]) + x / x.shape[0],
    "without first": lambda _: lambda x: x[:, 1:],
    "without last": lambda _: lambda x: x[:, :-1],
    "every other": lambda _: lambda x: x[:, ::2],
    "last half": lambda _: lambda x: x[:, x.shape[1] // 2 :],
    "max pool": lambda _: _along_time(lambda x: F.max_pool1d(x, 3, 2, 1)),
    "mean pool": lambda _: _along_time(lambda x: F.avg_pool1d(x, 3, 2, 1)),
    "longer": lambda _: lambda x: paddle.concat([x, x * 0.5], axis=1),
    "with front": lambda _: lambda x: paddle.concat([x[:, :1] * 2, x], axis=1),
    "with border": lambda _: _along_time(lambda x: F.pad(x, [1, 2], value=0.2, data_format="NCL")),
    "split": lambda _: lambda x: paddle.concat(paddle.split(x, [2, x.shape[1] - 2], axis=1)[::-1], axis=1),
}
SHRINKING = frozenset({"every other", "strided conv", "last half", "max pool", "mean pool"})


def _labelled(x: Any) -> Any:
    labels = (x.detach() * 7).round().astype("int64").sum(axis=-1) % _WIDTH
    return F.cross_entropy(x.reshape([-1, _WIDTH]), labels.reshape([-1]))


LOSSES: dict[str, Callable[[Any], Any]] = {
    "squares": lambda x: (x * x).mean(),
    "cosines": lambda x: x.cos().sum(axis=[1, 2]).mean(),
    "cross entropy": _labelled,
    "next": lambda x: (x[:, 1:] - x[:, :-1]).abs().reshape([-1]).mean() if x.shape[1] > 1 else x.sum(),
    "largest": lambda x: x.logsumexp(axis=[1, 2]).mean(),
}


def run(seed: int, compiled: bool = False) -> tuple[Padded, Chain]:
    """One program, at several sizes; AssertionError where padding changes a result."""
    paddle.seed(seed)
    chain = Chain(seed)
    program = Padded(chain, [("bt6", "f")], {"b": 3, "t": 16})
    for number, (batch, length) in enumerate(SIZES):
        sizes = {"b": batch, "t": length}
        program.check(sizes, BUCKET, 10 * seed + number, compiled and number == 1, tolerance=2e-4)
    return program, chain


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--compiled", action="store_true", help="run one size of each compiled")
    given = parser.parse_args()
    wrong, refused = 0, 0
    for seed in range(given.first, given.first + given.programs):
        try:
            program, chain = run(seed, given.compiled)
        except Exception as error:
            wrong += 1
            names = Chain(seed).names
            print(f"seed {seed}: {' / '.join(names)}\n  {type(error).__name__}: {str(error).strip()[:400]}")
            continue
        if program.padded != "bt":
            refused += 1
            print(
                f"seed {seed} pads {program.padded!r}: {' / '.join(chain.names)}\n  {'; '.join(program.plan.reasons)}"
            )
    print(f"{given.programs} programs, {wrong} wrong, {refused} not padded in all sizes")


if __name__ == "__main__":
    main()
