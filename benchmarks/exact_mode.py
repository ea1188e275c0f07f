"""`python -m benchmarks.exact_mode MODEL`: what it costs that engine and training code agree to the last bit, on the CPU.

MODEL is a folder or a .gguf file, whose weights become float32. Two engines, one with `Options(exact=True)`, read a prompt
and write behind it in turns, and `Scorer` scores a text by the training code, exactly and as usual. Shown are tokens per
second of processor time, the best of all rounds, since other programs may run; and in how many of the log-probabilities of
what was written engine and training code agree bit by bit.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np

READ, WRITTEN = 128, 24


def answer(engine: Any, ids: list[int]) -> tuple[float, float, list[int], np.ndarray]:
    """Processor seconds of reading, of writing one token; the tokens and their log-probabilities."""
    from proa.llm.engine import Request, Sampling

    how = Sampling(max_tokens=WRITTEN + 1, temperature=0.0, logprobs=0, ignore_end=True)
    begun, times, pieces = time.process_time(), [], []
    for piece in engine.submit(Request(ids, how)):
        times.append(time.process_time())
        pieces.append(piece)
    chances = np.array([piece.logprob for piece in pieces], np.float32)
    return times[0] - begun, (times[-1] - times[0]) / WRITTEN, [piece.token for piece in pieces], chances


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    from proa.llm import load
    from proa.llm.engine import Engine, Options
    from proa.llm.engine.exact import Scorer

    model, draw = load(asked.model, "float32"), np.random.default_rng(0)
    engines = {exact: Engine(model, None, Options(rows=1, context=256, chunk=READ, prefixes=False, exact=exact))
               for exact in (False, True)}  # fmt: skip
    scorers = {exact: Scorer(model, exact) for exact in engines}
    found: dict[bool, list[list[float]]] = {exact: [[], [], []] for exact in engines}
    agreed = {exact: [0, 0] for exact in engines}
    for number in range(asked.rounds + 1):  # the first one compiles
        ids = draw.integers(100, model.config.vocab_size, READ).tolist()
        for exact, engine in engines.items():
            reading, writing, tokens, chances = answer(engine, ids)
            whole = np.array([ids + tokens], np.int32)
            begun = time.process_time()
            scores = scorers[exact](whole)[0, READ - 1 :]
            scoring = time.process_time() - begun
            agreed[exact][0] += int((scores.view(np.int32) == chances.view(np.int32)).sum())
            agreed[exact][1] += len(chances)
            if number:
                for own, rate in zip(found[exact], (READ / reading, 1 / writing, whole.size / scoring), strict=True):
                    own.append(rate)
    print(f"{'tokens per second':24}{'as usual':>12}{'exact':>12}{'cost':>10}")
    for name, usual, exact in zip(
        (f"read {READ}", f"write behind {READ}", "score"), found[False], found[True], strict=True
    ):
        print(f"{name:24}{max(usual):12.1f}{max(exact):12.1f}{max(usual) / max(exact):9.2f}x")
    for exact, (same, count) in agreed.items():
        name = "exact" if exact else "as usual"
        print(f"{name}: {same} of {count} log-probabilities have the same bits in engine and training code")
    for engine in engines.values():
        engine.close()
    return int(agreed[True][0] != agreed[True][1])


if __name__ == "__main__":
    sys.exit(main())
