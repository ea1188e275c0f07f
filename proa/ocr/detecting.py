"""Where the lines of text in a picture are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .boxes import Box, find_boxes
from .networks import Network
from .ordering import page_direction
from .pictures import opencv

# The sides of what the network sees. A few sizes, so that there are few executables; all multiples of 32, which it needs.
SIDES = (320, 480, 640, 800, 960, 1280, 1600, 1920, 2560)
LONGEST_SIDE = 1600  # larger pictures are made smaller; lines are cut from the picture as it came
MARGIN = 16  # letters at the very edge of a small picture would not be found
TILTED = math.radians(8)
# What PP-OCR's detectors were trained with: ImageNet's, in the order blue, green, red as it is written there.
MEAN = np.array([0.485, 0.456, 0.406], np.float32)
DEVIATION = np.array([0.229, 0.224, 0.225], np.float32)


class Detector:
    """Finds lines. `least`: how sure the network must be of one; `grow`: by how much its marks are made larger."""

    def __init__(
        self, path: str, longest_side: int = LONGEST_SIDE, least: float = 0.5, grow: float = 1.6, engine: str | None = None
    ) -> None:  # fmt: skip
        self.network = Network(path, "detector", engine)
        self.longest_side, self.least, self.grow = longest_side, least, grow

    def __call__(self, picture: np.ndarray) -> list[Box]:
        """Boxes in the picture's coordinates."""
        canvas, scale, offset = fit(picture, self.longest_side)
        probabilities = self.network(normalise(canvas))
        boxes = find_boxes(
            np.ascontiguousarray(probabilities.reshape(canvas.shape[:2]), np.float32), self.least, self.grow
        )
        return [box.mapped(scale, offset) for box in boxes]

    def detect_turned(self, picture: np.ndarray) -> list[Box]:
        """The same for a page that may lie at any angle: the network finds lines best that are level or upright, so a
        page that turns out to be neither is turned, and looked at again."""
        boxes = self(picture)
        along, across = page_direction(boxes)
        tilt = math.atan2(across, along)
        tilt -= round(tilt / (math.pi / 2)) * (math.pi / 2)
        if abs(tilt) < TILTED:
            return boxes
        level, matrix = _turned_back(picture, tilt)
        return [box.turned_by(tilt, matrix) for box in self(level)]


def fit(picture: np.ndarray, longest_side: int = LONGEST_SIDE) -> tuple[np.ndarray, float, tuple[float, float]]:
    """The picture in the middle of a canvas of one of a few sizes: the canvas, the scale, where the picture begins."""
    cv2 = opencv()
    height, width = picture.shape[:2]
    scale = min(1.0, longest_side / max(height, width))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    if scale < 1.0:
        picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    wide, high = (_side(length) for length in size)
    left, top = (wide - size[0]) // 2, (high - size[1]) // 2
    canvas = np.empty((high, wide, 3), np.uint8)
    canvas[:] = _edge_colour(picture)
    canvas[top : top + size[1], left : left + size[0]] = picture
    return canvas, scale, (float(left), float(top))


def _turned_back(picture: np.ndarray, angle: float) -> tuple[np.ndarray, np.ndarray]:
    """The picture turned anticlockwise, on a canvas that holds all of it; and the matrix that leads back."""
    cv2 = opencv()
    height, width = picture.shape[:2]
    cos, sin = math.cos(angle), math.sin(angle)
    size = round(width * abs(cos) + height * abs(sin)), round(width * abs(sin) + height * abs(cos))
    turning = np.array([[cos, sin], [-sin, cos]])
    shift = np.array(size) / 2 - turning @ np.array([width, height]) / 2
    level = cv2.warpAffine(
        picture, np.column_stack([turning, shift]), size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT,
        borderValue=_edge_colour(picture).tolist(),
    )  # fmt: skip
    return level, np.column_stack([turning.T, -turning.T @ shift])


def normalise(canvas: np.ndarray) -> np.ndarray:
    """[1, 3, height, width] as the network was trained."""
    scaled = (canvas[:, :, ::-1].astype(np.float32) / 255 - MEAN) / DEVIATION
    return np.ascontiguousarray(scaled.transpose(2, 0, 1)[None])


def _side(length: int) -> int:
    wanted = length + 2 * MARGIN if length < SIDES[0] else length
    return next((side for side in SIDES if side >= wanted), -(-wanted // 32) * 32)


def _edge_colour(picture: np.ndarray) -> Any:
    """The picture's edge, so that what is put around it is no edge of its own."""
    edges = [picture[0], picture[-1], picture[:, 0], picture[:, -1]]
    return np.median(np.concatenate(edges), axis=0)
