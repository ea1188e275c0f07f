"""The CPU training results for people: table and chart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

COLUMNS = ["work", "contender", "ms a step", "median", "proa × by best", "by rounds", "peak GiB", "in rounds"]
COLOURS = {
    "proa": "#1f6f8b", "proa-static": "#63a9c4", "torch": "#c8553d", "torch-channels-last": "#e08a6f",
    "torch-compile": "#f0b8a4", "paddle": "#7a9e7e", "paddle-static": "#b0cfb3", "jax": "#9b8bb4",
}  # fmt: skip
NOTE = (
    "`proa ×`: proa's speed (eager) over the contender's, above 1 where proa is faster; from the best rounds, and as the "
    "median of the\nratios within a round. Peak: the most memory of the process from its start, and during the rounds alone."
)


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def gibibytes(value: int | None) -> str:
    return "–" if value is None else f"{value / 2**30:.2f}"


def rows_of(record: dict[str, Any]) -> list[list[str]]:
    """One row for each contender."""
    ratios = {r["against"]: r for r in record["ratios"]}
    rows = []
    for place, one in enumerate(record["contenders"]):
        title = record["title"] if place == 0 else ""
        memory = [gibibytes(one.get("peak_bytes")), gibibytes(one.get("round_peak_bytes"))]
        if not one.get("min_seconds"):
            rows.append([title, one["label"], "failed" if one["error"] else "–", *["–"] * 5])
            continue
        times = [number(one[key] / record["work"] * 1e3) for key in ("min_seconds", "median_seconds")]
        ratio = ratios.get(one["label"])
        speeds = ["", ""] if ratio is None else [f"{ratio['by_minimum']:.2f}", f"{ratio['by_rounds']:.2f}"]
        rows.append([title, one["label"], *times, *speeds, *memory])
    return rows


def verdict_of(record: dict[str, Any]) -> str:
    """The bar and what became of it, in a line."""
    bar = record["bar"]
    if bar is None:
        return ""
    word = {True: "met", False: "NOT met", None: "undecided"}[bar["met"]]
    reached = f", reached {bar['by_minimum']:.2f} (rounds: {bar['by_rounds']:.2f})" if "by_minimum" in bar else ""
    memory = f"; memory {bar['memory']:.2f} × the leanest peer's" if bar.get("memory") else ""
    why = f" ({bar['why']})" if bar.get("why") else ""
    return f"{record['benchmark']}: {bar['text']}: {word}{why}{reached}{memory}"


def remarks(records: list[dict[str, Any]]) -> list[str]:
    """Bars, failures, and work that is not the same."""
    lines = [verdict for record in records if (verdict := verdict_of(record))]
    for record in records:
        lines += [
            f"{record['benchmark']} failed, {one['error'].splitlines()[0]}"
            for one in record["contenders"]
            if one["error"]
        ]
        lines += [f"{record['benchmark']}: the work is not the same: {text}" for text in record["value_differences"]]
    return lines


def table_text(records: list[dict[str, Any]]) -> str:
    """The table as Markdown, with the machine it was measured on."""
    lines = ["# Training steps on the CPU", "", "Made by `make bench-cpu`.", ""]
    machines = {
        f"{r['machine']['processor']}, {r['machine']['cores']} cores, {r['machine']['date'][:10]}" for r in records
    }
    lines += [
        f"Measured on: {'; '.join(sorted(machines))}.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        "| --- " * len(COLUMNS) + "|",
    ]
    lines += [f"| {' | '.join(cells)} |" for record in records for cells in rows_of(record)]
    lines += ["", NOTE, "", *[f"- {remark}" for remark in remarks(records)]]
    return "\n".join(lines) + "\n"


def print_table(records: list[dict[str, Any]]) -> None:
    """In plain columns."""
    rows = [COLUMNS, *[cells for record in records for cells in rows_of(record)]]
    widths = [max(len(cells[i]) for cells in rows) for i in range(len(COLUMNS))]
    for cells in rows:
        shown = [c.ljust(w) if i < 2 else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths, strict=True))]
        print("  ".join(shown))
    print(NOTE)
    for remark in remarks(records):
        print(remark)


def draw(records: list[dict[str, Any]], path: Path) -> None:
    """Speed of every contender, that of the fastest eager peer being 1; black strokes are the bars."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    shown = []
    for record in records:
        timed = {c["name"]: c["min_seconds"] for c in record["contenders"] if c.get("min_seconds")}
        eager = [timed[name] for name in record["bar"]["against"] if name in timed]
        if eager:
            shown.append((record, timed, min(eager)))
    if not shown:
        return
    figure = Figure(figsize=(9, 1.15 * len(shown) + 1.2), layout="constrained")
    axes = figure.subplots()
    height = 0.85 / len(COLOURS)
    for place, (record, timed, reference) in enumerate(shown):
        for offset, (name, colour) in enumerate(COLOURS.items()):
            if name not in timed:
                continue
            middle, speed = place - 0.425 + height * (offset + 0.5), reference / timed[name]
            axes.barh(middle, speed, height, color=colour)
            axes.text(speed, middle, f" {speed:.2f}", va="center", fontsize=6)
        goal = record["bar"]["speed"]
        axes.plot([goal, goal], [place - 0.425, place + 0.425], color="black", linewidth=1.5)
    axes.set_yticks(range(len(shown)), [record["benchmark"] for record, _, _ in shown], fontsize=8)
    axes.invert_yaxis()
    axes.axvline(1, color="grey", linewidth=0.8, linestyle=":")
    axes.set_xlabel("speed of a training step; 1 = the fastest eager peer; black stroke: proa's bar")
    axes.legend(handles=[axes.barh(0, 0, color=c, label=n) for n, c in COLOURS.items()], fontsize=7, loc="lower right")
    figure.savefig(path, dpi=120)
