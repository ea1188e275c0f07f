"""`python -m tests.web`: 20 drawn digits and 5 pictures of text, in a headless browser, on exported pages.

Needs chromium, playwright, npm (or PROA_ORT_WEB, a packed onnxruntime-web) and PP-OCR's weights (PROA_RAPIDOCR, or a
download).
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from PIL import Image

from proa.export.web.site import export_site
from tests.ocr.pages import LINES, draw
from tests.ocr.weights import find_package

from .browser import browser_problem, opened
from .digits import train_digits
from .drawings import DIGITS
from .drawings import draw as draw_digit

PICTURES: dict[str, dict[str, Any]] = {
    "plain": {}, "small serif": {"font": "DejaVuSerif", "size": 18}, "upside down": {"angle": 180}, "tilted": {"angle": 20},
    "light on dark": {"font": "DejaVuSansMono", "size": 26, "paper": (10, 20, 40), "ink": (230, 230, 230)},
}  # fmt: skip
DONE = "() => /lines in|No text|rror/.test(document.getElementById('status').textContent)"


def read_text(page: Any, picture: Path) -> str:
    """What the page reads in a picture."""
    page.evaluate("document.getElementById('status').textContent = ''")
    page.set_input_files("#file", picture)
    page.wait_for_function(DONE)
    return page.locator("#text").text_content()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--screenshots", type=Path, help="a folder for pictures of the pages")
    arguments = parser.parse_args()
    problem = browser_problem()
    if problem:
        print(problem, file=sys.stderr)
        return 2
    runtime = os.environ.get("PROA_ORT_WEB")
    right = 0
    with tempfile.TemporaryDirectory(prefix="proa-web-") as text:
        folder = Path(text)
        train_digits(folder / "digits.proa")
        export_site(str(folder / "digits.proa"), folder / "digits", "draw", runtime=runtime)
        with opened(folder / "digits") as page:
            for digit, hands in DIGITS.items():
                answers = [draw_digit(page, strokes) for strokes in hands]
                right += sum(answer == digit for answer in answers)
                print(f"drawn {digit}: read {', '.join(answers)}", flush=True)
            shoot(page, arguments.screenshots, "digits")
        export_site(str(find_package(folder / "weights")), folder / "text", "text", runtime=runtime)
        with opened(folder / "text", timeout=120) as page:
            for name, drawing in PICTURES.items():
                Image.fromarray(draw(LINES, **drawing)).save(folder / "picture.png")
                started = time.perf_counter()
                found = read_text(page, folder / "picture.png").split("\n")
                right += found == list(LINES)
                print(
                    f"{name}: {'exact' if found == list(LINES) else found} ({time.perf_counter() - started:.1f} s)",
                    flush=True,
                )
            shoot(page, arguments.screenshots, "text")
    print(f"{right} of {2 * len(DIGITS) + len(PICTURES)} right")
    return 0 if right == 2 * len(DIGITS) + len(PICTURES) else 1


def shoot(page: Any, folder: Path | None, name: str) -> None:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=folder / f"{name}.png", full_page=True)


if __name__ == "__main__":
    sys.exit(main())
