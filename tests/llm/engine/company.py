"""A real model in blocks: answers alone and in company, bit by bit.

    python -m tests.llm.engine.company MODEL.gguf [--arithmetic llama.cpp]

Each prompt is answered alone, then all of them at once by the same engine. Tokens and log-probabilities must be the same
bits. A small random model would not show it: differences in a last bit must meet a level's edge on the way.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from proa.llm import load
from proa.llm.engine import Engine, Options, Request, Sampling
from proa.llm.tokens import Tokenizer

from .smollm import PROMPTS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--arithmetic", choices=["llama.cpp"])
    given = parser.parse_args()
    tokenizer = Tokenizer.from_gguf(given.model)
    prompts = [tokenizer.encode(text) for text in PROMPTS]
    how = Sampling(max_tokens=24, temperature=0.0, ignore_end=True, logprobs=0)

    def bits(stream: Any) -> list[Any]:
        return [(piece.token, int(np.float32(piece.logprob).view(np.int32))) for piece in stream]

    options = Options(rows=8, context=256, chunk=64, arithmetic=given.arithmetic)
    with Engine(load(given.model, keep_quantised=True), tokenizer, options) as engine:
        alone = [bits(engine.submit(Request(ids, how))) for ids in prompts]
        together = [bits(stream) for stream in [engine.submit(Request(ids, how)) for ids in prompts * 2]]
    same = sum(one == other for one, other in zip(together, alone * 2, strict=True))
    print(f"{same} of {len(together)} answers have the bits that they have alone")
    raise SystemExit(same != len(together))


if __name__ == "__main__":
    main()
