"""The rows of `dynamic.py`, as PyTorch programs.

python benchmarks/workloads/in_torch/dynamic.py torch ROW
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from benchmarks.workloads.dynamic import episode_states, graph_samples, pictures, sentences, token_batches

ROWS: dict[str, Callable[[Any], float]] = {}


def row(function: Callable[[Any], float]) -> Callable[[Any], float]:
    ROWS[function.__name__.replace("_", "-")] = function
    return function


def trained(torch: Any, net: Any, batches: Iterable[Any], loss_of: Callable[[Any, Any], Any]) -> float:
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    value = 0.0
    for batch in batches:
        loss = loss_of(net, batch)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        value = loss.item()
    return value


def classified(torch: Any) -> Callable[[Any, Any], Any]:
    return lambda net, batch: torch.nn.functional.cross_entropy(
        net(torch.from_numpy(batch[0])), torch.from_numpy(batch[1])
    )


@row
def text_lstm(torch: Any) -> float:
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(2000, 64)
            self.lstm = nn.LSTM(64, 96, bidirectional=True, batch_first=True)
            self.head = nn.Linear(192, 2)

        def forward(self, x: Any) -> Any:
            return self.head(self.lstm(self.embedding(x))[0].mean(1))

    return trained(torch, Net(), sentences(100, 16, 2000, 2), classified(torch))


@row
def text_cnn(torch: Any) -> float:
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(2000, 64)
            self.convolutions = nn.ModuleList([nn.Conv1d(64, 64, k, padding=k // 2) for k in (3, 5, 7)])
            self.head = nn.Linear(192, 2)

        def forward(self, x: Any) -> Any:
            x = self.embedding(x).permute(0, 2, 1)
            return self.head(torch.cat([nn.functional.relu(c(x)).amax(2) for c in self.convolutions], 1))

    return trained(torch, Net(), sentences(200, 16, 2000, 2), classified(torch))


@row
def detector(torch: Any) -> float:
    nn = torch.nn
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.Conv2d(32, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 9, 1),
    )  # fmt: skip

    def loss_of(net: Any, batch: Any) -> Any:
        out = net(torch.from_numpy(batch))
        return out[:, :4].abs().mean() + (torch.sigmoid(out[:, 4:]) ** 2).mean()

    return trained(torch, net, pictures(), loss_of)


def decoder(torch: Any, layers: int = 2, width: int = 128) -> Any:
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
            self.joined, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any, past: Any = None) -> tuple[Any, Any]:
            batch, length, _ = x.shape
            q, k, v = self.joined(self.first(x)).reshape(batch, length, 3, 4, width // 4).unbind(2)
            if past is not None:
                k, v = torch.cat([past[0], k], 1), torch.cat([past[1], v], 1)
            by_head = [part.transpose(1, 2) for part in (q, k, v)]
            mixed = nn.functional.scaled_dot_product_attention(*by_head, is_causal=past is None).transpose(1, 2)
            x = x + self.out(mixed.reshape(batch, length, width))
            return x + self.down(nn.functional.gelu(self.up(self.second(x)))), (k, v)

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(500, width), nn.Embedding(512, width)
            self.blocks = nn.ModuleList([Block() for _ in range(layers)])
            self.head = nn.Linear(width, 500)

        def forward(self, x: Any, past: Any = None, start: int = 0) -> tuple[Any, Any]:
            h = self.tokens(x) + self.places(torch.arange(start, start + x.shape[1]))
            kept = []
            for number, block in enumerate(self.blocks):
                h, cache = block(h, None if past is None else past[number])
                kept.append(cache)
            return self.head(h), kept

    return Net()


@row
def cached_decoding(torch: Any) -> float:
    net = decoder(torch).eval()
    total = 0.0
    with torch.no_grad():
        for _ in range(3):
            token, past = torch.tensor([[3]]), None
            for place in range(30):
                logits, past = net(token, past, place)
                token = logits[:, -1].argmax(-1, keepdim=True)
                total += token.item()
    return total


@row
def masks(torch: Any) -> float:
    random = np.random.default_rng(3)
    total = 0.0
    for _ in range(200):
        g = torch.from_numpy(random.normal(size=(50, 3)).astype("float32"))
        z = g[g[:, 0] > float(random.normal() * 0.3)]
        z = z[z[:, 1].argsort()]
        total += z[:3].sum().item()
    return total


@row
def gpt_lengths(torch: Any) -> float:
    def loss_of(net: Any, tokens: Any) -> Any:
        logits, _ = net(torch.from_numpy(tokens[:, :-1].copy()))
        return torch.nn.functional.cross_entropy(logits.reshape(-1, 500), torch.from_numpy(tokens[:, 1:].reshape(-1)))

    return trained(torch, decoder(torch, layers=4), token_batches(), loss_of)


@row
def beam_search(torch: Any) -> float:
    net = decoder(torch).eval()
    total = 0.0
    with torch.no_grad():
        for start in range(5):
            beams, scores = torch.full((1, 1), start), torch.zeros(1)
            for _ in range(20):
                logits, _ = net(beams)
                chances = torch.log_softmax(logits[:, -1], -1) + scores.unsqueeze(-1)
                scores, places = chances.flatten().topk(4)
                beams = torch.cat([beams[places // 500], (places % 500).unsqueeze(-1)], 1)
            total += scores[0].item()
    return total


@row
def graph_batches(torch: Any) -> float:
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(64, 64), nn.Linear(64, 4)

        def forward(self, x: Any, source: Any, target: Any) -> Any:
            sums = torch.zeros_like(x).index_add_(0, target, x[source])
            return self.second(nn.functional.relu(self.first(torch.cat([x, sums], 1))))

    def loss_of(net: Any, batch: Any) -> Any:
        x, source, target, labels = (torch.from_numpy(part) for part in batch)
        return nn.functional.cross_entropy(net(x, source, target), labels)

    return trained(torch, Net(), graph_samples(), loss_of)


@row
def policy_gradient(torch: Any) -> float:
    nn = torch.nn
    net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    random = np.random.default_rng(6)
    value = 0.0
    for _ in range(40):
        chances: list[Any] = []
        for state in episode_states(random):
            logs = torch.log_softmax(net(torch.from_numpy(state)), -1)
            chances.append(logs[int(random.random() < logs[1].exp().item())])
        returns = np.arange(len(chances), 0, -1, dtype="float32") / len(chances)
        loss = -(torch.stack(chances) * torch.from_numpy(returns)).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        value = loss.item()
    return value


def main() -> None:
    _, name = sys.argv[1:]
    import torch  # type: ignore[import-not-found] # pyright: ignore

    torch.set_num_threads(1)
    started = time.perf_counter()
    value = ROWS[name](torch)
    print(json.dumps({"seconds": time.perf_counter() - started, "value": value, "programs": 0}))


if __name__ == "__main__":
    main()
