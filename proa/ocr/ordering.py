"""The order in which one reads: rows from top to bottom, each from its beginning, however the page is turned."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .boxes import Box


def page_direction(boxes: Sequence[Box]) -> tuple[float, float]:
    """In which direction most of the text runs. Long lines count more, and decide by themselves how they lie."""
    said = [box for box in boxes if box.is_elongated] or list(boxes)
    quarters = np.zeros((4, 2))
    for box in said:
        along, across = box.direction
        quarter = (0 if along > 0 else 2) if abs(along) >= abs(across) else (1 if across > 0 else 3)
        quarters[quarter] += np.array(box.direction) * box.width
    total = quarters[np.hypot(*quarters.T).argmax()]
    length = float(np.hypot(*total))
    return (float(total[0]) / length, float(total[1]) / length) if length > 0 else (1.0, 0.0)


def rows_of(boxes: Sequence[Box]) -> list[list[int]]:
    """The boxes' numbers, row by row."""
    if not boxes:
        return []
    along = np.array(page_direction(boxes))
    down = np.array([-along[1], along[0]])
    corners = np.stack([box.corners for box in boxes])
    depth = np.array([box.centre for box in boxes]) @ down
    # Across the page a box is as high as its text, plus what its tilt against the page adds: only the text counts.
    heights = np.minimum([box.height for box in boxes], np.ptp(corners @ down, axis=1))
    begins = (corners @ along).min(axis=1)
    rows: list[list[int]] = []
    for number in np.argsort(depth, kind="stable"):
        last = rows[-1] if rows else None
        if last and depth[number] - np.mean(depth[last]) < 0.5 * min(heights[number], np.mean(heights[last])):
            last.append(int(number))
        else:
            rows.append([int(number)])
    return [sorted(row, key=lambda number: begins[number]) for row in rows]
