"""A language model shaped like Llama 2 7B on a GPU: tokens a second, alone and among many requests.

    python benchmarks/workloads/on_gpu/language.py ROW... [--tiny]

ROW is `bandwidth`, `decode`, `requests`, `requests-256` (proa's engine), `decode-int4`, or `requests-torch`,
`requests-256-torch` (batches of 16 in PyTorch with torch.compile; `-32` behind the name: of 32). Weights are random: nothing
here depends on what they are. Each row prints one line of JSON. `python -m benchmarks.gpu_language` sets them beside bars.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

ROWS: dict[str, Callable[[Sizes], dict[str, Any]]] = {}


@dataclass(frozen=True)
class Sizes:
    layers: int = 32
    hidden: int = 4096
    heads: int = 32
    inner: int = 11008
    vocabulary: int = 32000
    prompt: int = 2048
    answer: int = 128
    requests: int = 64
    prompts: tuple[int, int] = (100, 2000)
    answers: tuple[int, int] = (50, 500)

    @classmethod
    def tiny(cls) -> Sizes:
        return cls(2, 64, 4, 96, 128, 48, 8, 6, (5, 40), (3, 9))

    @property
    def parameters(self) -> int:
        """Those that a token needs: the embedding is looked up, not multiplied."""
        return self.layers * (4 * self.hidden**2 + 3 * self.hidden * self.inner) + self.hidden * self.vocabulary

    def work(self, times: int = 1) -> list[tuple[np.ndarray, int]]:
        """Prompts and how long the answers are."""
        random = np.random.default_rng(0)
        count = times * self.requests
        lengths = random.integers(*self.prompts, count), random.integers(*self.answers, count)
        return [(random.integers(0, self.vocabulary, n), int(m)) for n, m in zip(*lengths, strict=True)]


def row(name: str) -> Callable[[Any], Any]:
    def note(function: Any) -> Any:
        ROWS[name] = function
        return function

    return note


@row("bandwidth")
def bandwidth(sizes: Sizes) -> dict[str, Any]:
    """What copying a large array reaches: bytes read and written."""
    import jax

    array = jax.numpy.ones((1 << (30 if sizes.layers > 2 else 20),), jax.numpy.float32)
    copy = jax.jit(lambda a: a + 1)
    copy(array).block_until_ready()
    best = float("inf")
    for _ in range(10):
        begun = time.perf_counter()
        copy(array).block_until_ready()
        best = min(best, time.perf_counter() - begun)
    return {"terabytes_per_s": 2 * array.nbytes / best / 1e12}


@functools.cache
def _model(sizes: Sizes) -> Any:
    """The model, drawn once for all rows of a process. `decode-int4` changes it: that row comes last."""
    import proa as paddle
    from proa.llm.config import Config, Rope
    from proa.llm.model import CausalLM

    paddle.set_device("gpu" if sizes.layers > 2 else "cpu")
    before = paddle.get_default_dtype()
    paddle.set_default_dtype("bfloat16")
    try:
        return CausalLM(
            Config(
                "llama", sizes.vocabulary, sizes.hidden, sizes.layers, sizes.heads, sizes.inner, sizes.heads,
                sizes.hidden // sizes.heads, 4096, rope=Rope(dims=sizes.hidden // sizes.heads),
            )
        )  # fmt: skip
    finally:
        paddle.set_default_dtype(before)


def _four_bits(model: Any) -> None:
    """Weights of 4 bits in groups of 128. One layer is rounded; the others get copies of their own of the same bytes."""
    from proa.llm.layers.projection import Projection
    from proa.llm.quantised import BlockStorage, rounded_to

    packed = {
        name: rounded_to(layer.dense().numpy().astype(np.float32).T, 4, min(128, layer.in_features))
        for name, layer in model.layers[0].named_sublayers()
        if isinstance(layer, Projection)
    }
    for block in model.layers:
        for name, layer in block.named_sublayers():
            if name in packed:
                layer.store(BlockStorage(packed[name]))


def _decode(sizes: Sizes, model: Any, weight_bytes: float) -> dict[str, Any]:
    from proa.llm.engine import Engine, Options, Request, Sampling

    prompt = np.random.default_rng(0).integers(0, sizes.vocabulary, sizes.prompt).tolist()
    context = sizes.prompt + 2 * sizes.answer
    with Engine(model, None, Options(rows=1, context=context, chunk=512, widening=64)) as engine:
        stamps = []
        for _ in range(2):  # the first one compiles
            stamps = [
                time.perf_counter()
                for _ in engine.submit(Request(prompt, Sampling(max_tokens=sizes.answer, ignore_end=True)))
            ]
        each = (stamps[-1] - stamps[0]) / (len(stamps) - 1)
    cache = 2 * 2 * sizes.layers * sizes.hidden * (sizes.prompt + sizes.answer / 2)
    return {
        "ms_per_token": each * 1e3, "tokens_per_s": 1 / each,
        "terabytes_per_s": (weight_bytes + cache) / each / 1e12, "tokens": len(stamps),
    }  # fmt: skip


@row("decode")
def decode(sizes: Sizes) -> dict[str, Any]:
    return _decode(sizes, _model(sizes), 2 * sizes.parameters)


@row("decode-int4")
def decode_int4(sizes: Sizes) -> dict[str, Any]:
    model = _model(sizes)
    _four_bits(model)
    head = 2 * sizes.hidden * sizes.vocabulary
    return _decode(sizes, model, (sizes.parameters - sizes.hidden * sizes.vocabulary) * 4.5 / 8 + head)


def _requests(sizes: Sizes, times: int) -> dict[str, Any]:
    """All requests at once; the second time everything is compiled."""
    from proa.llm.engine import Engine, Options, Request, Sampling

    model, work = _model(sizes), sizes.work(times)
    context = sizes.prompts[1] + sizes.answers[1]
    options = Options(rows=64, context=context, chunk=2048 if sizes.layers > 2 else 32, widening=64, prefixes=False)
    figures: dict[str, Any] = {}
    with Engine(model, None, options) as engine:
        for _ in range(2):
            begun = time.perf_counter()
            streams = [engine.submit(Request(ids.tolist(), Sampling(max_tokens=n, ignore_end=True))) for ids, n in work]
            with ThreadPoolExecutor(len(streams)) as readers:
                ends = list(readers.map(lambda stream: (len(list(stream)), time.perf_counter()), streams))
            assert [count for count, _ in ends] == [wanted for _, wanted in work]
            seconds = time.perf_counter() - begun
            total = sum(n for _, n in work)
            figures = {"seconds": seconds, "tokens_per_s": total / seconds,
                       "p50_s": float(np.percentile([t - begun for _, t in ends], 50)),
                       "p99_s": float(np.percentile([t - begun for _, t in ends], 99))}  # fmt: skip
    return figures


@row("requests")
def requests(sizes: Sizes) -> dict[str, Any]:
    return _requests(sizes, 1)


@row("requests-256")
def requests_256(sizes: Sizes) -> dict[str, Any]:
    return _requests(sizes, 4)


def _requests_torch(sizes: Sizes, times: int, together: int) -> dict[str, Any]:
    """Batches of some size: prompts filled up to the longest, tokens until the longest answer is complete."""
    import torch

    from benchmarks.workloads.in_torch.language import Model

    device = "cuda" if sizes.layers > 2 else "cpu"
    model = Model(sizes, device)
    work = sizes.work(times)
    figures: dict[str, Any] = {}
    for attempt in range(2):
        begun = time.perf_counter()
        batches = [work[:together]] if not attempt else [work[n : n + together] for n in range(0, len(work), together)]
        for batch in batches:
            model.generate([ids for ids, _ in batch], max(n for _, n in batch) if attempt else 4)
        if device == "cuda":
            torch.cuda.synchronize()
        seconds = time.perf_counter() - begun
        figures = {"seconds": seconds, "tokens_per_s": sum(n for _, n in work) / seconds}
    return figures


for _times, _requests_name in ((1, "requests-torch"), (4, "requests-256-torch")):
    for _together, _batch_name in ((16, ""), (32, "-32")):
        ROWS[_requests_name + _batch_name] = functools.partial(_requests_torch, times=_times, together=_together)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("rows", metavar="ROW", nargs="+", choices=sorted(ROWS))
    parser.add_argument("--tiny", action="store_true", help="small sizes on a CPU: does it run at all?")
    arguments = parser.parse_args()
    for name in arguments.rows:
        begun = time.perf_counter()
        figures = ROWS[name](Sizes.tiny() if arguments.tiny else Sizes())
        print(json.dumps({"row": name, **figures, "process_s": time.perf_counter() - begun}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
