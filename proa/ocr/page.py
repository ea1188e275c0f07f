"""What was read: a Page of Lines."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .boxes import Box


@dataclass(frozen=True)
class Line:
    """A line of text: what it says, how sure that is (0 to 1), and where it is.

    Examples:
        >>> from proa.ocr.boxes import Box
        >>> line = paddle.ocr.Line("Total", 0.99, Box((50.0, 20.0), 80.0, 10.0))
        >>> line.text, line.angle
        ('Total', 0.0)
    """

    text: str
    confidence: float
    box: Box

    @property
    def corners(self) -> list[tuple[float, float]]:
        """Where the text begins on top, ends on top, ends below, begins below, as (x, y) in pixels of the picture.

        Examples:
            >>> from proa.ocr.boxes import Box
            >>> paddle.ocr.Line("Total", 0.99, Box((50.0, 20.0), 80.0, 10.0)).corners
            [(10.0, 15.0), (90.0, 15.0), (90.0, 25.0), (10.0, 25.0)]
        """
        return [(round(float(x), 1), round(float(y), 1)) for x, y in self.box.corners]

    @property
    def angle(self) -> float:
        """How far it is turned clockwise, in degrees: 0 is upright, 90 runs downwards, 180 is upside down.

        Examples:
            >>> from proa.ocr.boxes import Box
            >>> paddle.ocr.Line("Total", 0.99, Box((50.0, 20.0), 80.0, 10.0, (0.0, 1.0))).angle
            90.0
        """
        return round(math.degrees(math.atan2(self.box.direction[1], self.box.direction[0])) % 360, 1) % 360


@dataclass(frozen=True)
class Page:
    """The lines of a picture, in the order in which one reads them.

    Examples:
        >>> from proa.ocr.boxes import Box
        >>> line = paddle.ocr.Line("Total", 0.99, Box((50.0, 20.0), 80.0, 10.0))
        >>> paddle.ocr.Page(np.zeros((40, 100, 3), "uint8"), [[line]]).text
        'Total'
    """

    picture: np.ndarray = field(repr=False)
    rows: list[list[Line]]
    seconds: dict[str, float] = field(default_factory=dict, compare=False)

    @property
    def lines(self) -> list[Line]:
        """The lines, in the order in which one reads them.

        Examples:
            >>> from proa.ocr.boxes import Box
            >>> line = paddle.ocr.Line("Total", 0.99, Box((50.0, 20.0), 80.0, 10.0))
            >>> len(paddle.ocr.Page(np.zeros((40, 100, 3), "uint8"), [[line]]).lines)
            1
        """
        return [line for row in self.rows for line in row]

    @property
    def text(self) -> str:
        """Everything that was read; what stands in one row is separated by a space.

        Examples:
            >>> from proa.ocr.boxes import Box
            >>> row = [paddle.ocr.Line(text, 0.99, Box((50.0, 20.0), 80.0, 10.0)) for text in ("Total", "12.40")]
            >>> paddle.ocr.Page(np.zeros((40, 100, 3), "uint8"), [row]).text
            'Total 12.40'
        """
        return "\n".join(" ".join(line.text for line in row) for row in self.rows)

    def as_dictionary(self) -> dict[str, Any]:
        """Plain data, for JSON.

        Examples:
            >>> paddle.ocr.Page(np.zeros((40, 100, 3), "uint8"), []).as_dictionary()
            {'width': 100, 'height': 40, 'text': '', 'lines': [], 'seconds': {}}
        """
        height, width = self.picture.shape[:2]
        lines = [
            {"text": line.text, "confidence": round(line.confidence, 4), "corners": line.corners, "angle": line.angle}
            for line in self.lines
        ]
        return {"width": width, "height": height, "text": self.text, "lines": lines, "seconds": self.seconds}

    def draw(self, path: str | os.PathLike[str], font: str | None = None) -> None:
        """Writes a picture: the page with its boxes, beside it the text in its place.

        Args:
            path: where the picture goes; its ending says its format.
            font: a file; None: one that is found.

        Examples:
            >>> import os
            >>> paddle.ocr.Page(np.zeros((40, 100, 3), "uint8"), []).draw("page.png")
            >>> os.path.exists("page.png")
            True
        """
        from .drawing import draw_page

        draw_page(self, path, font)
