"""`python -m tests.inference.soak`: many threads send requests of random shapes to one predictor.

Every answer is compared with what the layer itself gave in one thread before it was saved; half of the threads go through
handles, half through `run(list)`. The process must not grow: resident memory is noted all the time, and a line through what
follows the first third may rise by a few MiB at most.

    python -m tests.inference.soak                                     # 16 threads, 2,000 requests each
    python -m tests.inference.soak --engine openvino --requests 200
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from statistics import linear_regression
from typing import Any

import numpy as np

import proa as paddle
from proa import inference, nn

ALLOWED_GROWTH = 16 << 20
TOLERANCE = 1e-4  # of the largest number of a result: sums in another order, not another request's answer
FAMILIES = ("pictures", "sequences")


class Pictures(nn.Layer):
    """Convolutions, and a resize that forbids padding: every size is a program of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2D(3, 16, 3, 2, 1)
        self.norm = nn.BatchNorm2D(16)
        self.second = nn.Conv2D(16, 24, 3, 1, 1)
        self.last = nn.Linear(24, 10)

    def forward(self, x: Any) -> Any:
        x = nn.functional.hardswish(self.norm(self.first(x)))
        x = nn.functional.interpolate(self.second(x), scale_factor=2, mode="nearest")
        return self.last(nn.functional.relu(x).mean([2, 3]))


class Sequences(nn.Layer):
    """Attention over any number of tokens: sizes can be padded."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(32, 4, 64)

    def forward(self, x: Any) -> Any:
        return self.layer(x)


def shape_of(family: str, generator: np.random.Generator) -> tuple[int, ...]:
    """A random shape; small ones, so that threads meet often."""
    if family == "pictures":
        return (int(generator.integers(1, 4)), 3, *(int(n) for n in 8 * generator.integers(2, 9, 2)))
    return (int(generator.integers(1, 4)), int(generator.integers(1, 40)), 32)


@dataclass
class Outcome:
    """What a soak has found."""

    answers: int = 0
    wrong: list[str] = field(default_factory=list)
    samples: list[tuple[int, int]] = field(default_factory=list)  # answers so far, resident bytes
    seconds: float = 0.0
    explanation: str = ""

    def growth(self) -> float:
        """How much a straight line through the last two thirds of the samples rises, in bytes."""
        # One sample for each number of answers: while a program is compiled there are none, and many samples.
        later = [sample for sample in dict(self.samples).items() if sample[0] > self.answers / 3]
        if len(later) < 3:
            return 0.0
        line = linear_regression([s[0] for s in later], [s[1] for s in later])
        return line.slope * (later[-1][0] - later[0][0])


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def soak(family: str, threads: int, requests: int, engine: str = "xla", inputs: int = 200) -> Outcome:
    """Sends the requests; `inputs` is how many different ones there are."""
    generator = np.random.default_rng(7)
    layer = Pictures() if family == "pictures" else Sequences()
    layer.eval()
    arrays = [generator.standard_normal(shape_of(family, generator)).astype(np.float32) for _ in range(inputs)]
    with paddle.no_grad():
        wanted = [layer(paddle.to_tensor(array)).numpy() for array in arrays]
    spec = [None, 3, None, None] if family == "pictures" else [None, None, 32]
    with tempfile.TemporaryDirectory() as folder:
        paddle.jit.save(layer, f"{folder}/model", input_spec=[paddle.static.InputSpec(spec, "float32", "x")])
        config = inference.Config(f"{folder}/model.json", f"{folder}/model.pdiparams")
        config.set_engine(engine)
        predictor = inference.create_predictor(config)
    return bombard(predictor, arrays, wanted, threads, requests)


def bombard(predictor: Any, arrays: list[np.ndarray], wanted: list[np.ndarray], threads: int, requests: int) -> Outcome:
    outcome, lock = Outcome(), threading.Lock()
    [given], [output] = predictor.get_input_names(), predictor.get_output_names()

    def ask(array: np.ndarray, by_handle: bool) -> np.ndarray:
        if not by_handle:
            return predictor.run([paddle.to_tensor(array)])[0].numpy()
        predictor.get_input_handle(given).copy_from_cpu(array)
        predictor.run()
        return predictor.get_output_handle(output).copy_to_cpu()

    def work(number: int) -> None:
        chooser = np.random.default_rng(number)
        try:
            for _ in range(requests):
                which = int(chooser.integers(len(arrays)))
                problem = compare(ask(arrays[which], number % 2 == 0), wanted[which])
                with lock:
                    outcome.answers += 1
                    if problem:
                        outcome.wrong.append(f"request {which}, {arrays[which].shape}: {problem}")
        except Exception as error:
            with lock:
                outcome.wrong.append(f"thread {number}: {type(error).__name__}: {error}")

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    started = time.perf_counter()
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):
        outcome.samples.append((outcome.answers, resident_bytes()))
        time.sleep(0.1)
    outcome.seconds = time.perf_counter() - started
    outcome.explanation = str(predictor.explain())
    return outcome


def compare(found: np.ndarray, wanted: np.ndarray) -> str:
    if found.shape != wanted.shape:
        return f"the shape is {found.shape}, not {wanted.shape}"
    distance = float(np.abs(found - wanted).max()) / float(np.abs(wanted).max())
    return "" if distance <= TOLERANCE else f"differs by {distance:.1e} of the largest number"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.inference.soak", description=__doc__)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--requests", type=int, default=2000, help="of each thread")
    parser.add_argument("--engine", default="xla")
    parser.add_argument("--only", default=",".join(FAMILIES))
    arguments = parser.parse_args()
    good = True
    for family in arguments.only.split(","):
        outcome = soak(family, arguments.threads, arguments.requests, arguments.engine)
        growth = outcome.growth()
        good = good and not outcome.wrong and growth <= ALLOWED_GROWTH
        print(
            f"{family}: {outcome.answers} answers in {outcome.seconds:.0f} s, {len(outcome.wrong)} wrong; resident "
            f"{outcome.samples[-1][1] / 2**20:.0f} MiB, grew by {growth / 2**20:+.1f} MiB after the first third"
        )
        print("\n".join(outcome.wrong[:10]))
        print(outcome.explanation, flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
