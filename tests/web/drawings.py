"""Digits as strokes: lists of points between 0 and 1, two hands."""

from __future__ import annotations

import math
from typing import Any

Stroke = list[tuple[float, float]]


def arc(x: float, y: float, rx: float, ry: float, start: float, end: float, steps: int = 24) -> Stroke:
    """A part of an ellipse; degrees clockwise, 0 points to the right."""
    angles = [math.radians(start + (end - start) * i / steps) for i in range(steps + 1)]
    return [(x + rx * math.cos(a), y + ry * math.sin(a)) for a in angles]


DIGITS: dict[str, list[list[Stroke]]] = {
    "0": [[arc(0.5, 0.5, 0.2, 0.33, -90, 270)], [arc(0.5, 0.5, 0.26, 0.3, -60, 300)]],
    "1": [[[(0.38, 0.3), (0.52, 0.16), (0.52, 0.84)]], [[(0.42, 0.26), (0.55, 0.15), (0.5, 0.85)]]],
    "2": [
        [[*arc(0.5, 0.34, 0.2, 0.18, -170, 30), (0.3, 0.82), (0.74, 0.82)]],
        [[*arc(0.48, 0.32, 0.22, 0.17, -160, 40), (0.28, 0.84), (0.72, 0.82)]],
    ],
    "3": [
        [[*arc(0.46, 0.33, 0.2, 0.17, -150, 80), *arc(0.46, 0.67, 0.23, 0.18, -80, 150)]],
        [[*arc(0.48, 0.32, 0.18, 0.16, -140, 90), *arc(0.48, 0.66, 0.2, 0.18, -90, 140)]],
    ],
    "4": [
        [[(0.55, 0.15), (0.28, 0.6), (0.76, 0.6)], [(0.6, 0.4), (0.6, 0.86)]],
        # Open at the top, as the writers of the training pictures did: long, with the bar below the middle. One with its bar
        # in the middle and two upright strokes of one height is not among them, and is taken for a 9.
        [[(0.46, 0.15), (0.27, 0.6), (0.74, 0.58)], [(0.66, 0.36), (0.56, 0.87)]],
    ],
    "5": [
        [[(0.7, 0.16), (0.36, 0.16), (0.34, 0.46), *arc(0.48, 0.63, 0.22, 0.2, -110, 130)]],
        [[(0.68, 0.18), (0.38, 0.18), (0.36, 0.45), *arc(0.47, 0.62, 0.2, 0.2, -100, 140)]],
    ],
    "6": [
        [[(0.6, 0.15), (0.42, 0.35), (0.34, 0.6), *arc(0.5, 0.66, 0.17, 0.18, 180, -180)]],
        [[(0.56, 0.16), (0.4, 0.4), (0.33, 0.64), *arc(0.5, 0.67, 0.17, 0.16, 170, -190)]],
    ],
    "7": [
        [[(0.3, 0.18), (0.72, 0.18), (0.46, 0.85)]],
        [[(0.3, 0.2), (0.7, 0.18), (0.5, 0.86)], [(0.4, 0.52), (0.7, 0.52)]],
    ],
    "8": [
        [arc(0.5, 0.33, 0.16, 0.17, 90, 450), arc(0.5, 0.67, 0.19, 0.17, -90, 270)],
        [arc(0.5, 0.32, 0.15, 0.16, 90, 450), arc(0.5, 0.66, 0.17, 0.18, -90, 270)],
    ],
    "9": [
        [[*arc(0.48, 0.35, 0.18, 0.18, 0, -360), (0.66, 0.5), (0.6, 0.85)]],
        [[*arc(0.5, 0.34, 0.17, 0.18, 10, -350), (0.66, 0.45), (0.62, 0.68), (0.45, 0.84)]],
    ],
}


def draw(page: Any, strokes: list[Stroke]) -> str:
    """Draws with the mouse, and gives the page's answer."""
    page.click("#clear")
    area = page.locator("#pad").bounding_box()
    for stroke in strokes:
        for number, (x, y) in enumerate(stroke):
            page.mouse.move(area["x"] + x * area["width"], area["y"] + y * area["height"])
            if number == 0:
                page.mouse.down()
        page.mouse.up()
    page.wait_for_function("() => document.getElementById('answer').textContent !== ''")
    page.wait_for_timeout(150)  # the answer to the last stroke, not to the one before
    return page.locator("#answer").text_content()
