"""Results for people: the table on the terminal, the JSON files and the chart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.harness.registry import BENCHMARKS, Benchmark

MEASURED = ("proa", "paddle", "torch", "jax")
COLOURS = {"proa": "#1f6f8b", "paddle": "#7a9e7e", "torch": "#c8553d", "jax": "#9b8bb4"}


def find(name: str) -> Benchmark:
    return next(benchmark for benchmark in BENCHMARKS if benchmark.name == name)


def best_of(record: dict[str, Any], name: str) -> dict[str, Any] | None:
    """The framework's fastest variant (threads) in this record."""
    candidates = [c for c in record["contenders"] if c["name"] == name and c.get("min_seconds")]
    return min(candidates, key=lambda c: c["min_seconds"], default=None)


def measured_cell(record: dict[str, Any], name: str) -> str:
    """Best round, then the median in brackets; a mark for one thread or for a failure."""
    contender = best_of(record, name)
    if contender is None:
        failed = any(c["name"] == name and c["error"] for c in record["contenders"])
        return "failed" if failed else "–"
    unit, work = find(record["benchmark"]).unit, record["work"]
    best = unit.show(contender["min_seconds"], work)
    middle = unit.show(contender["median_seconds"], work)
    mark = " ¹" if contender["threads"] == 1 else ""
    return f"{best} ({middle}){mark}"


def measured_names(records: list[dict[str, Any]]) -> list[str]:
    """The columns of a table: the usual contenders, and whoever else took part (earlier commits)."""
    others = {c["name"] for record in records for c in record["contenders"]} - set(MEASURED)
    return [*(("proa",) if others else MEASURED), *sorted(others)]


def verdict_cell(bar: dict[str, Any] | None) -> str:
    if bar is None:
        return ""
    word = {True: "yes", False: "NO", None: "?"}[bar["met"]]
    return f"{word}: {bar['why']}" if bar.get("why") else word


def ratio_cells(record: dict[str, Any]) -> list[str]:
    """The two ratios against the bar's opponents, or the faster peer where there is no bar."""
    if record["mode"] == "memory":
        growth = record["bar"].get("growth_bytes")
        if growth is None:
            return ["–", "–"]
        programs = record["bar"]["num_programs"]
        return [f"{growth / 2**20:+.1f} MiB", "–" if programs is None else f"{programs} programs"]
    bar = record["bar"]
    if any(c["name"] not in MEASURED for c in record["contenders"]):
        bar = None  # bars are set against peers, not against what the package was
    if bar is not None and "by_minimum" in bar:
        return [f"{bar['by_minimum']:.2f}", f"{bar['by_rounds']:.2f}"]
    ratios = [r for r in record["ratios"] if not r["against"].startswith("jax")]
    if bar is not None or not ratios:
        return ["–", "–"]
    return [f"{min(r[key] for r in ratios):.2f}" for key in ("by_minimum", "by_rounds")]


def table_rows(records: list[dict[str, Any]]) -> list[list[str]]:
    return [
        [
            record["title"],
            record["unit"],
            *[measured_cell(record, name) for name in measured_names(records)],
            *ratio_cells(record),
            (record["bar"] or {}).get("text", ""),
            verdict_cell(record["bar"]),
        ]
        for record in records
    ]


NOTE = (
    "Cells: best round (median round); ¹ with one thread, which was faster. Ratios: proa's speed "
    "over that of the bar's\nopponent (the faster one; above 1: proa is faster), from the best "
    "rounds and as the median of the ratios within a round."
)


def print_table(records: list[dict[str, Any]]) -> None:
    """With rich where it is installed, else in plain columns."""
    rows = table_rows(records)
    measured = measured_names(records)
    columns = ["work", "unit", *measured, "× by best", "× by rounds", "bar", "met"]
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
        for row in [columns, *rows]:
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)))
    else:
        table = Table(show_lines=False)
        for column in columns:
            numeric = column in measured or column.startswith("×")
            table.add_column(column, justify="right" if numeric else "left", no_wrap=numeric)
        for row in rows:
            colour = {"yes": "green", "NO": "red"}.get(row[-1].split(":")[0])
            last = f"[{colour}]{row[-1]}[/{colour}]" if colour else row[-1]
            table.add_row(*row[:-1], last)
        # Redirected output has no width of its own: do not squeeze the table into 80 columns.
        console = Console()
        (console if console.is_terminal else Console(width=210)).print(table)
    print(NOTE)
    for record in records:
        for contender in record["contenders"]:
            if contender["error"]:
                cause = contender["error"].splitlines()[0]
                print(f"{record['benchmark']} failed, {cause} (the JSON file has the whole trace)")
        for difference in record.get("value_differences", []):
            print(f"{record['benchmark']}: the work is not the same: {difference}")


def save(record: dict[str, Any], folder: Path) -> Path:
    """Write one benchmark's record."""
    path = record_path(folder, find(record["benchmark"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def record_path(folder: Path, benchmark: Benchmark) -> Path:
    """Results lie as workloads do: `results/models/mlp.json` was measured with `workloads/models/mlp.py`."""
    group = benchmark.workload.rpartition(".")[0]
    return folder / group / f"{benchmark.name}.json"


def saved_records(folder: Path) -> list[dict[str, Any]]:
    """All records in a folder, in the registry's order; the chart shows the latest of each."""
    paths = [record_path(folder, benchmark) for benchmark in BENCHMARKS]
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]


def draw_chart(records: list[dict[str, Any]], path: Path) -> None:
    """Speeds relative to the fastest peer of each benchmark, the bars drawn as black strokes."""
    from matplotlib.figure import Figure

    rows = []
    for record in records:
        bar = record["bar"]
        against = bar["against"] if bar and "against" in bar else ["paddle", "torch"]
        peers = [c for name in against if (c := best_of(record, name)) is not None]
        if record["mode"] != "memory" and peers:
            rows.append((record, min(c["min_seconds"] for c in peers)))
    if not rows:
        return
    figure = Figure(figsize=(9, 0.75 * len(rows) + 1.2), layout="constrained")
    axes = figure.subplots()
    height = 0.8 / len(MEASURED)
    for place, (record, reference) in enumerate(rows):
        for offset, name in enumerate(MEASURED):
            contender = best_of(record, name)
            if contender is None:
                continue
            speed = reference / contender["min_seconds"]
            middle = place - 0.4 + height * (offset + 0.5)
            axes.barh(middle, speed, height, color=COLOURS[name])
            axes.text(speed, middle, f" {speed:.2f}", va="center", fontsize=7)
        if record["bar"]:
            goal = record["bar"]["speed"]
            axes.plot([goal, goal], [place - 0.4, place + 0.4], color="black", linewidth=2)
    axes.set_yticks(range(len(rows)), [record["title"] for record, _ in rows], fontsize=8)
    axes.invert_yaxis()
    axes.axvline(1, color="grey", linewidth=0.8, linestyle=":")
    axes.set_xlabel("speed by best rounds; 1 = what the bar is set against; black stroke: the bar")
    axes.legend(
        handles=[axes.barh(0, 0, color=COLOURS[name], label=name) for name in MEASURED],
        fontsize=8,
        loc="lower right",
    )
    figure.savefig(path, dpi=120)
