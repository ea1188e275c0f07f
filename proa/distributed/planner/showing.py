"""Plans as text and as a picture."""

from __future__ import annotations

import io
from typing import Any

from .costs import USABLE, Estimate

_SECONDS = ("compute", "model", "data", "pipeline", "update")
_MEMORY = ("parameters", "gradients", "states", "activations")


def distinct(plan: Any, count: int) -> list[Estimate]:
    """The best estimate of each mesh, so that what is shown differs in more than a detail; the chosen one first."""
    seen: set[tuple[int, ...]] = set()
    found = []
    for estimate in plan.estimates[: plan.fitting]:
        key = (estimate.choice.data, estimate.choice.model, estimate.choice.pipeline)
        if key not in seen:
            seen.add(key)
            found.append(estimate)
    return found[:count]


def reason(plan: Any) -> str:
    """Why the first plan is before the second, in a sentence."""
    best, *others = distinct(plan, 2)
    wins = "the only mesh that fits"
    if others:
        second = others[0]
        gains = {key: second.seconds[key] - best.seconds[key] for key in _SECONDS}
        key = max(gains, key=lambda name: gains[name])
        gain = second.total_seconds / best.total_seconds - 1
        wins = (
            f"{f'{gain:.0%} faster than' if gain >= 0.01 else 'about as fast as'} the next mesh ({second.choice}), "
            f"which takes longer in {key}: {_time(second.seconds[key])} instead of {_time(best.seconds[key])}"
        )
    left = len(plan.estimates) - plan.fitting
    return f"{best.choice}: {wins}. {plan.fitting} plans fit, {left} do not."


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def table(plan: Any, count: int) -> str:
    if not plan.estimates:
        return f"{plan.choice} (read from a file, without estimates)"
    rows = [
        [
            str(number), str(e.choice), _time(e.total_seconds), *(_time(e.seconds[key]) for key in _SECONDS),
            f"{e.total_memory / 1e9:.3g}",
        ]
        for number, e in enumerate(distinct(plan, count), 1)
    ]  # fmt: skip
    heads = ["", "plan", "a step", *_SECONDS, "GB"]
    title = (
        f"{plan.choice.devices} x {plan.device}, {plan.memory / 1e9:.4g} GB each ({USABLE:.0%} of it used at most), "
        f"batch {plan.batch}"
    )
    return "\n".join([title, _rendered(heads, rows), *plan.notes, reason(plan)])


def _rendered(heads: list[str], rows: list[list[str]]) -> str:
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:  # it is no dependency of the package
        widths = [max(len(row[n]) for row in [heads, *rows]) for n in range(len(heads))]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in [heads, *rows]
        )
    shown = Table()
    for number, head in enumerate(heads):
        shown.add_column(head, justify="left" if number == 1 else "right")
    for row in rows:
        shown.add_row(*row)
    text = io.StringIO()
    Console(file=text, width=150).print(shown)
    return text.getvalue().rstrip()


def picture(plan: Any, path: Any, count: int) -> None:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("(Plan.picture) matplotlib draws pictures: pip install matplotlib") from error
    shown = distinct(plan, count)[::-1]
    figure = Figure(figsize=(12, 1.5 + 0.5 * len(shown)), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, sharey=True)
    names = [str(estimate.choice) for estimate in shown]
    for axes, keys, part, unit, scale in (
        (left, _SECONDS, "seconds", "milliseconds a step", 1e3), (right, _MEMORY, "memory", "GB on each device", 1e-9),
    ):  # fmt: skip
        begin = [0.0] * len(shown)
        for key in keys:
            values = [getattr(estimate, part)[key] * scale for estimate in shown]
            axes.barh(names, values, left=begin, label=key)
            begin = [a + b for a, b in zip(begin, values, strict=True)]
        axes.set_xlabel(unit)
        axes.legend(fontsize="small")
    right.axvline(plan.memory * USABLE * 1e-9, color="black", linestyle="dashed")
    figure.suptitle(f"{plan.choice.devices} x {plan.device}: {plan.choice}")
    figure.savefig(path)
