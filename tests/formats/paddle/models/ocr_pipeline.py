"""Finds and reads text with the PP-OCR models, through `paddle.inference` of either framework.

    python -m tests.formats.paddle.models.ocr_pipeline FRAMEWORK MODELS PICTURES.npz RESULTS.json

Only NumPy and the framework are needed. The numbers of every model are kept beside the text, to be compared.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

DETECT, TURN, READ = "ch_PP-OCRv4_det_infer", "ch_ppocr_mobile_v2_cls_infer", "ch_PP-OCRv4_rec_infer"


class Reader:
    """The three models and what is between them."""

    def __init__(self, framework: Any, folder: Path) -> None:
        self.predictors = {name: self._load(framework, folder / "models" / name) for name in (DETECT, TURN, READ)}
        keys = (folder / "ch_ppocr_rec" / "ppocr_keys_v1.txt").read_text(encoding="utf-8").split("\n")
        self.characters = ["", *(key for key in keys if key), " "]  # the first one means "nothing"
        self.numbers: dict[str, list[np.ndarray]] = {DETECT: [], TURN: [], READ: []}

    def _load(self, framework: Any, folder: Path) -> Any:
        inference = framework.inference
        config = inference.Config(str(folder / "inference.pdmodel"), str(folder / "inference.pdiparams"))
        config.disable_glog_info()
        config.disable_mkldnn()
        return inference.create_predictor(config)

    def run(self, name: str, array: np.ndarray) -> np.ndarray:
        predictor = self.predictors[name]
        predictor.get_input_handle(predictor.get_input_names()[0]).copy_from_cpu(
            np.ascontiguousarray(array, np.float32)
        )
        predictor.run()
        found = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
        self.numbers[name].append(found)
        return found

    def read_page(self, picture: np.ndarray) -> list[str]:
        """The lines of text of a picture [height, width, 3], from top to bottom."""
        height, width = (size // 32 * 32 for size in picture.shape[:2])
        page = resized(picture, height, width)
        probability = self.run(DETECT, normalised(page)[None])[0, 0]
        return [self.read_line(page[top:bottom, left:right]) for top, bottom, left, right in boxes(probability > 0.3)]

    def read_line(self, line: np.ndarray) -> str:
        small = normalised(padded(resized_to_height(line, 48), 192))
        upside_down = self.run(TURN, small[None])[0]
        if upside_down[1] > 0.9:
            line = line[::-1, ::-1]
        scaled = resized_to_height(line, 48)
        # A width of few different values keeps the number of executables small.
        wide = padded(scaled, max(320, -(-scaled.shape[1] // 160) * 160))
        return self.decoded(self.run(READ, normalised(wide)[None])[0])

    def decoded(self, scores: np.ndarray) -> str:
        """The best character of each step, without repetitions and blanks."""
        best = scores.argmax(-1)
        kept = best[np.r_[True, best[1:] != best[:-1]]]
        return "".join(self.characters[number] for number in kept if number)


def normalised(picture: np.ndarray) -> np.ndarray:
    return ((picture.astype(np.float32) / 255 - 0.5) / 0.5).transpose(2, 0, 1)


def resized(picture: np.ndarray, height: int, width: int) -> np.ndarray:
    """Bilinear, with aligned centres."""
    result = picture.astype(np.float32)
    for axis, size in ((0, height), (1, width)):
        before = result.shape[axis]
        places = np.clip((np.arange(size) + 0.5) * before / size - 0.5, 0, before - 1)
        low = np.floor(places).astype(int)
        high = np.minimum(low + 1, before - 1)
        share = (places - low).reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
        result = np.take(result, low, axis) * (1 - share) + np.take(result, high, axis) * share
    return result


def resized_to_height(picture: np.ndarray, height: int) -> np.ndarray:
    return resized(picture, height, max(8, round(picture.shape[1] * height / picture.shape[0])))


def padded(picture: np.ndarray, width: int) -> np.ndarray:
    """Cut, or filled with grey, which is 0 after normalising."""
    filled = np.full((picture.shape[0], width, 3), 127.5, np.float32)
    used = min(width, picture.shape[1])
    filled[:, :used] = picture[:, :used]
    return filled


def boxes(mask: np.ndarray, margin: int = 6) -> list[tuple[int, int, int, int]]:
    """Top, bottom, left and right of the lines in a mask of text that lies horizontally."""
    rows = np.flatnonzero(np.diff(np.r_[0, mask.any(1).astype(int), 0]))
    found = []
    for top, bottom in rows.reshape(-1, 2):
        columns = np.flatnonzero(mask[top:bottom].any(0))
        found.append(
            (max(top - margin, 0), min(bottom + margin, mask.shape[0]), max(int(columns[0]) - margin, 0),
             min(int(columns[-1]) + 1 + margin, mask.shape[1]))
        )  # fmt: skip
    return [(int(a), int(b), c, d) for a, b, c, d in found]


def main() -> None:
    framework_name, folder, pictures, results = sys.argv[1:]
    reader = Reader(importlib.import_module(framework_name), Path(folder))
    with np.load(pictures) as kept:
        texts = {name: reader.read_page(kept[name]) for name in sorted(kept.files)}
    np.savez(
        f"{results}.npz", **{f"{name}/{i}": a for name, found in reader.numbers.items() for i, a in enumerate(found)}
    )  # type: ignore[arg-type]
    Path(results).write_text(json.dumps(texts), encoding="utf-8")


if __name__ == "__main__":
    main()
