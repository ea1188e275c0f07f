"""Every family beside `transformers`: `PROA_PARITY_TORCH_PYTHON=… python -m tests.llm.models.families [NAME …]`.

Another Python, with torch and transformers, makes small random models and writes them as they are written for everybody
(safetensors, single and in shards), with logits, the gradient of a loss for every weight, and greedy text of 64 tokens. Here
each is loaded, compared, written back, and read by transformers once more. `--keep FOLDER` leaves the files there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import proa as paddle
from proa.llm.loading import from_tensors, read_config, read_tensors
from proa.nn import functional as F
from tests.llm.models.cases import DECODERS, ENCODERS, TRANSLATORS

LOGITS, GRADIENTS, NEW = 1e-4, 1e-3, 64
REFERENCE = Path(__file__).with_name("reference.py")


def folder_name(name: str) -> str:
    return name.replace(" ", "_").replace(",", "")


def run_reference(action: str, folder: Path) -> None:
    python = os.environ.get("PROA_PARITY_TORCH_PYTHON")
    if not python:
        sys.exit("PROA_PARITY_TORCH_PYTHON must name a Python with torch and transformers.")
    subprocess.run([python, str(REFERENCE), action, str(folder)], check=True, stderr=subprocess.DEVNULL)


def gradients_of(folder: Path) -> dict[str, np.ndarray]:
    """Another model, whose weights are the gradients."""
    family, config = read_config(folder)
    tensors, as_ours = read_tensors(folder)
    model = from_tensors(family, config, tensors, as_ours=as_ours)
    return {name: tensor.numpy() for name, tensor in model.state_dict().items()}


def compare(name: str, folder: Path) -> dict[str, Any]:
    answers = np.load(folder / "answers.npz")
    model = paddle.llm.load(folder)
    ids = paddle.to_tensor(answers["ids"])
    logits, loss = _run(name, model, ids, answers)
    difference = float(np.abs(logits.numpy() - answers["logits"]).max())
    loss.backward()
    worst = 0.0
    for ours, expected in gradients_of(folder / "gradients").items():
        tensor = model.state_dict()[ours]
        if tensor.stop_gradient:
            continue
        found = np.zeros_like(expected) if tensor.grad is None else tensor.grad.numpy()
        scale = np.abs(expected).max()
        distance = np.abs(found - expected).max()
        worst = max(worst, float(distance / scale) if scale > 1e-7 else float(distance))
    text = None
    if "text" in answers:
        prompt = ids[:1] if name in TRANSLATORS else ids[:1, :8]
        found = model.generate(prompt, NEW, ends=()).numpy()[0]
        text = int((np.cumprod(found == answers["text"])).sum())
    paddle.llm.save(model, folder / "written")
    return {"logits": difference, "loss": abs(loss.item() - float(answers["loss"])), "gradients": worst, "text": text}


def _run(name: str, model: Any, ids: Any, answers: Any) -> tuple[Any, Any]:
    if name in DECODERS:
        logits = model(ids)
        return logits, F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    mask = paddle.to_tensor(answers["mask"])
    if name in ENCODERS:
        types = paddle.to_tensor(answers["token_type_ids"]) if "token_type_ids" in answers else None
        logits = model(ids, mask=mask, types=types)
        return logits, F.cross_entropy(logits[mask.astype("bool")], ids[mask.astype("bool")])
    targets = paddle.to_tensor(answers["targets"])
    logits = model(ids, targets, mask=mask)
    return logits, F.cross_entropy(logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    names = options.names or [*DECODERS, *ENCODERS, *TRANSLATORS]
    with tempfile.TemporaryDirectory() as scratch:
        root = options.keep or Path(scratch)
        if not root.is_dir() or not any(root.iterdir()):
            root.mkdir(parents=True, exist_ok=True)
            run_reference("make", root)
        rows = {}
        for name in names:
            rows[name] = compare(name, root / folder_name(name))
        run_reference("read", root)
        back = json.loads((root / "read.json").read_text())
    failed = 0
    print(f"{'family':24}{'logits':>10}{'gradients':>11}{'text':>7}{'written':>10}")
    for name, row in rows.items():
        good = row["logits"] <= LOGITS and row["gradients"] <= GRADIENTS and row["text"] in (None, NEW)
        good &= back[name]["difference"] <= LOGITS and not back[name]["strange"]
        failed += not good
        text = "–" if row["text"] is None else f"{row['text']}/{NEW}"
        print(f"{name:24}{row['logits']:10.1e}{row['gradients']:11.1e}{text:>7}{back[name]['difference']:10.1e}"
              f"{'' if good else '  NO'} {' '.join(back[name]['strange'][:3])}")  # fmt: skip
    print(f"{len(rows) - failed} of {len(rows)} agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
