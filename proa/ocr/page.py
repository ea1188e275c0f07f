"""What was read: a Page of Lines."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .boxes import Box


@dataclass(frozen=True)
class Line:
    """A line of text: what it says, how sure that is (0 to 1), and where it is."""

    text: str
    confidence: float
    box: Box

    @property
    def corners(self) -> list[tuple[float, float]]:
        """Where the text begins on top, ends on top, ends below, begins below, as (x, y) in pixels of the picture."""
        return [(round(float(x), 1), round(float(y), 1)) for x, y in self.box.corners]

    @property
    def angle(self) -> float:
        """How far it is turned clockwise, in degrees: 0 is upright, 90 runs downwards, 180 is upside down."""
        return round(math.degrees(math.atan2(self.box.direction[1], self.box.direction[0])) % 360, 1) % 360


@dataclass(frozen=True)
class Page:
    """The lines of a picture, in the order in which one reads them."""

    picture: np.ndarray = field(repr=False)
    rows: list[list[Line]]
    seconds: dict[str, float] = field(default_factory=dict, compare=False)

    @property
    def lines(self) -> list[Line]:
        return [line for row in self.rows for line in row]

    @property
    def text(self) -> str:
        """Everything that was read; what stands in one row is separated by a space."""
        return "\n".join(" ".join(line.text for line in row) for row in self.rows)

    def as_dictionary(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        height, width = self.picture.shape[:2]
        lines = [
            {"text": line.text, "confidence": round(line.confidence, 4), "corners": line.corners, "angle": line.angle}
            for line in self.lines
        ]
        return {"width": width, "height": height, "text": self.text, "lines": lines, "seconds": self.seconds}

    def draw(self, path: Any, font: str | None = None) -> None:
        """Writes a picture: the page with its boxes, beside it the text in its place."""
        from .drawing import draw_page

        draw_page(self, path, font)
