"""The report of a graph as one HTML page: no scripts, no resources from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from ..ir.program import Instruction
from ..ir.sizes.dimensions import shown_shape
from .costs import bytes_of, operations_of

_MOST_TEXT = 2_000_000  # characters of StableHLO
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1b1f24; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .2rem .6rem; border-bottom: 1px solid #ddd; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; } code, pre { font: 13px ui-monospace, monospace; }
pre { overflow: auto; max-height: 40rem; background: #f6f8fa; padding: 1rem; } .quiet { color: #666; }
"""


def page(explanation: Any, stablehlo: str) -> str:
    """The whole page."""
    graph, optimised = explanation.graph, explanation.optimised
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        f"<title>{escape(graph.name)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>Graph {escape(graph.name)}</h1>",
        "<h2>Summary</h2>", _summary(explanation),
        "<h2>Passes</h2>", _passes(explanation),
        "<h2>Memory</h2>", _memory(explanation),
        "<h2>Instructions that run</h2>", _instructions(explanation.program or optimised.program, optimised.locations),
        "<details><summary>Instructions as captured</summary>",
        _instructions(graph.program, graph.locations), "</details>",
        "<h2>StableHLO</h2>", _stablehlo(stablehlo),
        "</body></html>",
    ]  # fmt: skip
    return "\n".join(parts)


def _summary(explanation: Any) -> str:
    from .report import amount, count

    graph = explanation.graph
    elements = sum(t._aval.size for t in explanation.parameters)
    weights = f"{len(explanation.parameters)} tensors, {elements:,} elements, {amount(explanation.parameter_bytes)}"
    before, after = sum(explanation.kinds.values()), sum(explanation.kinds_after.values())
    rows = [
        ("inputs", ", ".join(map(repr, graph.inputs))),
        ("results", ", ".join(f"{a.dtype.name}{shown_shape(a.shape)}" for a in graph.output_avals[: graph.num_results])),
        ("place", str(graph.place)),
        ("parameters", weights),
        ("changed by a run", ", ".join(t.name for t in graph.updates) or "nothing"),
        ("instructions", f"{before} captured, {after} after the passes"),
    ]  # fmt: skip
    if explanation.avals is not None:
        rows.append(("sizes", ", ".join(map(str, explanation.avals))))
        rows.append(("operations", f"{count(explanation.num_operations)} FLOPs"))
        rows += [
            (f"XLA, {name}", count(n) if name == "operations" else amount(n)) for name, n in explanation.costs.items()
        ]
    text = _table((), rows)
    families = [(family, count(n)) for family, n in explanation.operations.most_common() if n]
    return text + (_table(("family", "FLOPs"), families, numbers={1}) if families else "")


def _passes(explanation: Any) -> str:
    rows = [(r.name, r.changes, r.before, r.after) for r in explanation.passes]
    if not rows:
        return "<p class='quiet'>No passes ran.</p>"
    return _table(("pass", "changes", "instructions before", "after"), rows, numbers={1, 2, 3})


def _memory(explanation: Any) -> str:
    """Bytes of intermediate values after each instruction, as a drawing."""
    from .report import amount

    timeline: Sequence[int] = explanation.timeline
    if not timeline:
        return "<p class='quiet'>Sizes are unknown: give example inputs.</p>"
    width, height, peak = 900, 160, max(1, *timeline)
    step = width / len(timeline)
    points = [(0.0, float(height))]
    for number, alive in enumerate(timeline):
        level = height - alive / peak * (height - 20)
        points += [(number * step, level), ((number + 1) * step, level)]
    points.append((float(width), float(height)))
    drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    where = timeline.index(max(timeline))
    instruction = explanation.program.instructions[where]
    return (
        f"<svg viewBox='0 0 {width} {height}' width='100%' role='img' aria-label='memory over time'>"
        f"<polygon points='{drawn}' fill='#9ec5fe' stroke='#0b5ed7'/>"
        f"<text x='4' y='14' font-size='12'>{escape(amount(peak))}</text></svg>"
        f"<p>Intermediate values take at most {escape(amount(peak))}, at instruction {where} "
        f"(<code>{escape(instruction.operation.name)}</code>), if nothing is fused.</p>"
    )


def _instructions(program: Any, locations: dict[int, tuple[str, int]]) -> str:
    from .report import amount, count

    rows = []
    for instruction in program.instructions:
        location = locations.get(instruction.index)
        rows.append((
            f"%{instruction.index}", instruction.operation.name, instruction.operation.traits.family,
            _operands(instruction), ", ".join(f"{a.dtype.name}{shown_shape(a.shape)}" for a in instruction.outputs),
            _cost(instruction, count), amount(sum(map(bytes_of, instruction.outputs))) if not _unknown(instruction) else "",
            f"{location[0]}:{location[1]}" if location else "",
        ))  # fmt: skip
    head = ("", "operation", "family", "operands", "results", "FLOPs", "bytes", "line")
    return _table(head, rows, numbers={5, 6})


def _unknown(instruction: Instruction) -> bool:
    return any(size < 0 for aval in instruction.outputs for size in shown_shape(aval.shape))


def _cost(instruction: Instruction, count: Any) -> str:
    number = 0 if _unknown(instruction) else operations_of(instruction)
    return count(number) if number else ""


def _operands(instruction: Instruction) -> str:
    text = repr(instruction)
    return text[text.index(" = ") + 3 + len(instruction.operation.name) + 1 : -1]


def _stablehlo(text: str) -> str:
    if not text:
        return "<p class='quiet'>Sizes are unknown: give example inputs.</p>"
    cut = len(text) > _MOST_TEXT
    note = f"<p class='quiet'>The first {_MOST_TEXT:,} of {len(text):,} characters.</p>" if cut else ""
    lines = f"<summary>{len(text.splitlines()):,} lines</summary>"
    return f"<details>{lines}{note}<pre>{escape(text[:_MOST_TEXT])}</pre></details>"


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]], numbers: set[int] | None = None) -> str:
    numbers = numbers or set()

    def cells(row: Sequence[Any], tag: str) -> str:
        return "".join(
            f"<{tag}{' class=n' if i in numbers else ''}>{escape(str(cell))}</{tag}>" for i, cell in enumerate(row)
        )

    lines = ["<table>"]
    if head:
        lines.append(f"<thead><tr>{cells(head, 'th')}</tr></thead>")
    lines += [f"<tr>{cells(row, 'td')}</tr>" for row in rows]
    return "\n".join([*lines, "</table>"])
