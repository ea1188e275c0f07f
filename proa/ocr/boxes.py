"""From a map of where text is to boxes around its lines (the method of DB, "differentiable binarisation")."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from .pictures import opencv

TEXT = 0.3  # a pixel whose probability of being text is above this is text
MOST_BOXES = 1000
SMALLEST_SIDE = 3.0  # pixels of the map
ELONGATED = 1.5  # a box that is longer than this many of its heights says by itself in which direction its text runs


@dataclass(frozen=True)
class Box:
    """A rectangle at any angle. Text runs along `direction`, a vector of length 1 (y points down, as in pictures)."""

    centre: tuple[float, float]
    width: float
    height: float
    direction: tuple[float, float] = (1.0, 0.0)

    @property
    def corners(self) -> np.ndarray:
        """Where the text begins on top, where it ends on top, where it ends below, where it begins below: [4, 2]."""
        along = np.array(self.direction) * (self.width / 2)
        down = np.array([-self.direction[1], self.direction[0]]) * (self.height / 2)
        return np.array(self.centre) + np.stack([-along - down, along - down, along + down, down - along])

    @property
    def is_elongated(self) -> bool:
        return max(self.width, self.height) >= ELONGATED * min(self.width, self.height)

    def grown(self, ratio: float) -> Box:
        """As large as the text: networks are trained to mark lines smaller than they are, to keep neighbours apart.

        DB moves the outline outwards by area / perimeter x ratio, with round corners, and puts the smallest rectangle
        around it. Of a rectangle that is the rectangle with wider sides, exactly.
        """
        distance = self.width * self.height / (2 * (self.width + self.height)) * ratio
        return replace(self, width=self.width + 2 * distance, height=self.height + 2 * distance)

    def mapped(self, scale: float, offset: tuple[float, float]) -> Box:
        """In the coordinates of the picture from which the map was made: `(point - offset) / scale`."""
        centre = ((self.centre[0] - offset[0]) / scale, (self.centre[1] - offset[1]) / scale)
        return replace(self, centre=centre, width=self.width / scale, height=self.height / scale)

    def turned_by(self, angle: float, matrix: np.ndarray) -> Box:
        """Where a motion of the plane puts it: its matrix [2, 3], which turns clockwise by `angle`."""
        x, y = matrix @ [*self.centre, 1.0]
        cos, sin = math.cos(angle), math.sin(angle)
        along, across = self.direction
        return replace(
            self, centre=(float(x), float(y)), direction=(along * cos - across * sin, along * sin + across * cos)
        )

    def turned(self) -> Box:
        """The same rectangle, its text upside down."""
        return replace(self, direction=(-self.direction[0], -self.direction[1]))

    def quarter_turned(self) -> Box:
        """The same rectangle, its text along the other side (clockwise)."""
        return replace(
            self, width=self.height, height=self.width, direction=(-self.direction[1], self.direction[0])
        )  # fmt: skip


def find_boxes(probabilities: np.ndarray, least: float, grow: float) -> list[Box]:
    """Boxes around the lines of a map [height, width] of probabilities, surer than `least`, in no order."""
    cv2 = opencv()
    # Widening by a pixel closes the gaps between the letters of a line.
    text = cv2.dilate((probabilities > TEXT).astype(np.uint8), np.ones((2, 2), np.uint8))
    outlines, _ = cv2.findContours(text, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    found = []
    for outline in outlines[:MOST_BOXES]:
        box = _around(outline)
        if min(box.width, box.height) < SMALLEST_SIDE or _mean_inside(probabilities, box.corners) < least:
            continue
        found.append(box.grown(grow))
    return found


def _around(outline: np.ndarray) -> Box:
    """The smallest rectangle around an outline; its text runs along the longer side, to the right or else downwards."""
    centre, (width, height), angle = opencv().minAreaRect(outline)
    radians = np.deg2rad(angle)
    box = Box(centre, width, height, (float(np.cos(radians)), float(np.sin(radians))))
    if box.is_elongated:
        box = box.quarter_turned() if box.height > box.width else box
    elif abs(box.direction[1]) > abs(box.direction[0]):
        box = box.quarter_turned()
    along, across = box.direction
    backwards = along < 0 if abs(along) >= abs(across) else across < 0
    return box.turned() if backwards else box


def _mean_inside(probabilities: np.ndarray, corners: np.ndarray) -> float:
    """How sure the network is of what lies in a box, on average."""
    cv2 = opencv()
    height, width = probabilities.shape
    left, top = np.clip(np.floor(corners.min(axis=0)).astype(int), 0, [width - 1, height - 1])
    right, bottom = np.clip(np.ceil(corners.max(axis=0)).astype(int), 0, [width - 1, height - 1])
    mask = np.zeros((bottom - top + 1, right - left + 1), np.uint8)
    cv2.fillPoly(mask, [np.round(corners - [left, top]).astype(np.int32)], 1)
    return cv2.mean(probabilities[top : bottom + 1, left : right + 1], mask)[0]
