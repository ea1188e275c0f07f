"""`python -m benchmarks.language_models MODEL.gguf`: a small language model beside llama.cpp, on this processor.

    python -m benchmarks.language_models SmolLM2-135M-Instruct.Q4_1.gguf --python venv/bin/python --threads 1 2

`--python` has llama-cpp-python. Both runtimes read prompts of 128 and 512 tokens and write 64 more, in turns, each in a
process of its own that stays; best and median are by the clock and by the processor's time, which is what counts where other
programs run; proa also with llama.cpp's own arithmetic. Then all continue twenty texts with the likeliest tokens, and it is
said how many agree; so does llama.cpp with itself, its cache in float32, for what rounding alone does. llama.cpp's threads
sleep while they wait for each other, unless OMP_WAIT_POLICY=active is set (for a machine of one's own).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

WORKER = Path(__file__).parent / "harness" / "language_models_worker.py"
TEXTS = (
    "The capital of France is", "Water boils at", "Once upon a time there was a", "def fibonacci(n):", "The moon is",
    "My favourite food is", "In 1969, the first", "A recipe for bread:", "To be or not to be,", "The largest ocean is the",
    "Photosynthesis is the process by which", "Dear Sir or Madam,", "The three primary colours are", "import numpy as np",
    "The speed of light is", "She opened the door and", "A haiku about autumn:", "The square root of 144 is",
    "Bees are important because", "The quick brown fox",
)  # fmt: skip
OURS = ("proa", "proa as llama.cpp")
COMPARED = 32  # tokens of each text
WRITTEN = 64


class Worker:
    """A runtime in a process of its own."""

    def __init__(self, python: str, runtime: str, model: str, threads: int) -> None:
        self.runtime = runtime
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(
            [python, str(WORKER), runtime, model, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.load = self._answer()["load"]

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.runtime} ended with {self.process.wait()}; its own messages are above")
        return json.loads(line)

    def ask(self, **asked: Any) -> Any:
        assert self.process.stdin is not None
        print(json.dumps(asked), file=self.process.stdin, flush=True)
        return self._answer()

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(30)


def rounds(workers: list[Worker], count: int) -> dict[str, dict[str, list[float]]]:
    """Tokens a second of every round: by runtime, by what was done."""
    random = np.random.default_rng(0)
    found: dict[str, dict[str, list[float]]] = {worker.runtime: {} for worker in workers}
    for number in range(count + 1):
        for length in (128, 512):
            ids = random.integers(100, 40000, length).tolist()
            for worker in workers:
                made = worker.ask(do="write", ids=ids, count=WRITTEN + 1)
                if number == 0:  # warms up
                    continue
                own = found[worker.runtime]
                writing = (made["times"][-1] - made["times"][0]) / WRITTEN
                own.setdefault(f"read {length}, clock", []).append(length / made["times"][0])
                own.setdefault(f"read {length}, processor", []).append(length / made["first"])
                own.setdefault(f"write behind {length}, clock", []).append(1 / writing)
                own.setdefault(f"write behind {length}, processor", []).append(WRITTEN / made["others"])
    return found


def agreement(one_of: Worker, reader: Worker) -> tuple[int, list[int]]:
    """In how many texts two runtimes agree on every token compared; and how many tokens agree in each."""
    same = []
    for text in TEXTS:
        ids = reader.ask(do="tokens", text=text)
        one, other = (worker.ask(do="write", ids=ids, count=COMPARED)["tokens"] for worker in (one_of, reader))
        same.append(next((n for n, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), COMPARED))
    return sum(n == COMPARED for n in same), same


def show(found: dict[str, dict[str, list[float]]], threads: int) -> None:
    theirs = found["llama.cpp"]
    print(f"\n{threads} thread{'s' * (threads > 1)}: tokens a second, best (median)")
    for runtime in OURS:
        ours = found[runtime]
        print(f"{'':32}{runtime:>18}{'llama.cpp':>18}{'ratio':>16}")
        for name in sorted(ours):
            best = max(ours[name]) / max(theirs[name])
            middle = statistics.median([a / b for a, b in zip(ours[name], theirs[name], strict=True)])
            cells = [f"{max(own[name]):.0f} ({statistics.median(own[name]):.0f})" for own in (ours, theirs)]
            print(f"{name:32}{cells[0]:>18}{cells[1]:>18}{f'{best:.2f} ({middle:.2f})':>16}")


def _close(workers: list[Worker]) -> None:
    for worker in workers:
        worker.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has llama-cpp-python")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-texts", action="store_true", help="measures only")
    parser.add_argument("--json", type=Path, help="writes every round to a file")
    arguments = parser.parse_args()
    record: dict[str, Any] = {}
    for threads in arguments.threads:
        workers, starts = [], {}
        for runtime in (*OURS, "llama.cpp"):
            python = sys.executable if runtime in OURS else arguments.python
            worker = Worker(python, runtime, arguments.model, threads)
            worker.ask(do="write", ids=list(range(100, 116)), count=1)
            starts[runtime] = {"load": worker.load, "first token": time.perf_counter() - worker.begun}
            workers.append(worker)
        print({name: {k: round(v, 2) for k, v in own.items()} for name, own in starts.items()})
        found = rounds(workers, arguments.rounds)
        show(found, threads)
        if arguments.no_texts:
            record[str(threads)] = {"start": starts, "rounds": found}
            _close(workers)
            continue
        workers.append(Worker(arguments.python, "wide llama.cpp", arguments.model, threads))
        reader = workers[len(OURS)]
        compared = {worker.runtime: agreement(worker, reader) for worker in workers if worker is not reader}
        for name, (number, same) in compared.items():
            print(f"{name}: the same {COMPARED} tokens in {number} of {len(TEXTS)} texts, each {same}", flush=True)
        record[str(threads)] = {"start": starts, "rounds": found, "same": compared}
        _close(workers)
    if arguments.json:
        arguments.json.write_text(json.dumps(record, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
