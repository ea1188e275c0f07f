"""SmolLM2-135M beside llama.cpp: the same greedy tokens for twenty prompts.

    PROA_PARITY_LLAMA_PYTHON=python-with-llama-cpp-python python -m tests.llm.engine.smollm model.gguf

All prompts are answered at once by the engine, and one after another by llama.cpp. Both read the same GGUF file; llama.cpp
rounds activations to 8 bits, so that near ties may be decided differently. At least 18 of 20 answers must agree in their
first 32 tokens.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time

from proa.llm import load
from proa.llm.engine import Engine, Options, Piece, Request, Sampling
from proa.llm.tokens import Tokenizer

COUNT = 32
PROMPTS = (
    "The capital of France is", "Once upon a time there was a little", "Water boils at a temperature of",
    "The three primary colours are", "def fibonacci(n):\n", "In 1969, the first humans", "A recipe for pancakes:\n1.",
    "The largest planet in our solar system is", "To be or not to be,", "The opposite of hot is",
    "My favourite season is autumn because", "import numpy as np\n\n", "The quick brown fox", "Dear Sir or Madam,\n",
    "Photosynthesis is the process by which", "Q: What is 2 + 2?\nA:", "List of animals:\n- cat\n- dog\n-",
    "The history of computers begins with", "She opened the door and saw", "In conclusion,",
)  # fmt: skip

_THEIRS = """
import json, os, sys, time
# Its threads wait for each other busily otherwise: on a machine that others use, one of them spins while the other is
# not running, and a token takes a second instead of some milliseconds.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
import llama_cpp
asked = json.load(sys.stdin)
model = llama_cpp.Llama(asked["model"], n_ctx=256, verbose=False,
                        n_threads=asked["threads"], n_threads_batch=asked["threads"])
answers, begun = [], time.perf_counter()
for ids in asked["ids"]:
    model.reset()
    found = []
    for token in model.generate(ids, temp=0.0, top_k=1, repeat_penalty=1.0):
        found.append(int(token))
        if len(found) == asked["count"]:
            break
    answers.append(found)
print(json.dumps([answers, time.perf_counter() - begun]))
"""


def theirs(model: str, ids: list[list[int]], threads: int) -> tuple[list[list[int]], float]:
    python = os.environ.get("PROA_PARITY_LLAMA_PYTHON", sys.executable)
    asked = json.dumps({"model": model, "ids": ids, "count": COUNT, "threads": threads})
    done = subprocess.run([python, "-c", _THEIRS], input=asked, capture_output=True, text=True, check=True, timeout=900)
    return tuple(json.loads(done.stdout.splitlines()[-1]))


def _gap(piece: Piece, other: int) -> float:
    """How much likelier than the other's token ours is: what rounding would have to bridge."""
    return (piece.logprob or 0.0) - dict(piece.top).get(other, float("-inf"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--floats", action="store_true", help="weights as float32 instead of the file's blocks")
    parser.add_argument("--arithmetic", choices=["llama.cpp"], help="compute as llama.cpp does, bit by bit")
    parser.add_argument("--chat", action="store_true", help="prompts as messages, by the model's template")
    parser.add_argument("--threads", type=int, default=2, help="of llama.cpp")
    given = parser.parse_args()
    tokenizer = Tokenizer.from_gguf(given.model)
    ids = [tokenizer.chat([{"role": "user", "content": p}]) if given.chat else tokenizer.encode(p) for p in PROMPTS]
    model = load(given.model, keep_quantised=not given.floats)
    with Engine(model, tokenizer, Options(rows=4, context=256, chunk=64, arithmetic=given.arithmetic)) as engine:
        engine.submit(Request(ids[0], Sampling(max_tokens=2))).tokens()
        begun = time.perf_counter()
        how = Sampling(max_tokens=COUNT, ignore_end=True, logprobs=20)
        pieces = [list(stream) for stream in [engine.submit(Request(prompt, how)) for prompt in ids]]
        ours = [[piece.token for piece in answer] for answer in pieces]
        seconds = time.perf_counter() - begun
    expected, their_seconds = theirs(given.model, ids, given.threads)
    same = 0
    for number, (prompt, mine, other) in enumerate(zip(PROMPTS, ours, expected, strict=True)):
        equal = next((n for n, (a, b) in enumerate(zip(mine, other, strict=False)) if a != b), COUNT)
        same += equal == COUNT
        gap = "" if equal == COUNT else f" (nats between both tokens: {_gap(pieces[number][equal], other[equal]):.3f})"
        print(f"{equal:2} of {COUNT}  {prompt!r} -> {tokenizer.decode(mine[: equal + 1])!r}{gap}")
    print(
        f"{same} of {len(PROMPTS)} answers equal; {seconds:.1f} s all at once, llama.cpp {their_seconds:.1f} s one by one"
    )
    raise SystemExit(same < 18)


if __name__ == "__main__":
    main()
