"""What the measurements of serving share: models with known answers, the bare loop over a predictor, servers, callers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

LIMIT_MB = 4.0  # of a request; callers that misbehave send more
BARE = """
import sys, time
import numpy as np
import proa as paddle
path, batch, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
predictor = paddle.inference.create_predictor(paddle.inference.Config(path + ".proa"))
with np.load(path + ".npz") as file:
    rows = np.concatenate(file["inputs"])
name, output = predictor.get_input_names()[0], predictor.get_output_names()[0]
handle, result = predictor.get_input_handle(name), predictor.get_output_handle(output)
def one(begin):
    handle.copy_from_cpu(rows[np.arange(begin, begin + batch) % len(rows)])
    predictor.run()
    return result.copy_to_cpu()
for n in range(5):
    one(n)
best, total, used = 0.0, 0, time.process_time()
for _ in range(4):
    count, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds / 4:
        one(count)
        count += batch
    best = max(best, count / (time.perf_counter() - started))
    total += count
print(best, (time.process_time() - used) / total * 1e3)
"""


def save_model(kind: str, path: Path, num_inputs: int = 32) -> None:
    """PATH.proa, and PATH.npz with inputs of one row each and the results they should give."""
    import proa as paddle

    paddle.seed(5)
    dense = paddle.nn.Linear
    layer, shape = {
        "mlp": lambda: (paddle.nn.Sequential(dense(256, 512), paddle.nn.ReLU(), dense(512, 64)), [256]),
        "encoder": lambda: (paddle.nn.TransformerEncoder(paddle.nn.TransformerEncoderLayer(128, 4, 512), 4), [64, 128]),
        "resnet18": lambda: (paddle.vision.models.resnet18(), [3, 64, 64]),
    }[kind]()
    layer.eval()
    paddle.jit.save(layer, f"{path}.proa", input_spec=[paddle.static.InputSpec([None, *shape], "float32", "x")])
    inputs = np.random.default_rng(3).standard_normal((num_inputs, 1, *shape)).astype(np.float32)
    with paddle.no_grad():
        outputs = np.stack([layer(paddle.to_tensor(x)).numpy() for x in inputs])
    apart = np.abs(outputs - np.roll(outputs, 1, axis=0)).reshape(num_inputs, -1).max(axis=-1).min()
    assert apart > 0.01, "answers of different inputs must be told apart"
    np.savez(f"{path}.npz", inputs=inputs, outputs=outputs)


def bare(path: Path, batch: int, seconds: float, core: int | None = None) -> tuple[float, float]:
    """Rows a second of a loop over the predictor, on all cores or on one, and the processor's milliseconds for a row."""
    command = [sys.executable, "-c", BARE, str(path), str(batch), str(seconds)]
    environment = dict(os.environ)
    if core is not None:
        command = ["taskset", "-c", str(core), *command]
        environment["PROA_NUM_THREADS"] = "1"
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=600).stdout
    found = output.split()
    return float(found[-2]), float(found[-1])


def start_server(path: Path, *options: str) -> tuple[subprocess.Popen[str], dict[str, Any]]:
    command = [sys.executable, "-m", "proa_command", "serve", f"{path}.proa", "--http-port", "0", "--grpc-port", "0"]
    command += ["--log-format", "json", "--max-request-mb", str(LIMIT_MB), *options]
    log = open(f"{path}.log", "w")  # noqa: SIM115 (the server's, as long as it lives)
    process = subprocess.Popen(command, stderr=log, text=True)
    while process.poll() is None:
        for line in Path(f"{path}.log").read_text().splitlines():
            if line.startswith("{") and json.loads(line)["message"].startswith("ready"):
                return process, json.loads(line)
        time.sleep(0.1)
    raise RuntimeError(f"the server ended:\n{Path(f'{path}.log').read_text()}")


def processor_seconds(process: subprocess.Popen[str]) -> float:
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(process: subprocess.Popen[str]) -> float:
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def call(
    path: Path, entry: dict[str, Any], seconds: float, callers: int, processes: int = 1, misbehaving: float = 0.0,
    protocols: tuple[str, ...] = ("grpc", "http"),
) -> Callable[[], list[dict[str, Any]]]:  # fmt: skip
    """Starts the callers' processes; gives a function that waits for what they found."""
    options = {"http": entry["http"], "grpc": entry["grpc"], "limit_mb": LIMIT_MB, "misbehaving": misbehaving}
    options["protocols"] = protocols
    started = []
    begin = time.time() + 3  # by then all of them have started
    for number in range(processes):
        share = callers // processes + (number < callers % processes)
        Path(f"{path}.{number}.json").write_text(
            json.dumps({**options, "callers": share, "seed": number, "begin": begin, "until": begin + seconds})
        )
        command = [sys.executable, "-m", "benchmarks.workloads.callers", f"{path}.npz", f"{path}.{number}.json"]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))

    def wait() -> list[dict[str, Any]]:
        return [json.loads(process.communicate(timeout=seconds + 120)[0]) for process in started]

    return wait
