"""`python -m tests.ocr.compare`: drawn pages read by proa and, on the same pictures, by rapidocr-onnxruntime.

Needs the registry (or PROA_RAPIDOCR and PROA_RAPIDOCR_ONNX, the unpacked packages), and what the peer needs: onnxruntime,
pyclipper, shapely, six, PyYAML, tqdm.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from proa.ocr import Reader

from .pages import FONTS, LINES, draw
from .weights import download, find_package

TEXT = (*LINES, "3.14159 26535 (42)")
LONG = tuple(f"{line} and more {line}" for line in TEXT)


def pages() -> dict[str, tuple[np.ndarray, tuple[str, ...]]]:
    """Pictures by name, and what they say."""
    found = {f"{font}, {size}": (draw(TEXT, font, size), TEXT) for font in FONTS for size in (14, 24, 40)}
    for angle in (5, -12, 30, -60, 90, 180, 200, 270, 315):
        found[f"turned by {angle}"] = (draw(TEXT, angle=angle), TEXT)
    found["light on dark"] = (draw(TEXT, paper=(10, 20, 40), ink=(230, 230, 230)), TEXT)
    found["pale"] = (draw(TEXT, paper=(235, 230, 220), ink=(150, 140, 130)), TEXT)
    found["one tight line"] = (draw(["One tight line of text"])[26:66, 38:-38].copy(), ("One tight line of text",))
    found["large"] = (draw(["BIG", "words"], "DejaVuSans-Bold", 200), ("BIG", "words"))
    found["one digit"] = (draw(["7"], size=60), ("7",))
    found["long page"] = (draw(LONG * 9, "DejaVuSerif", 38), LONG * 9)
    return found


def ours(folder: Path) -> Callable[[np.ndarray], str]:
    reader = Reader(find_package(folder))
    return lambda picture: reader.read(picture).text


def theirs(folder: Path) -> Callable[[np.ndarray], str]:
    given = os.environ.get("PROA_RAPIDOCR_ONNX")
    if not given:
        download("rapidocr-onnxruntime==1.4.4", folder)
    sys.path.insert(0, str(Path(given).parent) if given else str(folder))
    from rapidocr_onnxruntime import RapidOCR

    engine = RapidOCR()

    def read(picture: np.ndarray) -> str:
        lines, _ = engine(np.ascontiguousarray(picture[:, :, ::-1]))
        return "\n".join(line[1] for line in lines or [])

    return read


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--alone", action="store_true", help="proa only")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="proa-ocr-") as text:
        readers = {"proa": ours(Path(text)), **({} if arguments.alone else {"rapidocr": theirs(Path(text))})}
        exact, letters, seconds = (dict.fromkeys(readers, 0.0) for _ in range(3))
        drawn = pages()
        for name, (picture, lines) in drawn.items():
            row = []
            for who, read in readers.items():
                read(picture)  # what is compiled for a size is no part of reading
                started = time.perf_counter()
                found = read(picture)
                seconds[who] += time.perf_counter() - started
                exact[who] += found.split("\n") == list(lines)
                right = "".join(found.split()) == "".join("".join(lines).split())
                letters[who] += right
                row.append(
                    f"{who}: {'exact' if found.split(chr(10)) == list(lines) else 'letters' if right else found!r}"
                )
            print(f"{name:24s} {'   '.join(row)[:230]}", flush=True)
    for who in readers:
        print(
            f"{who}: {exact[who]:.0f} of {len(drawn)} pages exactly, {letters[who]:.0f} but for spaces, {seconds[who]:.1f} s"
        )
    return 0 if exact["proa"] >= 0.9 * len(drawn) else 1


if __name__ == "__main__":
    sys.exit(main())
