"""Pictures of text read with PP-OCR's real weights. A picture has one of two sizes: each size is compiled once."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import proa
from proa.ocr import Reader

from .pages import LINES, draw


@pytest.fixture(scope="module")
def reader(weights: Path) -> Reader:
    return Reader(weights)


def canvas(page: np.ndarray) -> np.ndarray:
    """On a page of 480 by 480 pixels."""
    whole = np.empty((480, 480, 3), np.uint8)
    whole[:] = page[0, 0]
    top, left = (480 - page.shape[0]) // 2, (480 - page.shape[1]) // 2
    whole[top : top + page.shape[0], left : left + page.shape[1]] = page
    return whole


@pytest.mark.parametrize(
    "drawing",
    [
        {"font": "DejaVuSans", "size": 28}, {"font": "DejaVuSerif", "size": 14}, {"font": "DejaVuSansMono", "size": 24},
        {"font": "DejaVuSerif-Italic", "size": 22, "paper": (10, 20, 40), "ink": (230, 230, 230)},
        {"angle": 90}, {"angle": 180}, {"angle": 270}, {"angle": -5},
    ],
    ids=lambda drawing: "-".join(str(value) for value in drawing.values()),
)  # fmt: skip
def test_drawn_lines_are_read(reader: Reader, drawing: dict) -> None:
    page = reader.read(canvas(draw(LINES, **drawing)))
    assert page.text.split("\n") == list(LINES)
    assert all(line.confidence > 0.8 for line in page.lines)
    turned = -drawing.get("angle", 0) % 360
    assert all(min(abs(line.angle - turned), 360 - abs(line.angle - turned)) < 3 for line in page.lines)


def test_boxes_lie_on_the_ink(reader: Reader) -> None:
    picture = canvas(draw(["Only one line"], size=30))
    [line] = reader.read(picture).lines
    dark = np.argwhere(picture.min(axis=2) < 128)
    corners = np.array(line.corners)
    assert np.allclose(corners.min(axis=0), dark.min(axis=0)[::-1], atol=8)
    assert np.allclose(corners.max(axis=0), dark.max(axis=0)[::-1], atol=8)


def test_a_line_that_stands_against_the_page_is_read_too(reader: Reader) -> None:
    picture = canvas(draw(LINES[:2], size=24))
    other = draw(["upside down here"], size=24, angle=180)
    picture[350 : 350 + other.shape[0], 100 : 100 + other.shape[1]] = other
    page = reader.read(picture)
    assert [line.text for line in page.lines] == [*LINES[:2], "upside down here"]
    assert [round(line.angle / 180) for line in page.lines] == [0, 0, 1]


def test_pictures_without_text(reader: Reader) -> None:
    for picture in (np.zeros((1, 1, 3), np.uint8), np.full((480, 480, 3), 200, np.uint8)):
        page = reader.read(picture)
        assert (page.text, page.lines, page.as_dictionary()["lines"]) == ("", [], [])


def test_one_line_alone(reader: Reader) -> None:
    picture = draw(["One tight line"], size=30)[28:72, 36:-36]
    text, confidence = reader.read_line(picture)
    assert (text, confidence > 0.9) == ("One tight line", True)


def test_threads_share_a_reader(reader: Reader) -> None:
    words = ["first thread", "second thread", "third thread", "fourth thread"]
    pictures = [canvas(draw([word], size=30)) for word in words]
    found: dict[str, set[str]] = {word: set() for word in words}

    def work(word: str, picture: np.ndarray) -> None:
        for _ in range(3):
            found[word].add(reader.read(picture).text)

    threads = [threading.Thread(target=work, args=pair) for pair in zip(words, pictures, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {word: {word} for word in words}


def test_the_drawing_shows_boxes_and_text(reader: Reader, tmp_path: Path) -> None:
    picture = canvas(draw(LINES[:2]))
    page = reader.read(picture)
    page.draw(tmp_path / "out.png")
    drawn = np.asarray(Image.open(tmp_path / "out.png"))
    assert drawn.shape == (480, 960, 3)
    x, y = np.round(page.lines[0].corners[0]).astype(int)
    assert np.ptp(drawn[y - 3 : y + 4, x - 3 : x + 4].astype(int), axis=2).max() > 150  # the box's edge has a colour
    # What was drawn beside the picture can be read again.
    assert reader.read(np.ascontiguousarray(drawn[:, 480:])).text == page.text
    with pytest.raises(ValueError, match="ending must name a format"):
        page.draw(tmp_path / "out.xyz")
    with pytest.raises(OSError, match="cannot be written"):
        page.draw(tmp_path / "absent" / "out.png")
    with pytest.raises(ValueError, match="font cannot be read"):
        page.draw(tmp_path / "other.png", font=__file__)
    assert [file.name for file in tmp_path.iterdir()] == ["out.png"]


def test_wrong_settings_are_refused(weights: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="least_confidence"):
        Reader(weights, least_confidence=2)
    with pytest.raises(ValueError, match="longest_side"):
        Reader(weights, longest_side=0)
    few = tmp_path / "few.txt"
    few.write_text("a\nb\nc")
    with pytest.raises(ValueError, match=r"6625 classes.*3 characters"):
        Reader(weights, characters=str(few)).read_line(np.full((48, 320, 3), 255, np.uint8))


def test_the_command(weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from proa_command import main

    good, bad, drawing = tmp_path / "good.png", tmp_path / "bad.png", tmp_path / "drawing.png"
    Image.fromarray(canvas(draw(LINES[:2]))).save(good)
    bad.write_bytes(b"no picture")
    models = ["--models", str(weights)]
    assert main(["ocr", str(good), "-o", str(drawing), *models]) == 0
    assert capsys.readouterr().out == "Invoice 20251115\nTotal amount 1,284.50\n"
    assert drawing.stat().st_size > 0
    assert main(["ocr", str(bad), str(good), "--json", *models]) == 1
    output = capsys.readouterr()
    first, second = json.loads(output.out)
    assert "cannot be read" in first["error"]
    assert "cannot be read" in output.err
    assert second["text"].split("\n") == list(LINES[:2])
    assert len(second["lines"][0]["corners"]) == 4
    assert main(["ocr", str(good), str(good), "-o", str(drawing), *models]) == 1
    assert "-o takes the drawing of one picture" in capsys.readouterr().err
    assert main(["ocr", str(good), "--models", str(tmp_path / "absent")]) == 1
    assert "does not exist" in capsys.readouterr().err


def test_the_room_is_reached_by_name() -> None:
    assert proa.ocr.Reader is Reader
    with pytest.raises(AttributeError, match="has no attribute 'Writer'"):
        _ = proa.ocr.Writer
