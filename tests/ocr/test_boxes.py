"""Maps of text become boxes: compared with drawn rectangles, and with the polygon library that others use."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pyclipper
import pytest

from proa.ocr.boxes import Box, find_boxes
from proa.ocr.ordering import page_direction, rows_of


def drawn(boxes: list[Box], chance: float = 0.9, size: tuple[int, int] = (320, 480)) -> np.ndarray:
    chances = np.zeros(size, np.float32)
    for box in boxes:
        cv2.fillPoly(chances, [np.round(box.corners).astype(np.int32)], chance)
    return chances


def at_angle(degrees: float, centre: tuple[float, float], width: float = 120, height: float = 20) -> Box:
    return Box(centre, width, height, (math.cos(math.radians(degrees)), math.sin(math.radians(degrees))))


@pytest.mark.parametrize("angle", [0, 10, 44, 46, 80, 90, 100, 135, 170])
def test_a_drawn_rectangle_is_found_at_any_angle(angle: float) -> None:
    box = at_angle(angle, (240, 160))
    [found] = find_boxes(drawn([box]), least=0.5, grow=0.0)
    assert np.allclose(found.centre, box.centre, atol=1.5)
    assert abs(found.width - 120) < 4
    assert abs(found.height - 20) < 4
    # A line that leans to the left may be found running the other way: only reading tells.
    assert abs(np.dot(found.direction, box.direction)) > 0.999
    assert found.direction[0] > 0 if abs(found.direction[0]) >= abs(found.direction[1]) else found.direction[1] > 0


@pytest.mark.parametrize(
    ("width", "height", "angle", "ratio"), [(120, 20, 0, 1.6), (40, 40, 30, 2.0), (30, 90, -17, 1.5)]
)
def test_growing_is_what_offsetting_the_outline_gives(width: float, height: float, angle: float, ratio: float) -> None:
    box = at_angle(angle, (240.0, 160.0), width, height)
    grown = box.grown(ratio)
    fine = 1000  # the library counts in integers
    offset = pyclipper.PyclipperOffset(arc_tolerance=fine / 100)
    offset.AddPath(
        np.round(box.corners * fine).astype(np.int64).tolist(), pyclipper.JT_ROUND, pyclipper.ET_CLOSEDPOLYGON
    )
    distance = width * height * ratio / (2 * (width + height))
    outline = np.array(offset.Execute(distance * fine)[0], np.float32) / fine
    centre, sides, _ = cv2.minAreaRect(outline)
    assert np.allclose(centre, grown.centre, atol=0.1)
    assert np.allclose(sorted(sides), sorted([grown.width, grown.height]), atol=0.1)


def test_what_is_unsure_small_or_absent_is_no_line() -> None:
    line = at_angle(0, (240, 160))
    assert find_boxes(drawn([line], chance=0.45), least=0.5, grow=1.6) == []
    assert find_boxes(drawn([line], chance=0.25), least=0.1, grow=1.6) == []
    assert find_boxes(drawn([at_angle(0, (240, 160), 2, 1)]), least=0.5, grow=1.6) == []
    assert find_boxes(np.zeros((64, 64), np.float32), least=0.5, grow=1.6) == []
    everywhere = find_boxes(np.ones((64, 64), np.float32), least=0.5, grow=0.0)
    assert len(everywhere) == 1


def test_text_at_the_edge_stays_a_box() -> None:
    [found] = find_boxes(drawn([at_angle(0, (10, 5))]), least=0.5, grow=1.0)
    assert found.width > 60
    assert np.isfinite(found.corners).all()


def test_corners_begin_where_the_text_does() -> None:
    box = Box((50, 50), 40, 10)
    assert np.allclose(box.corners, [[30, 45], [70, 45], [70, 55], [30, 55]])
    assert np.allclose(box.turned().corners, [[70, 55], [30, 55], [30, 45], [70, 45]])
    # Text that runs downwards has its top at the right.
    assert np.allclose(Box((50, 50), 40, 10, (0.0, 1.0)).corners, [[55, 30], [55, 70], [45, 70], [45, 30]])


@pytest.mark.parametrize("degrees", [0, 7, 90, 180, 211, 270])
def test_rows_are_read_as_the_page_lies(degrees: float) -> None:
    """Two columns of three rows, in a mixed order, on a page turned by any angle."""
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    places = [(c, r) for r in range(3) for c in range(2)]
    mixed = [4, 0, 3, 5, 1, 2]
    boxes = []
    for number in mixed:
        x, y = places[number][0] * 200, places[number][1] * 40 + places[number][0] * 6
        boxes.append(at_angle(degrees, (x * cos - y * sin, x * sin + y * cos)))
    assert np.allclose(page_direction(boxes), (cos, sin), atol=1e-6)
    assert [[mixed[n] for n in row] for row in rows_of(boxes)] == [[0, 1], [2, 3], [4, 5]]


def test_lines_that_stand_against_the_page_do_not_bend_its_direction() -> None:
    boxes = [at_angle(5, (100, 40 * i)) for i in range(3)] + [at_angle(160, (300, 40 * i)) for i in range(2)]
    assert np.allclose(page_direction(boxes), (math.cos(math.radians(5)), math.sin(math.radians(5))), atol=1e-6)


def test_no_boxes_have_no_rows() -> None:
    assert rows_of([]) == []
    assert page_direction([]) == (1.0, 0.0)
