"""A line search for the strong Wolfe conditions, as in Nocedal and Wright, chapter 3.

The search knows the function along a line only: `evaluate(step)` gives a `Point`. What a gradient is it does not ask.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

SUFFICIENT_DECREASE, CURVATURE = 1e-4, 0.9
# Steps may grow to ten times and must grow by a hundredth; inside a bracket they keep a tenth away from its ends.
_LARGEST_GROWTH, _SMALLEST_GROWTH, _MARGIN = 10.0, 0.01, 0.1


class Point(NamedTuple):
    """A place on the line: how far, the function there, its gradient, its slope along the line."""

    step: float
    loss: float
    gradient: Any
    slope: float


def strong_wolfe(
    evaluate: Callable[[float], Point],
    origin: Point,
    step: float,
    length: float,
    tolerance_change: float = 1e-9,
    max_evaluations: int = 25,
) -> tuple[Point, int]:
    """A point that goes down enough and where it no longer goes down steeply; and the number of evaluations.

    `length` is the largest element of the direction: brackets smaller than `tolerance_change` are not searched.
    """
    bracket, done, used = _bracket(evaluate, origin, step, max_evaluations)
    low, high = sorted(bracket, key=lambda point: point.loss) if len(bracket) == 2 else (bracket[0], bracket[0])
    was_close = False
    while not done and used <= max_evaluations:
        if abs(high.step - low.step) * length < tolerance_change:
            break
        step = interpolate(*_ordered(bracket))
        step, was_close = _keep_away(step, low.step, high.step, was_close)
        new = evaluate(step)
        used += 1
        if _too_high(new, origin) or new.loss >= low.loss:
            bracket = [new if point is high else point for point in bracket]
            high = new
            if high.loss < low.loss:
                low, high = high, low
        else:
            done = abs(new.slope) <= -CURVATURE * origin.slope
            if not done and new.slope * (high.step - low.step) >= 0:
                bracket = [low if point is high else point for point in bracket]
                high = low
            bracket = _replace_one(bracket, low, new)
            low = new
    return low, used


def _bracket(
    evaluate: Callable[[float], Point], origin: Point, step: float, max_evaluations: int
) -> tuple[list[Point], bool, int]:
    """Two points with a good one between them, or one good point; whether it is that; evaluations used."""
    before, now, used = origin, evaluate(step), 1
    while used <= max_evaluations:
        if _too_high(now, origin) or (used > 2 and now.loss >= before.loss):
            return [before, now], False, used
        if abs(now.slope) <= -CURVATURE * origin.slope:
            return [now], True, used
        if now.slope >= 0:
            return [before, now], False, used
        least = now.step + _SMALLEST_GROWTH * (now.step - before.step)
        step = interpolate(before, now, (least, now.step * _LARGEST_GROWTH))
        before, now = now, evaluate(step)
        used += 1
    return [origin, now], False, used


def _too_high(point: Point, origin: Point) -> bool:
    return not point.loss <= origin.loss + SUFFICIENT_DECREASE * point.step * origin.slope


def _ordered(bracket: list[Point]) -> tuple[Point, Point]:
    return bracket[0], bracket[1]


def _replace_one(bracket: list[Point], old: Point, new: Point) -> list[Point]:
    """The bracket with the first point that is `old` exchanged."""
    position = next(i for i, point in enumerate(bracket) if point is old)
    return [*bracket[:position], new, *bracket[position + 1 :]]


def _keep_away(step: float, first: float, second: float, was_close: bool) -> tuple[float, bool]:
    """A step near an end of the bracket is let pass once, then moved inwards; also whether it was let pass."""
    left, right = min(first, second), max(first, second)
    margin = _MARGIN * (right - left)
    if min(right - step, step - left) >= margin:
        return step, False
    if was_close or step >= right or step <= left:
        return (right - margin if abs(step - right) < abs(step - left) else left + margin), False
    return step, True


def interpolate(first: Point, second: Point, bounds: tuple[float, float] | None = None) -> float:
    """Where the cubic through both points with their slopes is lowest, within bounds (the points themselves)."""
    if first.step == second.step:
        return first.step
    low, high = bounds or (min(first.step, second.step), max(first.step, second.step))
    chord = 3 * (first.loss - second.loss) / (first.step - second.step)
    mixed = first.slope + second.slope - chord
    square = mixed**2 - first.slope * second.slope
    if not square >= 0 or math.isinf(square):
        return (low + high) / 2
    root = math.sqrt(square)
    left, right = (first, second) if first.step <= second.step else (second, first)
    divisor = right.slope - left.slope + 2 * root
    if divisor == 0:
        return (low + high) / 2
    lowest = right.step - (right.step - left.step) * (right.slope + root - mixed) / divisor
    return min(max(lowest, low), high)
