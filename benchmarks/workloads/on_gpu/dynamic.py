"""Code on a GPU whose sizes move, and the memory of a large training loop: one row in one process.

    python benchmarks/workloads/on_gpu/dynamic.py MODULE ROW [--steps N] [--device gpu]

MODULE is one that has Paddle's API, `torch`, or (for `llama`) `jax`. The last line is JSON: the figures of the row.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

ROWS: dict[tuple[str, str], Callable[..., dict[str, Any]]] = {}
NUM_LENGTHS = 40
WIDTH, HEADS, BATCH = 256, 8, 8


def row(family: str, name: str) -> Callable[[Any], Any]:
    def note(function: Any) -> Any:
        ROWS[family, name] = function
        return function

    return note


def timed_each(work: Callable[[Any], Any], cases: list[Any]) -> list[float]:
    """Milliseconds of each case."""
    found = []
    for case in cases:
        started = time.perf_counter()
        work(case)
        found.append((time.perf_counter() - started) * 1e3)
    return found


# ---- a block of 29 operations at lengths that never came before ---------------------------------------------------------


def new_lengths() -> list[int]:
    """The first five warm up; then 40 that are all different."""
    return [int(n) for n in np.random.default_rng(3).permutation(np.arange(64, 512))[: 5 + NUM_LENGTHS]]


def block_inputs() -> list[np.ndarray]:
    random = np.random.default_rng(5)
    return [random.standard_normal((BATCH, length, WIDTH), dtype=np.float32) for length in new_lengths()]


def block_arrays() -> dict[str, np.ndarray]:
    random = np.random.default_rng(4)
    shapes = {"q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH), "o": (WIDTH, WIDTH)}
    shapes |= {"up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH), "scale": (WIDTH,)}
    return {name: (random.standard_normal(shape) * 0.05).astype(np.float32) for name, shape in shapes.items()}


def block(x: Any, w: dict[str, Any], library: Any, functional: Any) -> Any:
    """29 operations and a mean to look at, which both libraries spell alike: normalise, attend, feed forward."""
    length = x.shape[1]

    def by_head(h: Any, weight: Any) -> Any:  # 3
        parts = library.matmul(h, weight).reshape([BATCH, length, HEADS, WIDTH // HEADS])
        return library.swapaxes(parts, 1, 2)

    centred = x - x.mean(-1, keepdim=True)  # 2
    h = centred * (centred * centred).mean(-1, keepdim=True).rsqrt() * w["scale"]  # 5
    q, k, v = (by_head(h, w[name]) for name in "qkv")  # 9
    scores = library.matmul(q * 0.2, library.swapaxes(k, -1, -2))  # 3
    mixed = library.swapaxes(library.matmul(functional.softmax(scores, -1), v), 1, 2)  # 3
    x = x + library.matmul(mixed.reshape([BATCH, length, WIDTH]), w["o"])  # 3
    return (x + library.matmul(functional.gelu(library.matmul(x, w["up"])), w["down"])).mean()  # 5


@row("paddle", "block")
def paddle_block(paddle: Any, device: str, steps: int) -> dict[str, Any]:
    w = {name: paddle.to_tensor(array) for name, array in block_arrays().items()}

    def work(array: np.ndarray) -> float:
        return float(block(paddle.to_tensor(array), w, paddle, paddle.nn.functional))

    return _block_figures(timed_each(work, block_inputs()))


@row("torch", "block")
def torch_block(torch: Any, device: str, steps: int) -> dict[str, Any]:
    w = {name: torch.from_numpy(array).to(device) for name, array in block_arrays().items()}

    def work(array: np.ndarray) -> float:
        return float(block(torch.from_numpy(array).to(device), w, torch, torch.nn.functional))

    return _block_figures(timed_each(work, block_inputs()))


def _block_figures(times: list[float]) -> dict[str, Any]:
    later = times[-NUM_LENGTHS:]
    return {"median_ms": median(later), "worst_ms": max(later), "first_ms": times[0]}


# ---- a chain of additions -----------------------------------------------------------------------------------------------

CHAIN = 100


@row("paddle", "chain")
def paddle_chain(paddle: Any, device: str, steps: int) -> dict[str, Any]:
    """Cold: a shape that is new each time. Hot: one shape, again and again."""

    def work(x: Any) -> None:
        for _ in range(CHAIN):
            x = x + 1.0
        x.numpy()

    cold = [paddle.zeros([16, 8 + number]) for number in range(25)]
    for x in cold:
        x.numpy()
    cold_ms = timed_each(work, cold)[5:]
    paddle.set_flags({"FLAGS_hot_threshold": 3})
    hot_ms = timed_each(work, [paddle.zeros([16, 4])] * 60)[20:]
    return {"cold_us": median(cold_ms) / CHAIN * 1e3, "hot_us": median(hot_ms) / CHAIN * 1e3}


@row("torch", "chain")
def torch_chain(torch: Any, device: str, steps: int) -> dict[str, Any]:
    def work(x: Any) -> None:
        for _ in range(CHAIN):
            x = x + 1.0
        x.cpu()

    cold_ms = timed_each(work, [torch.zeros([16, 8 + number], device=device) for number in range(25)])[5:]
    hot_ms = timed_each(work, [torch.zeros([16, 4], device=device)] * 60)[20:]
    return {"cold_us": median(cold_ms) / CHAIN * 1e3, "hot_us": median(hot_ms) / CHAIN * 1e3}


# ---- ResNet-50 on pictures whose size changes at every step -------------------------------------------------------------


def pictures(steps: int, tiny: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    random = np.random.default_rng(6)
    batch = 2 if tiny else 64
    extents = [32, 48] if tiny else list(range(160, 321, 16))
    stock = {n: random.standard_normal((batch, 3, n, n), dtype=np.float32) for n in extents}
    labels = random.integers(0, 1000, batch)
    for _ in range(steps):
        yield stock[int(random.choice(extents))], labels


@row("paddle", "resnet")
def paddle_resnet(paddle: Any, device: str, steps: int) -> dict[str, Any]:
    net = paddle.vision.models.resnet50()
    optimizer = paddle.optimizer.Momentum(1e-3, 0.9, parameters=net.parameters())

    def step(batch: Any) -> Any:
        loss = paddle.nn.functional.cross_entropy(net(paddle.to_tensor(batch[0])), paddle.to_tensor(batch[1]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return _whole_loop(step, list(pictures(steps, device == "cpu")), lambda: net.parameters()[0].numpy())


@row("torch", "resnet")
def torch_resnet(torch: Any, device: str, steps: int) -> dict[str, Any]:
    import torchvision

    net = torchvision.models.resnet50().to(device)
    optimizer = torch.optim.SGD(net.parameters(), 1e-3, momentum=0.9)

    def step(batch: Any) -> Any:
        images, labels = (torch.from_numpy(array).to(device) for array in batch)
        loss = torch.nn.functional.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    return _whole_loop(step, list(pictures(steps, device == "cpu")), lambda: next(net.parameters()).detach().cpu())


def _whole_loop(step: Callable[[Any], Any], batches: list[Any], finish: Callable[[], Any]) -> dict[str, Any]:
    """Every 20th loss is read, as programs that print do."""
    times: list[float] = []
    started = time.perf_counter()
    for number, batch in enumerate(batches):
        before = time.perf_counter()
        loss = step(batch)
        if number % 20 == 19:
            float(loss)
        times.append(time.perf_counter() - before)
    finish()
    total = time.perf_counter() - started
    return {"total_s": total, "per_step_ms": total / len(batches) * 1e3, "longest_step_s": max(times)}


# ---- GPT on sequences whose length changes at every step ----------------------------------------------------------------


def sequences(steps: int, sizes: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    random = np.random.default_rng(7)
    for _ in range(steps):
        length = int(random.integers(min(64, sizes.num_tokens // 2), sizes.num_tokens + 1))
        tokens = random.integers(0, sizes.vocabulary, (sizes.batch, length + 1))
        yield tokens[:, :-1], tokens[:, 1:].reshape(-1)


def _gpt_sizes(tiny: bool) -> Any:
    from benchmarks.workloads.models.transformer import Sizes

    if tiny:
        return Sizes(num_layers=2, width=64, num_heads=2, num_tokens=32, batch=2, vocabulary=128, fused_attention=True)
    return Sizes(num_layers=6, width=512, num_heads=8, num_tokens=512, batch=16, vocabulary=8192, fused_attention=True)


@row("paddle", "gpt")
def paddle_gpt(paddle: Any, device: str, steps: int) -> dict[str, Any]:
    from benchmarks.workloads.models.transformer import paddle_transformer

    sizes = _gpt_sizes(device == "cpu")
    net = paddle_transformer(paddle, sizes)
    optimizer = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())

    def step(batch: Any) -> float:
        tokens, targets = map(paddle.to_tensor, batch)
        scores = net(tokens, paddle.arange(tokens.shape[1]), None)
        loss = paddle.nn.functional.cross_entropy(scores.reshape([-1, sizes.vocabulary]), targets)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return float(loss)

    return _each_step(step, list(sequences(steps, sizes)))


@row("torch", "gpt")
def torch_gpt(torch: Any, device: str, steps: int) -> dict[str, Any]:
    from benchmarks.workloads.models.transformer import torch_transformer

    sizes = _gpt_sizes(device == "cpu")
    net = torch_transformer(torch, sizes).to(device)
    optimizer = torch.optim.AdamW(net.parameters(), 1e-3)

    def step(batch: Any) -> float:
        tokens, targets = (torch.from_numpy(np.ascontiguousarray(array)).to(device) for array in batch)
        scores = net(tokens, torch.arange(tokens.shape[1], device=device), None)
        loss = torch.nn.functional.cross_entropy(scores.reshape(-1, sizes.vocabulary), targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return float(loss.item())

    return _each_step(step, list(sequences(steps, sizes)))


def _each_step(step: Callable[[Any], Any], batches: list[Any]) -> dict[str, Any]:
    times = timed_each(step, batches)
    later = times[len(times) // 4 :]
    return {"median_ms": median(later), "total_s": sum(times) / 1e3, "longest_step_s": max(times) / 1e3}


# ---- the memory of a large model's training loop ------------------------------------------------------------------------


@row("paddle", "llama")
def paddle_llama(paddle: Any, device: str, steps: int) -> dict[str, Any]:
    from benchmarks.workloads.on_gpu.llama import Llama, paddle_loop

    return paddle_loop(paddle, Llama.tiny() if device == "cpu" else Llama(), steps)


@row("jax", "llama")
def jax_llama(jax: Any, device: str, steps: int) -> dict[str, Any]:
    from benchmarks.workloads.in_jax.llama import jax_loop
    from benchmarks.workloads.on_gpu.llama import Llama

    return jax_loop(jax, Llama.tiny() if device == "cpu" else Llama(), steps)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("module")
    parser.add_argument("row")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--device", default="gpu")
    arguments = parser.parse_args()
    family = arguments.module if arguments.module in ("torch", "jax") else "paddle"
    if (family, arguments.row) not in ROWS:
        known = sorted({name for kind, name in ROWS if kind == family})
        parser.error(f"{arguments.module} has no row {arguments.row}; it has {', '.join(known)}")
    module = importlib.import_module(arguments.module)
    device = arguments.device
    if family == "paddle":
        module.set_device(device)
    elif family == "torch" and device == "gpu":
        device = "cuda"
    figures = ROWS[family, arguments.row](module, device, arguments.steps)
    if arguments.module == "proa":
        from proa.ir.report import STATISTICS

        figures |= {"programs": STATISTICS.compiles, "compile_s": STATISTICS.compile_seconds}
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
