"""Lines cut out of a picture, upright, and made as high as a network wants them."""

from __future__ import annotations

import numpy as np

from .boxes import Box
from .pictures import opencv


def cut(picture: np.ndarray, box: Box) -> np.ndarray:
    """What lies in a box, its text running to the right."""
    cv2 = opencv()
    width, height = max(1, round(box.width)), max(1, round(box.height))
    corners = box.corners[[0, 1, 3]].astype(np.float32)
    upright = np.array([[0, 0], [width, 0], [0, height]], np.float32)
    matrix = cv2.getAffineTransform(corners, upright)
    return cv2.warpAffine(
        picture, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )  # fmt: skip


def turn(line: np.ndarray) -> np.ndarray:
    """Upside down."""
    return np.ascontiguousarray(line[::-1, ::-1])


def fill(line: np.ndarray, height: int, width: int) -> np.ndarray:
    """[3, height, width] in the order blue, green, red, from -1 to 1; the line begins at the left, zeros follow it."""
    cv2 = opencv()
    scaled = min(width, max(1, -(-line.shape[1] * height // line.shape[0])))
    shrinks = line.shape[0] > height and line.shape[1] > scaled
    resized = cv2.resize(line, (scaled, height), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)
    filled = np.zeros((3, height, width), np.float32)
    filled[:, :, :scaled] = resized[:, :, ::-1].transpose(2, 0, 1).astype(np.float32) / 127.5 - 1
    return filled
