"""Whole short programs whose shapes move: what compiles anything that does not pay back is slow here.

    python benchmarks/workloads/dynamic.py MODULE ROW    # runs one of them with a module that has Paddle's API

Each row is a function of the module; the script prints one line of JSON: seconds of the row alone, a number that both
modules must agree on, and how many programs were compiled.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.random  # (loaded when first used; Paddle loads it when it is imported)

ROWS: dict[str, Callable[[Any], float]] = {}


def row(function: Callable[[Any], float]) -> Callable[[Any], float]:
    ROWS[function.__name__.replace("_", "-")] = function
    return function


def trained(paddle: Any, net: Any, batches: Any, loss_of: Any) -> float:
    """Plain training; the last loss."""
    optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    value = 0.0
    for batch in batches:
        loss = loss_of(net, batch)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        value = float(loss)
    return value


def classified(paddle: Any) -> Callable[[Any, Any], Any]:
    return lambda net, batch: paddle.nn.functional.cross_entropy(
        net(paddle.to_tensor(batch[0])), paddle.to_tensor(batch[1])
    )


def sentences(steps: int, size: int, vocabulary: int, classes: int, longest: int = 80) -> Any:
    random = np.random.default_rng(1)
    for _ in range(steps):
        length = int(random.integers(8, longest))
        yield random.integers(0, vocabulary, (size, length)), random.integers(0, classes, size)


def pictures() -> Any:
    random = np.random.default_rng(2)
    for _ in range(80):
        high, wide = (int(random.integers(6, 16)) * 16 for _ in range(2))
        yield random.normal(size=(2, 3, high, wide)).astype("float32")


def token_batches() -> Any:
    random = np.random.default_rng(4)
    return (random.integers(0, 500, (4, int(random.integers(17, 97)))) for _ in range(200))


def graph_samples() -> Any:
    """Sampled neighbourhoods: features of nodes, both ends of edges, labels."""
    random = np.random.default_rng(5)
    features = random.normal(size=(2000, 32)).astype("float32")
    edges = random.integers(0, 2000, (2, 12000))
    for _ in range(150):
        nodes = np.unique(random.integers(0, 2000, int(random.integers(100, 400))))
        number = np.full(2000, -1)
        number[nodes] = np.arange(len(nodes))
        kept = edges[:, (number[edges] >= 0).all(0)]
        yield features[nodes], number[kept[0]], number[kept[1]], nodes % 4


def episode_states(random: Any) -> Any:
    """The states of an episode, whose number is random."""
    state = random.normal(size=4).astype("float32")
    for _ in range(int(random.integers(10, 60))):
        yield state
        state = (0.9 * state + 0.1 * random.normal(size=4)).astype("float32")


@row
def text_lstm(paddle: Any) -> float:
    """Sentences of another length at each of 100 steps."""
    nn = paddle.nn

    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(2000, 64)
            self.lstm = nn.LSTM(64, 96, direction="bidirect")
            self.head = nn.Linear(192, 2)

        def forward(self, x: Any) -> Any:
            return self.head(self.lstm(self.embedding(x))[0].mean(axis=1))

    return trained(paddle, Net(), sentences(100, 16, 2000, 2), classified(paddle))


@row
def text_cnn(paddle: Any) -> float:
    """The same with convolutions of three widths, 200 steps."""
    nn = paddle.nn

    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(2000, 64)
            self.convolutions = nn.LayerList([nn.Conv1D(64, 64, k, padding=k // 2) for k in (3, 5, 7)])
            self.head = nn.Linear(192, 2)

        def forward(self, x: Any) -> Any:
            x = self.embedding(x).transpose([0, 2, 1])
            parts = [nn.functional.relu(c(x)).max(axis=2) for c in self.convolutions]
            return self.head(paddle.concat(parts, axis=1))

    return trained(paddle, Net(), sentences(200, 16, 2000, 2), classified(paddle))


@row
def detector(paddle: Any) -> float:
    """Pictures of another size at each of 80 steps."""
    nn = paddle.nn
    net = nn.Sequential(
        nn.Conv2D(3, 16, 3, stride=2, padding=1), nn.BatchNorm2D(16), nn.ReLU(),
        nn.Conv2D(16, 32, 3, stride=2, padding=1), nn.BatchNorm2D(32), nn.ReLU(),
        nn.Conv2D(32, 32, 3, padding=1), nn.BatchNorm2D(32), nn.ReLU(), nn.Conv2D(32, 9, 1),
    )  # fmt: skip

    def loss_of(net: Any, batch: Any) -> Any:
        out = net(paddle.to_tensor(batch))
        boxes, scores = out[:, :4], nn.functional.sigmoid(out[:, 4:])
        return boxes.abs().mean() + (scores**2).mean()

    return trained(paddle, net, pictures(), loss_of)


def decoder(paddle: Any, layers: int = 2, width: int = 128) -> Any:
    nn = paddle.nn

    class Block(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
            self.joined, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any, past: Any = None) -> tuple[Any, Any]:
            batch, length = x.shape[0], x.shape[1]
            q, k, v = self.joined(self.first(x)).reshape([batch, length, 3, 4, width // 4]).unbind(2)
            if past is not None:
                k, v = paddle.concat([past[0], k], axis=1), paddle.concat([past[1], v], axis=1)
            mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=past is None)
            x = x + self.out(mixed.reshape([batch, length, width]))
            return x + self.down(nn.functional.gelu(self.up(self.second(x)))), (k, v)

    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(500, width), nn.Embedding(512, width)
            self.blocks = nn.LayerList([Block() for _ in range(layers)])
            self.head = nn.Linear(width, 500)

        def forward(self, x: Any, past: Any = None, start: int = 0) -> tuple[Any, Any]:
            h = self.tokens(x) + self.places(paddle.arange(start, start + x.shape[1]))
            kept = []
            for number, block in enumerate(self.blocks):
                h, cache = block(h, None if past is None else past[number])
                kept.append(cache)
            return self.head(h), kept

    return Net()


@row
def cached_decoding(paddle: Any) -> float:
    """30 tokens, one after the other, with a cache that grows; three times."""
    net = decoder(paddle)
    net.eval()
    total = 0.0
    with paddle.no_grad():
        for _ in range(3):
            token, past = paddle.to_tensor(np.array([[3]])), None
            for place in range(30):
                logits, past = net(token, past, place)
                token = logits[:, -1].argmax(-1, keepdim=True)
                total += token.item()
    return total


@row
def masks(paddle: Any) -> float:
    """Rows chosen by value, sorted, summed, 200 times."""
    random = np.random.default_rng(3)
    total = 0.0
    for _ in range(200):
        g = paddle.to_tensor(random.normal(size=(50, 3)).astype("float32"))
        z = g[g[:, 0] > float(random.normal() * 0.3)]
        z = z[z[:, 1].argsort()]
        total += float(z[:3].sum())
    return total


@row
def gpt_lengths(paddle: Any) -> float:
    """A language model of four layers, another length at each of 200 steps."""
    net = decoder(paddle, layers=4)

    def loss_of(net: Any, tokens: Any) -> Any:
        logits, _ = net(paddle.to_tensor(tokens[:, :-1]))
        return paddle.nn.functional.cross_entropy(logits, paddle.to_tensor(tokens[:, 1:]))

    return trained(paddle, net, token_batches(), loss_of)


@row
def beam_search(paddle: Any) -> float:
    """Four beams, 20 tokens without a cache, five times."""
    net = decoder(paddle)
    net.eval()
    total = 0.0
    with paddle.no_grad():
        for start in range(5):
            beams, scores = paddle.full([1, 1], start, "int64"), paddle.zeros([1])
            for _ in range(20):
                logits, _ = net(beams)
                chances = paddle.nn.functional.log_softmax(logits[:, -1], axis=-1) + scores.unsqueeze(-1)
                scores, places = chances.flatten().topk(4)
                beams = paddle.concat([beams[places // 500], (places % 500).unsqueeze(-1)], axis=1)
            total += float(scores[0])
    return total


@row
def graph_batches(paddle: Any) -> float:
    """Message passing on sampled neighbourhoods, 150 steps."""
    nn = paddle.nn

    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(64, 64), nn.Linear(64, 4)

        def forward(self, x: Any, source: Any, target: Any) -> Any:
            sums = paddle.zeros_like(x).scatter_(target, x.gather(source), overwrite=False)
            return self.second(nn.functional.relu(self.first(paddle.concat([x, sums], axis=1))))

    def loss_of(net: Any, batch: Any) -> Any:
        x, source, target, labels = (paddle.to_tensor(part) for part in batch)
        return nn.functional.cross_entropy(net(x, source, target), labels)

    return trained(paddle, Net(), graph_samples(), loss_of)


@row
def policy_gradient(paddle: Any) -> float:
    """Episodes of another length: an action at a time, then one update; 40 episodes."""
    nn = paddle.nn
    net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
    random = np.random.default_rng(6)
    value = 0.0
    for _ in range(40):
        chances: list[Any] = []
        for state in episode_states(random):
            logs = nn.functional.log_softmax(net(paddle.to_tensor(state)))
            chances.append(logs[int(random.random() < float(logs[1].exp()))])
        returns = np.arange(len(chances), 0, -1, dtype="float32") / len(chances)
        loss = -(paddle.stack(chances) * paddle.to_tensor(returns)).sum()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        value = float(loss)
    return value


# ---- short scripts, whole processes --------------------------------------------------------------


@row
def matrix_page(paddle: Any) -> float:
    """A page of small matrix work, as in a notebook."""
    random = np.random.default_rng(7)
    a = paddle.to_tensor(random.normal(size=(6, 6)).astype("float32"))
    b = a @ a.T + paddle.eye(6)
    total = 0.0
    for matrix in (b, paddle.inverse(b), b.T, b[:4, :4], paddle.linalg.cholesky(b)):
        total += float(matrix.trace()) + float(paddle.linalg.norm(matrix))
        total += float((matrix * 2 + 1).mean()) + float(matrix.max()) + float(matrix.sum(axis=0)[0])
    for _ in range(20):
        total += float(paddle.nn.functional.softmax(a[0] * float(total % 3)).max())
    return total


@row
def mlp_200(paddle: Any) -> float:
    nn = paddle.nn
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
    random = np.random.default_rng(8)
    batches = ((random.normal(size=(64, 64)).astype("float32"), random.integers(0, 10, 64)) for _ in range(200))
    return trained(paddle, net, batches, classified(paddle))


@row
def lenet_100(paddle: Any) -> float:
    net = paddle.vision.models.LeNet()
    random = np.random.default_rng(9)
    batches = ((random.normal(size=(64, 1, 28, 28)).astype("float32"), random.integers(0, 10, 64)) for _ in range(100))
    return trained(paddle, net, batches, classified(paddle))


@row
def lstm_60(paddle: Any) -> float:
    nn = paddle.nn

    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.embedding, self.lstm, self.head = nn.Embedding(200, 32), nn.LSTM(32, 32), nn.Linear(32, 2)

        def forward(self, x: Any) -> Any:
            return self.head(self.lstm(self.embedding(x))[0][:, -1])

    return trained(paddle, Net(), sentences(60, 8, 200, 2, 40), classified(paddle))


def main() -> None:
    module, name = sys.argv[1:]
    started = time.perf_counter()
    paddle = importlib.import_module(module)
    imported = time.perf_counter()
    value = ROWS[name](paddle)
    finished = time.perf_counter()
    compiled = importlib.import_module("proa.ir.report").STATISTICS.compiles if module == "proa" else 0
    print(
        json.dumps({"import": imported - started, "seconds": finished - imported, "value": value, "programs": compiled})
    )


if __name__ == "__main__":
    main()
