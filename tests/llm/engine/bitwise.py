"""Log-probabilities by the training code and by the engine, bit by bit.

    python -m tests.llm.engine.bitwise [--prompts 200] [--device gpu]

Random prompts go through engines of random rows, page sizes and chunks, in random company, and through the training code in
batches of random size. Every log-probability, of the prompt and of what was generated, must be the same 32 bits. The same
comparison without `exact` shows that this is no matter of course.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import proa as paddle
from proa.llm.engine import Engine, Options, Request, Sampling
from proa.llm.engine.exact import Scorer

from .little import little_model, prompts

LENGTH = 88
MODELS: tuple[dict[str, Any], ...] = (
    {},
    {"windows": (7, None), "attention_cap": 5.0, "logit_cap": 3.0, "norm_offset": 1.0, "placement": "around"},
    {"hidden_size": 72, "heads": 3, "kv_heads": 3, "intermediate_size": 200, "attention_bias": True, "tied": False},
    {"hidden_size": 64, "heads": 8, "kv_heads": 2, "head_dim": 24, "head_norms": True},
)


def trained(
    model: Any, texts: list[list[int]], exact: bool, draw: np.random.Generator, sizes: tuple[int, ...]
) -> list[np.ndarray]:
    """Log-probabilities of each text's tokens from the second on, in batches of random size, zeros behind each text."""
    scorer, found = Scorer(model, exact), []
    while len(found) < len(texts):
        size = int(draw.choice(sizes))
        batch = texts[len(found) : len(found) + size]
        ids = np.zeros((size, LENGTH), np.int32)
        for row, text in enumerate(batch):
            ids[row, : len(text)] = text
        scores = scorer(ids)
        found += [scores[row, : len(text) - 1] for row, text in enumerate(batch)]
    return found


def compare(
    changes: dict[str, Any], options: Options, texts: list[list[int]], seed: int, sizes: tuple[int, ...] = (1, 2, 5, 8)
) -> tuple[int, int, float]:
    """How many log-probabilities were compared, how many differ, and by how much at most."""
    draw = np.random.default_rng(seed)
    model = little_model(seed, **changes)
    with Engine(model, None, options) as engine:
        streams = []
        for number, prompt in enumerate(texts):
            how = Sampling(max_tokens=int(draw.integers(1, 12)), temperature=float(draw.choice([0.0, 1.0])),
                           logprobs=0, ignore_end=True, seed=number)  # fmt: skip
            streams.append(engine.submit(Request(prompt, how, scores=bool(draw.random() < 0.7))))
        whole: list[list[int]] = []
        served: list[np.ndarray] = []
        for prompt, stream in zip(texts, streams, strict=True):
            pieces = list(stream)
            whole.append(prompt + [piece.token for piece in pieces])  # type: ignore[misc]
            scores = stream.scores or [np.nan] * (len(prompt) - 1)
            served.append(np.array([*scores, *(piece.logprob for piece in pieces)], np.float32))
    different, compared, worst = 0, 0, 0.0
    for mine, theirs in zip(served, trained(model, whole, options.exact, draw, sizes), strict=True):
        asked = ~np.isnan(mine)
        assert mine.shape == theirs.shape
        compared += int(asked.sum())
        different += int((mine[asked].view(np.int32) != theirs[asked].view(np.int32)).sum())
        worst = max(worst, float(np.abs(mine[asked] - theirs[asked]).max()))
    return compared, different, worst


def random_options(draw: np.random.Generator, exact: bool) -> Options:
    return Options(
        rows=int(draw.choice([1, 3, 4, 8])), context=96, page_size=int(draw.choice([4, 8, 16])),
        chunk=int(draw.choice([8, 16, 32, 64])), pages=int(draw.choice([0, 30])), exact=exact,
        speculate=int(draw.choice([0, 2])),
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, default=200)
    parser.add_argument("--device", default="cpu")
    asked = parser.parse_args()
    paddle.set_device(asked.device)
    each, total = 25, 0
    draw = np.random.default_rng(11)
    for number, begin in enumerate(range(0, asked.prompts, each)):
        texts = [[*text, 1] for text in prompts(min(each, asked.prompts - begin), seed=number)]
        options, started = random_options(draw, True), time.perf_counter()
        compared, different, worst = compare(MODELS[number % len(MODELS)], options, texts, number)
        total += different
        print(f"model {number % len(MODELS)} rows {options.rows} pages of {options.page_size} chunk {options.chunk} "
              f"guesses {options.speculate}: {len(texts)} prompts, {compared} log-probabilities, {different} differ "
              f"({time.perf_counter() - started:.0f} s)", flush=True)  # fmt: skip
    texts = [[*text, 1] for text in prompts(each, seed=0)]
    compared, different, worst = compare(MODELS[0], Options(rows=4, context=96, page_size=8, chunk=16), texts, 0)
    print(f"without exact: {different} of {compared} differ, by {worst:.1e} at most")
    print("equal bit by bit" if not total else f"{total} DIFFER")
    raise SystemExit(bool(total) or not different)


if __name__ == "__main__":
    main()
