"""The matrices of rotations, affine maps and perspectives, over the pixel's coordinates (x, y).

A transform of an image asks, for every pixel of the result, where in the source it comes from. So all
matrices here are those of the way back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import value_error


def move(x: float, y: float) -> np.ndarray:
    return np.array([[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]])


def affine_map(
    angle: float, translate: Sequence[float], scale: float, shear: Sequence[float], center: Sequence[float]
) -> np.ndarray:
    """Source to result: shear, turn clockwise by `angle` degrees and scale about the centre, then move."""
    turn, shear_x, shear_y = (math.radians(value) for value in (angle, *shear))
    cosine, sine = math.cos(turn - shear_y) / math.cos(shear_y), math.sin(turn - shear_y) / math.cos(shear_y)
    tangent = math.tan(shear_x)
    linear = np.array(
        [
            [cosine, -cosine * tangent - math.sin(turn), 0.0],
            [sine, -sine * tangent + math.cos(turn), 0.0],
            [0.0, 0.0, 1.0 / scale],
        ]
    )
    linear *= scale
    x, y = center
    return move(x + translate[0], y + translate[1]) @ linear @ move(-x, -y)


def invert(where: str, matrix: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        raise value_error(where, "the transform squeezes the image flat and has no way back") from None


def expanded_size(back: np.ndarray, width: int, height: int) -> tuple[int, int]:
    """(width, height) of whole pixels that hold all of a turned image."""
    corners = back[:2] @ np.array([[0, width, width, 0], [0, 0, height, height], [1, 1, 1, 1]], np.float64)
    # A corner that ought to be a whole number must not round up over an error in its last digits.
    sides = np.ceil(corners.max(axis=1) - 1e-9) - np.floor(corners.min(axis=1) + 1e-9)
    return int(sides[0]), int(sides[1])


def perspective_map(where: str, startpoints: Any, endpoints: Any) -> np.ndarray:
    """Result to source: the projective map that takes each of four `endpoints` to its startpoint."""
    try:
        starts = np.asarray(startpoints, np.float64).reshape(4, 2)
        ends = np.asarray(endpoints, np.float64).reshape(4, 2)
    except (TypeError, ValueError):
        raise value_error(
            where,
            "startpoints and endpoints must be four points (x, y)",
            f"startpoints: {startpoints!r}, endpoints: {endpoints!r}",
        ) from None
    rows, targets = [], []
    for (x, y), (u, v) in zip(ends, starts, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        targets += [u, v]
    solution = np.linalg.lstsq(np.array(rows), np.array(targets), rcond=None)[0]
    return np.append(solution, 1.0).reshape(3, 3)
