"""The table of a run: `table.md` for people, `table.json` for tools, and one line that sums up."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from .compare import AGREES, DISAGREEMENTS, OUTSIDE, REFUSED

DELIBERATE = "deliberate"


def counted(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Totals. The base is what Paddle itself runs on the CPU."""
    ran = [row for row in rows if row["kind"] not in OUTSIDE and row["kind"] not in (REFUSED, "error type")]
    agreeing = sum(row["kind"] == AGREES for row in ran)
    deliberate = sum(bool(row.get(DELIBERATE)) for row in ran)
    # Where Paddle contradicts NumPy, SciPy or central differences of its own values, and proa does not.
    wrong = sum(bool(row.get("paddle_wrong")) for row in ran)
    return {
        "calls": len(rows),
        "functions": len({row["name"] for row in rows}),
        "paddle_runs": len(ran),
        "agree": agreeing,
        "deliberate": deliberate,
        "paddle_wrong": wrong,
        "percent_where_paddle_is_right": 100.0 * agreeing / (len(ran) - wrong) if len(ran) > wrong else 100.0,
        "percent": 100.0 * agreeing / len(ran) if ran else 100.0,
        "percent_with_deliberate": 100.0 * (agreeing + deliberate) / len(ran) if ran else 100.0,
        "kinds": dict(Counter(row["kind"] for row in rows).most_common()),
    }


def summary_line(totals: dict[str, Any]) -> str:
    return (
        f"parity with PaddlePaddle 3.3.1: {totals['agree']} of {totals['paddle_runs']} calls that Paddle runs on the CPU "
        f"agree in forward and gradient: {totals['percent']:.2f} % "
        f"({totals['percent_where_paddle_is_right']:.2f} % without the {totals['paddle_wrong']} where Paddle contradicts "
        f"NumPy, SciPy or its own differences; {totals['percent_with_deliberate']:.2f} % with all "
        f"{totals['deliberate']} deliberate differences)"
    )


def cell(text: str) -> str:
    """A text that cannot break a Markdown table."""
    short = " ".join(text.split())
    return (short if len(short) <= 300 else f"{short[:297]}…").replace("|", "\\|")


def write(rows: list[dict[str, Any]], left_out: list[str], folder: Path) -> dict[str, Any]:
    totals = counted(rows)
    folder.mkdir(parents=True, exist_ok=True)
    order = {kind: place for place, kind in enumerate((*DISAGREEMENTS, *OUTSIDE, REFUSED, AGREES))}
    rows = sorted(rows, key=lambda row: (order[row["kind"]], row["name"], row["form"], row["sample"], row["variant"]))
    (folder / "table.json").write_text(
        json.dumps({"totals": totals, "left_out": left_out, "rows": rows}, indent=1), encoding="utf-8"
    )
    lines = ["# Parity with PaddlePaddle 3.3.1", "", summary_line(totals), "", "| kind | calls | of them deliberate |"]
    lines += ["| --- | ---: | ---: |"]
    for kind in order:
        of_kind = [row for row in rows if row["kind"] == kind]
        if of_kind:
            lines.append(f"| {kind} | {len(of_kind)} | {sum(bool(row.get(DELIBERATE)) for row in of_kind)} |")
    for kind in DISAGREEMENTS:
        of_kind = [row for row in rows if row["kind"] == kind]
        if not of_kind:
            continue
        lines += ["", f"## {kind}", "", "| function | form | dtype | sample | what | deliberate |", "| --- " * 6 + "|"]
        lines += [
            f"| `{row['name']}` | {row['form']} | {row['variant']} | {cell(row['sample'])} | {cell(row['detail'])} "
            f"| {cell(row.get(DELIBERATE) or '')} |"
            for row in of_kind
        ]
    if left_out:
        lines += [
            "",
            "## Samples that cannot be sent to another framework",
            "",
            *(f"- {cell(text)}" for text in left_out),
        ]
    (folder / "table.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return totals
