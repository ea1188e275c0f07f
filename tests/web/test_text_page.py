"""The page that reads text: its scripts beside the Python that they mirror (by Node), and in a headless browser."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from proa.export.web.site import ASSETS, export_site
from proa.ocr.boxes import Box, find_boxes
from proa.ocr.ordering import page_direction, rows_of
from proa.ocr.recognising import decode
from tests.ocr.conftest import weights  # noqa: F401 (a fixture)
from tests.ocr.pages import LINES, draw
from tests.ocr.test_boxes import at_angle, drawn

from .__main__ import read_text
from .browser import browser_problem, opened
from .test_pages import runtime  # noqa: F401 (a fixture)

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def node(folder: Path, program: str, data: object) -> object:
    """What a program of the page's modules writes for some data."""
    for file in (ASSETS / "text").glob("*.js"):
        shutil.copyfile(file, folder / file.name)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "data.json").write_text(json.dumps(data), encoding="utf-8")
    (folder / "main.js").write_text(
        'import { readFileSync } from "node:fs";\nconst data = JSON.parse(readFileSync("data.json", "utf8"));\n'
        + program,
        encoding="utf-8",
    )
    result = subprocess.run(
        ["node", "main.js"], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@needs_node
def test_boxes_and_rows_are_those_of_python(tmp_path: Path) -> None:
    generator = np.random.default_rng(5)
    maps, expected = [], []
    for angle in (0, 12, 45, 90, 160):
        down = -math.sin(math.radians(angle)) * 60, math.cos(math.radians(angle)) * 60
        boxes = [at_angle(angle, (200 + i * down[0], 150 + i * down[1]), 110 + 20 * i, 18 + 4 * i) for i in (-1, 0, 1)]
        chances = drawn(boxes, size=(300, 400)) * generator.uniform(0.8, 1.0, (300, 400)).astype(np.float32)
        maps.append(chances)
        expected.append(find_boxes(chances, 0.5, 1.6))
    program = """
        import { findBoxes } from "./boxes.js";
        import { pageDirection, rowsOf } from "./ordering.js";
        console.log(JSON.stringify(data.map((map) => {
          const boxes = findBoxes(map, 400, 300);
          return { boxes, direction: pageDirection(boxes), rows: rowsOf(boxes) };
        })));"""
    found = node(tmp_path, program, [np.round(chances, 4).ravel().tolist() for chances in maps])
    assert isinstance(found, list)
    for theirs, ours in zip(found, expected, strict=True):
        boxes = [Box((b["x"], b["y"]), b["width"], b["height"], (b["dx"], b["dy"])) for b in theirs["boxes"]]
        assert len(boxes) == len(ours) == 3
        for box in boxes:
            nearest = min(ours, key=lambda other: math.dist(other.centre, box.centre))
            assert np.allclose(box.corners, nearest.corners, atol=0.6)
        assert np.allclose(theirs["direction"], page_direction(boxes), atol=1e-6)
        assert theirs["rows"] == rows_of(boxes)


@needs_node
def test_decoding_is_that_of_python(tmp_path: Path) -> None:
    characters = ["", "a", "b", "中", "@", "7", " "]
    generator = np.random.default_rng(6)
    cases = []
    for _ in range(100):
        chances = generator.dirichlet(np.full(len(characters), 0.15), generator.integers(1, 15))
        cases.append(np.round(chances, 6))
    program = """
        import { decode, readCharacters } from "./decoding.js";
        const characters = readCharacters("a\\r\\nb\\r\\n中\\r\\n@\\r\\n7\\r\\n");
        console.log(JSON.stringify(data.map((rows) => decode(rows.flat(), rows.length, characters))));"""
    found = node(tmp_path, program, [case.tolist() for case in cases])
    assert isinstance(found, list)
    for theirs, case in zip(found, cases, strict=True):
        text, confidence = decode(case, characters)
        assert theirs["text"] == text
        assert theirs["confidence"] == pytest.approx(confidence)


@pytest.mark.skipif(browser_problem() is not None, reason=str(browser_problem()))
def test_a_dropped_picture_is_read(weights: Path, runtime: str, tmp_path: Path) -> None:  # noqa: F811
    site = tmp_path / "site"
    export_site(str(weights), site, "text", runtime=runtime)
    Image.fromarray(draw(LINES[:2], angle=180)).save(tmp_path / "picture.png")
    Image.new("RGB", (200, 100), "white").save(tmp_path / "empty.png")
    (tmp_path / "wrong.png").write_bytes(os.urandom(100))
    with opened(site, timeout=100) as page:
        assert read_text(page, tmp_path / "picture.png").split("\n") == list(LINES[:2])
        assert read_text(page, tmp_path / "empty.png") == ""
        assert "No text was found" in page.locator("#status").text_content()
        assert read_text(page, tmp_path / "wrong.png") == ""
        assert "no picture" in page.locator("#status").text_content()
