"""`python -m tests.formats.paddle.operations [--paddle PYTHON] [--only NAME …] [--graphs]`

Each sample of our public functions is made a program and saved by real Paddle, then read here and run, operation by
operation (quick) or, with `--graphs`, as a compiled graph. So every operation that Paddle's functions write is translated as
Paddle computes it. Samples that Paddle cannot make static programs of are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[4]
_OTHER_AREAS = ("sparse.", "compat.", "incubate.")


class Saver:
    """Paddle's process; started again when a call crashes it."""

    def __init__(self, python: str, folder: Path) -> None:
        self.python, self.folder = python, folder
        self.process: Any = None

    def save(self, request: dict[str, Any]) -> str:
        """Empty, or why there is no program."""
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [self.python, "-m", "tests.formats.paddle.operations.saver", str(self.folder)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT,
            )  # fmt: skip
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            return "Paddle crashes"
        return json.loads(line).get("error", "")

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def requests(only: list[str]) -> list[dict[str, Any]]:
    from tests.parity import plan

    found = [
        request
        for request in plan.requests(only)[0]
        if request["form"] == "function"
        and request["variant"] == "as written"
        and not request["sparse"]
        and not request["name"].startswith(_OTHER_AREAS)
        and '"$array"' in json.dumps([request["args"], request["kwargs"]])
    ]
    return [{**request, "number": number} for number, request in enumerate(found)]


def check(path: str, shape_only: bool, graphs: bool, seen: Counter[str]) -> str:
    """Empty if the saved program gives here what it gave there."""
    import proa as paddle
    from proa.formats.paddle.files import read_model
    from proa.formats.paddle.reading import LoadedModel

    model = read_model(path)
    seen.update(op.name for op in model.block.ops)
    with np.load(f"{path}.npz") as kept:
        given = [paddle.to_tensor(kept[f"in_{value.name}"]) for value in model.inputs]
        wanted = [kept[f"out_{i}"] for i in range(len(model.outputs))]
    loaded = LoadedModel(model)
    found = [tensor.numpy() for tensor in (loaded.run if graphs else loaded.run_directly)(given)]
    for mine, theirs in zip(found, wanted, strict=True):
        if mine.shape != theirs.shape or mine.dtype != theirs.dtype:
            return f"{mine.dtype}{list(mine.shape)} instead of {theirs.dtype}{list(theirs.shape)}"
        with np.errstate(all="ignore"):
            if not shape_only and not np.allclose(mine, theirs, 1e-4, 1e-4, equal_nan=True):
                return f"differs by {np.nanmax(np.abs(mine.astype(complex) - theirs.astype(complex))):.1e}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.formats.paddle.operations", description=__doc__)
    parser.add_argument("--paddle", default=os.environ.get("PROA_PARITY_PADDLE_PYTHON"), help="Paddle's interpreter")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only samples of these functions")
    parser.add_argument("--graphs", action="store_true", help="compile each program")
    options = parser.parse_args()
    python = options.paddle
    if python is None:
        from tests.parity.environment import paddle_python

        python = paddle_python()
    warnings.simplefilter("ignore")
    good = total = 0
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="proa-operations-") as text:
        saver = Saver(python, Path(text))
        try:
            for request in requests(options.only):
                if saver.save(request):
                    continue
                total += 1
                path = os.path.join(text, str(request["number"]))
                try:
                    problem = check(path, request["random"], options.graphs, seen)
                except Exception as error:
                    problem = f"{type(error).__name__}: {error}"
                good += not problem
                if problem:
                    print(f"{request['name']}{request['sample'][:80]}: {problem[:200]}", flush=True)
                for ending in (".json", ".pdiparams", ".npz"):
                    Path(path + ending).unlink(missing_ok=True)
        finally:
            saver.close()
    print(f"{good} of {total} programs agree; {len(seen)} different operations")
    return 0 if total and good / total >= 0.98 else 1


if __name__ == "__main__":
    sys.exit(main())
