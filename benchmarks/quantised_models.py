"""`python -m benchmarks.quantised_models`: a ResNet-50 in 8 bits beside the same one in float32, both on the predictor.

Both are saved by jit.save, loaded by the predictor, and called in turn in one process, so that both see the same load of
the machine; the best of all rounds counts. The bar: at least 1.8 x faster with one picture and with eight. Weights and
pictures are random: speed does not depend on them. Results are kept in benchmarks/results/quantised_models.json.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).resolve().parent / "results" / "quantised_models.json"
BAR = 1.8
WAYS = ("float32", "int8")


def save(folder: Path, name: str, size: int) -> None:
    """The network in both ways."""
    import proa as paddle

    paddle.seed(0)
    model = getattr(paddle.vision.models, name)()
    model.eval()
    pictures = np.random.default_rng(0).normal(size=(2, 3, size, size)).astype("float32")
    small = paddle.quantization.int8_model(model, [pictures])
    spec = [paddle.static.InputSpec([None, 3, size, size], "float32")]
    for way, made in zip(WAYS, (model, small), strict=True):
        paddle.jit.save(made, str(folder / way), input_spec=spec)


def predictors(folder: Path) -> dict[str, Any]:
    from proa.inference import Config, create_predictor

    return {way: create_predictor(Config(f"{folder / way}.json", f"{folder / way}.pdiparams")) for way in WAYS}


def measure(found: dict[str, Any], pictures: np.ndarray, rounds: int) -> dict[str, list[float]]:
    """Seconds of each round, the two in turn."""
    seconds: dict[str, list[float]] = {way: [] for way in found}
    for _ in range(rounds):
        for way, predictor in found.items():
            handle = predictor.get_input_handle(predictor.get_input_names()[0])
            handle.copy_from_cpu(pictures)
            started = time.perf_counter()
            predictor.run()
            predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
            seconds[way].append(time.perf_counter() - started)
    return seconds


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quantised_models", description=__doc__)
    parser.add_argument("--model", default="resnet50", help="a network of paddle.vision.models (default: %(default)s)")
    parser.add_argument("--batches", default="1,8", help="comma-separated (default: %(default)s)")
    parser.add_argument("--size", type=int, default=224, help="width and height of a picture (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=20, help="calls of each (default: %(default)s)")
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    rows, met = [], True
    with tempfile.TemporaryDirectory() as folder:
        save(Path(folder), arguments.model, arguments.size)
        found = predictors(Path(folder))
        for batch in (int(text) for text in arguments.batches.split(",")):
            shape = (batch, 3, arguments.size, arguments.size)
            pictures = np.random.default_rng(batch).normal(size=shape).astype("float32")
            measure(found, pictures, 3)
            seconds = measure(found, pictures, arguments.rounds)
            best = {way: min(times) for way, times in seconds.items()}
            ratio = best["float32"] / best["int8"]
            met = met and ratio >= BAR
            print(
                f"{arguments.model} batch {batch}: int8 {1e3 * best['int8']:.1f} ms, float32 "
                f"{1e3 * best['float32']:.1f} ms: {ratio:.2f} x", flush=True,
            )  # fmt: skip
            rows.append({"model": arguments.model, "batch": batch, "size": arguments.size, "ratio": ratio, "bar": BAR,
                         "seconds": seconds, "load": os.getloadavg()[0]})  # fmt: skip
    arguments.results.parent.mkdir(parents=True, exist_ok=True)
    arguments.results.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
