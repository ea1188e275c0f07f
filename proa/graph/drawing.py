"""A Program as a picture: SVG text with a layered layout, inputs on top.

A node stands in the layer behind its latest operand; within a layer nodes are ordered by where their operands are (the mean
of their positions), forwards and backwards a few times, which removes most crossings.
"""

from __future__ import annotations

import os
from html import escape
from typing import Any

from ..core.dtype import name_of
from ..core.symbols import is_symbolic
from ..ir.program import Program
from ..ir.sizes.dimensions import shown_number, shown_shape

_LINE = 15
_CHARACTER = 6.6
_GAP = 24
_LAYER_GAP = 46
_MARGIN = 16
_SWEEPS = 6
_LONGEST = 44
_MOST_NODES = 5000
_FILLS = {"input": "#e8f0fe", "captured": "#f1f3f4", "op": "#ffffff", "result": "#e6f4ea"}


class _Node:
    """A box: its lines of text, what it needs, and where it stands."""

    def __init__(self, lines: list[str], kind: str) -> None:
        self.lines = [line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…" for line in lines]
        self.kind = kind
        self.sources: list[tuple[_Node, str]] = []
        self.uses: list[_Node] = []
        self.layer = 0
        self.order = 0.0
        self.x = self.y = 0.0
        self.width = max(len(line) for line in self.lines) * _CHARACTER + 16
        self.height = len(self.lines) * _LINE + 10


def draw_program(
    program: Program, path: str | os.PathLike[str] | None = None, names: dict[int, str | None] | None = None
) -> str:
    """The SVG text of a Program, also written to `path`; `names` has names of values by number."""
    nodes = _nodes(program, names or {})
    if len(nodes) > _MOST_NODES:
        raise ValueError(f"(draw) a program of {len(nodes)} nodes is too large for a picture; draw a part of it.")
    _place(nodes)
    text = _svg(nodes)
    if path is not None:
        temporary = f"{os.fspath(path)}.part{os.getpid()}"
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    return text


def _shape(aval: Any) -> str:
    return f"{name_of(aval.dtype)}[{', '.join(map(str, shown_shape(aval.shape)))}]"


def _attribute(value: Any) -> Any:
    """With expressions for what depends on an unknown size."""
    if is_symbolic(value):
        return shown_number(value)
    return tuple(map(_attribute, value)) if value.__class__ is tuple else value


def _nodes(program: Program, names: dict[int, str | None]) -> list[_Node]:
    makers: dict[int, tuple[_Node, str]] = {}
    used = {number for instruction in program.instructions for number in instruction.read}
    nodes: list[_Node] = []
    for number, aval in enumerate(program.inputs):
        if ~number in used:
            named = names.get(~number)
            node = _Node([named or f"in{number}", _shape(aval)], "input" if named else "captured")
            nodes.append(node)
            makers[~number] = (node, _shape(aval))
    wanted = set(program.outputs)
    for instruction in program.instructions:
        numbers = range(instruction.index, instruction.index + len(instruction.outputs))
        lines = [instruction.operation.name]
        attribute_names = instruction.operation.attribute_names[-len(instruction.attributes) :] or ()
        for name, value in list(zip(attribute_names, instruction.attributes, strict=False))[:3]:
            if isinstance(value, (int, float, str, bool)) or (isinstance(value, tuple) and len(value) <= 4):
                lines.append(f"{name}={_attribute(value)}")
        for number in list(numbers)[:3]:
            lines.append(
                f"{names.get(number) or f'%{number}'}: {_shape(instruction.outputs[number - instruction.index])}"
            )
        if len(numbers) > 3:
            lines.append(f"… {len(numbers) - 3} more results")
        node = _Node(lines, "result" if wanted & set(numbers) else "op")
        for operand in dict.fromkeys(instruction.read):
            if operand in makers:
                node.sources.append(makers[operand])
                makers[operand][0].uses.append(node)
        nodes.append(node)
        for number in numbers:
            makers[number] = (node, _shape(instruction.outputs[number - instruction.index]))
    return nodes


def _place(nodes: list[_Node]) -> None:
    for node in nodes:
        node.layer = 1 + max((source.layer for source, _ in node.sources), default=-1)
    for node in nodes:
        if node.kind in ("input", "captured") and node.uses:
            node.layer = min(use.layer for use in node.uses) - 1  # beside where it is needed
    layers: dict[int, list[_Node]] = {}
    for node in nodes:
        layers.setdefault(node.layer, []).append(node)
    ordered = [layers[number] for number in sorted(layers)]
    for layer in ordered:
        for position, node in enumerate(layer):
            node.order = position
    for sweep in range(_SWEEPS):
        for layer in ordered if sweep % 2 == 0 else reversed(ordered):
            layer.sort(key=lambda node, down=sweep % 2 == 0: _middle(node, down))
            for position, node in enumerate(layer):
                node.order = position
    widest = max((sum(n.width for n in layer) + _GAP * (len(layer) - 1) for layer in ordered), default=0)
    y = float(_MARGIN)
    for layer in ordered:
        x = _MARGIN + (widest - sum(n.width for n in layer) - _GAP * (len(layer) - 1)) / 2
        for node in layer:
            node.x, node.y = x, y
            x += node.width + _GAP
        y += max(n.height for n in layer) + _LAYER_GAP


def _middle(node: _Node, down: bool) -> float:
    near = [source.order for source, _ in node.sources] if down else [use.order for use in node.uses]
    return sum(near) / len(near) if near else node.order


def _svg(nodes: list[_Node]) -> str:
    width = max((n.x + n.width for n in nodes), default=0) + _MARGIN
    height = max((n.y + n.height for n in nodes), default=0) + _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="monospace" font-size="11">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#5f6368"/></marker></defs>',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for node in nodes:
        for position, (source, label) in enumerate(node.sources):
            x1, y1 = source.x + source.width / 2, source.y + source.height
            x2, y2 = node.x + node.width * (position + 1) / (len(node.sources) + 1), node.y
            bend = max(18.0, (y2 - y1) / 2)
            parts.append(
                f'<path d="M{x1:.1f} {y1:.1f} C{x1:.1f} {y1 + bend:.1f} {x2:.1f} {y2 - bend:.1f} {x2:.1f} {y2:.1f}" '
                f'fill="none" stroke="#5f6368" marker-end="url(#tip)"><title>{escape(label)}</title></path>'
            )
    for node in nodes:
        parts.append(
            f'<rect x="{node.x:.1f}" y="{node.y:.1f}" width="{node.width:.1f}" height="{node.height:.1f}" rx="5" '
            f'fill="{_FILLS[node.kind]}" stroke="#3c4043"/>'
        )
        for row, line in enumerate(node.lines):
            weight = ' font-weight="bold"' if row == 0 else ""
            parts.append(
                f'<text x="{node.x + 8:.1f}" y="{node.y + _LINE * (row + 1):.1f}"{weight}>{escape(line)}</text>'
            )
    return "\n".join([*parts, "</svg>\n"])
