"""`python -m tests.serving.soak --seconds 120`: many callers, some of them malformed, oversized or aborted, for a while.

What has to hold: no wrong answer, no unexpected refusal, the server alive at the end and its memory no larger than after
the first tenth, and at least 0.9 of the throughput of a bare loop over the predictor that calls it row by row. The loop
is measured in a process of its own, before and after, with the machine to itself; callers and server share the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

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


def bare(path: Path, batch: int, seconds: float) -> tuple[float, float]:
    """Rows a second of a loop over the predictor, and the processor's milliseconds for a row."""
    command = [sys.executable, "-c", BARE, str(path), str(batch), str(seconds)]
    found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout.split()
    return float(found[-2]), float(found[-1])


def start_server(path: Path, limit_mb: float, *options: str) -> tuple[subprocess.Popen[str], dict[str, Any]]:
    command = [sys.executable, "-m", "proa_command", "serve", f"{path}.proa", "--http-port", "0", "--grpc-port", "0"]
    command += ["--log-format", "json", "--max-request-mb", str(limit_mb), *options]
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


def call(path: Path, entry: dict[str, Any], seconds: float, callers: int, processes: int, misbehaving: float) -> Any:
    """Starts the callers' processes; gives a function that waits for what they found."""
    options = {"http": entry["http"], "grpc": entry["grpc"], "limit_mb": entry["limit_mb"], "misbehaving": misbehaving}
    started = []
    until = time.time() + 2 + seconds
    for number in range(processes):
        share = callers // processes + (number < callers % processes)
        Path(f"{path}.{number}.json").write_text(
            json.dumps({**options, "callers": share, "seed": number, "until": until})
        )
        command = [sys.executable, "-m", "tests.serving.callers", f"{path}.npz", f"{path}.{number}.json"]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))

    def wait() -> list[dict[str, Any]]:
        return [json.loads(process.communicate(timeout=seconds + 120)[0]) for process in started]

    return wait


def soak(
    kind: str, seconds: float, callers: int = 64, processes: int = 2, misbehaving: float = 0.05, with_bare: float = 8.0,
    options: tuple[str, ...] = (),
) -> dict[str, Any]:  # fmt: skip
    """What happened, as numbers and lists."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        save_model(kind, path)
        rates = [bare(path, batch, with_bare) for batch in (1, 8)] if with_bare else [(0.0, 0.0)] * 2
        process, entry = start_server(path, 4.0, *options)
        try:
            used = processor_seconds(process)
            wait = call(path, entry | {"limit_mb": 4.0}, seconds, callers, processes, misbehaving)
            time.sleep(2 + seconds / 10)
            memory = memory_mb(process)
            found = wait()
            grown = memory_mb(process) - memory
            alive = process.poll() is None
            used = processor_seconds(process) - used
            process.send_signal(signal.SIGTERM)
            status = process.wait(60)
        finally:
            process.kill()
        if with_bare:
            rates[0] = max(rates[0], bare(path, 1, with_bare))
            rates[1] = max(rates[1], bare(path, 8, with_bare))
        log = [json.loads(line) for line in Path(f"{path}.log").read_text().splitlines() if line.startswith("{")]
    times = np.array([each for one in found for each in one["seconds"]]) * 1e3
    tally = {name: sum(one["tally"].get(name, 0) for one in found) for name in ("malformed", "oversized", "aborted")}
    return {
        "model": kind, "callers": callers, "seconds": seconds, "answers": len(times), **tally,
        "rows_per_second": round(len(times) / seconds, 1), "bare": round(rates[0][0], 1),
        "bare_in_batches_of_8": round(rates[1][0], 1),
        "ratio": round(len(times) / seconds / rates[0][0], 3) if with_bare else None,
        "ratio_to_batches_of_8": round(len(times) / seconds / rates[1][0], 3) if with_bare else None,
        # On a machine that others use as well these tell more: what a row costs, whoever else is running.
        "processor_ms_per_row": {
            "bare": round(rates[0][1], 2), "bare_in_batches_of_8": round(rates[1][1], 2),
            "server": round(used / max(len(times), 1) * 1e3, 2),
            "callers": round(sum(one["processor_seconds"] for one in found) / max(len(times), 1) * 1e3, 2),
        },
        **{f"p{q}_ms": round(float(np.percentile(times, q)), 1) for q in (50, 95, 99) if len(times)},
        "memory_mb": round(memory), "memory_grown_mb": round(grown, 1), "alive": alive, "exit_status": status,
        "problems": [problem for one in found for problem in one["problems"]],
        "errors_logged": [line["message"] for line in log if line["level"] == "ERROR"],
        "load": os.getloadavg()[0],
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.serving.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--callers", type=int, default=64)
    parser.add_argument("--processes", type=int, default=2, help="of callers")
    parser.add_argument("--model", default="resnet18", help="resnet18, encoder or mlp")
    parser.add_argument("--option", action="append", default=[], help="of proa serve, such as --option=--instances=2")
    arguments = parser.parse_args()
    found = soak(
        arguments.model, arguments.seconds, arguments.callers, arguments.processes, options=tuple(arguments.option)
    )
    print(json.dumps(found, indent=2))
    good = not found["problems"] and not found["errors_logged"] and found["alive"] and found["exit_status"] == 0
    print(
        f"{'good' if good else 'BAD'}; throughput {'at least' if found['ratio'] >= 0.9 else 'BELOW'} 0.9 of the bare loop"
    )
    return 0 if good and found["ratio"] >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
