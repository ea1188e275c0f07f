"""A package on proa beside the same package on Paddle: losses from the same weights, and seconds.

Small batches behind batch norm magnify rounding from step to step, so a difference of losses says little by itself. Two
things tell rounding from a mistake: how far Paddle gets from itself when its weights are moved by their last bit, and what
is left of the difference when both compute in float64.
"""

from __future__ import annotations

import statistics
import tempfile
from typing import Any

import numpy as np

from .processes import Failed, Runner

CLOSE = 1e-3
COMPARED = 20  # steps
RACED = 50
NUDGES = (1, 2)

Report = dict[str, Any]


def compare(run: Runner) -> Report:
    """Losses on proa and on Paddle; passed when they are close, or no further apart than rounding explains."""
    with tempfile.TemporaryDirectory() as weights:
        try:
            theirs = run("paddle", weights=weights, steps=COMPARED)
        except Failed as error:
            ours = run("proa", steps=COMPARED)
            return {"passed": True, "losses": ours["losses"], "beside": f"Paddle does not run it: {error}"}
        ours = run("proa", weights=weights, steps=COMPARED)
        differences = _differences(ours, theirs)
        report: Report = {"passed": True, "differences": differences}
        if max(differences.values()) > CLOSE:
            nudged = [run("paddle", weights=weights, steps=COMPARED, nudge=number) for number in NUDGES]
            spreads = [_differences(one, theirs) for one in nudged]
            report["paddle_with_nudged_weights"] = {name: max(one[name] for one in spreads) for name in differences}
            report["in_float64"] = _in_float64(run, weights)
            report["passed"] = all(_is_rounding(name, report) for name in differences)
    return report


def _is_rounding(name: str, report: Report) -> bool:
    difference, exact = report["differences"][name], report["in_float64"]
    if difference <= max(CLOSE, 3 * report["paddle_with_nudged_weights"][name]):
        return True
    return isinstance(exact, dict) and exact[name] <= CLOSE


def _in_float64(run: Runner, weights: str) -> dict[str, float] | str:
    settings = {"weights": weights, "steps": COMPARED, "float": "float64"}
    try:
        return _differences(run("proa", **settings), run("paddle", **settings))
    except Failed as error:
        return str(error)


def _differences(one: Report, other: Report) -> dict[str, float]:
    """The largest difference of two runs' losses, a part of the loss where that is above one."""
    assert set(one["losses"]) == set(other["losses"]), (one, other)
    found = {}
    for name, losses in one["losses"].items():
        a, b = np.asarray(losses), np.asarray(other["losses"][name])
        found[name] = float(f"{(abs(a - b) / np.maximum(1, abs(b))).max():.2g}")
    return found


def race(run: Runner, rounds: int) -> Report:
    """Seconds of 50 training steps in fresh processes, in turn; compiling is part of them."""
    with tempfile.TemporaryDirectory() as weights:
        taken: dict[str, list[dict[str, tuple[float, float]]]] = {"paddle": [], "proa": []}
        for number in range(rounds):
            for on in ("paddle", "proa") if number % 2 == 0 else ("proa", "paddle"):
                taken[on].append(run(on, weights=weights, steps=RACED)["seconds_of"])
    models = {name: _verdict(name, taken) for name in taken["proa"][0]}
    return {"passed": all(one["faster"] >= 1 for one in models.values()), "models": models}


def _verdict(name: str, taken: dict[str, list[dict[str, tuple[float, float]]]]) -> Report:
    ours, theirs = ([round_[name] for round_ in taken[on]] for on in ("proa", "paddle"))
    report: Report = {}
    for number, clock in enumerate(("seconds", "processor_seconds")):
        report[clock] = {
            "proa": round(min(one[number] for one in ours), 2), "paddle": round(min(one[number] for one in theirs), 2),
        }  # fmt: skip
        ratios = [b[number] / a[number] for a, b in zip(ours, theirs, strict=True)]
        report["faster" if number == 0 else "faster_by_processor"] = round(statistics.median(ratios), 2)
    return report
