"""The operations of Paddle's files: one row each, for both formats.

A row reads

    legacy_name: name(operand, operand …; attribute, attribute …) -> output, output …

where `name` and the attributes' order are those of the newer format (PIR), which a Model uses, and the operands and
outputs are the slots of the older one (`.pdmodel`) in the newer one's order. `>` instead of `:` marks a row for reading
only (an older version of an operation), `-` an operation that only the newer format has, or that is translated by code
(legacy/special*.py).

operand     `X` a slot; `X*` a slot with a list of tensors; `-` always absent; `A*|B|attribute:kind@type=default` the first
            slot that is there, else a constant made of an attribute: `@list` an integer vector, `@int32` … one number;
            `=0.0@float32` a fixed constant
attribute   `new<old:kind/old_kind=default`: `<old` only if the names differ (`<-`: the older format has none; `<@Out`: the
            element type of the output), `/old_kind` only if the kinds differ. Kinds: bool int long float double string,
            with an s for lists; dtype; intarray
"""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Attribute:
    name: str
    legacy: str | None  # None: the older format has no such attribute
    kind: str
    legacy_kind: str
    default: Any = None  # None: there is none
    of_output: bool = False  # the element type of the first output


@dataclass(frozen=True)
class Operand:
    slots: tuple[tuple[str, bool], ...]  # name, and whether it holds a list
    constant: Attribute | None = None
    target: str = ""  # of the constant: "list" or an element type
    literal: float | None = None


@dataclass(frozen=True)
class Row:
    legacy: str
    name: str
    operands: tuple[Operand, ...]
    attributes: tuple[Attribute, ...]
    outputs: tuple[tuple[str, bool], ...]
    both_ways: bool = True


_ROW = re.compile(r"(?:(\w+)(:| >)|-) (\w+)\(([^;)]*)(?:; ([^)]*))?\) ->(.*)")


def _default(text: str | None, kind: str) -> Any:
    if text is None:
        return None
    if kind == "string":
        return text
    value = json.loads(text)
    return float(value) if kind in ("float", "double") else value


def _attribute(text: str) -> Attribute:
    described, equals, default = text.partition("=")
    names, _, kinds = described.partition(":")
    name, renamed, old = names.partition("<")
    kind, _, old_kind = kinds.partition("/")
    legacy = None if old in ("-", "@Out") else old if renamed else name
    value = _default(default if equals else None, kind)
    return Attribute(name, legacy, kind, old_kind or kind, value, old == "@Out")


def _slot(text: str) -> tuple[str, bool]:
    return text.removesuffix("*"), text.endswith("*")


def _operand(text: str) -> Operand:
    slots = []
    for part in text.split("|"):
        if "@" not in part:
            if part != "-":
                slots.append(_slot(part))
            continue
        described, _, target = part.partition("@")
        target, equals, default = target.partition("=")
        if not described.startswith("="):
            constant = _attribute(described + equals + default)
            return Operand(tuple(slots), constant, target)
        return Operand(tuple(slots), None, target, float(described[1:]))
    return Operand(tuple(slots))


def _row(text: str) -> Row:
    match = _ROW.fullmatch(text)
    if match is None:
        raise ValueError(f"not a row of the table: {text}")
    legacy, mark, name, operands, attributes, outputs = match.groups()
    return Row(
        legacy or "",
        name,
        tuple(_operand(part) for part in operands.split(", ") if part),
        tuple(_attribute(part) for part in (attributes or "").split(", ") if part),
        tuple(_slot(part) for part in outputs.strip().split(", ") if part),
        both_ways=mark == ":",
    )


@functools.cache
def rows() -> tuple[Row, ...]:
    from proa.formats.paddle.files.table import arithmetic, layers, shapes

    found = []
    for module in (arithmetic, layers, shapes):
        for form, names in module.SAME.items():
            found += [_row(f"{name}: {name}{form}") for name in names.split()]
        found += [_row(text) for text in module.ROWS.replace("\n    ", " ").strip().split("\n")]
    return tuple(found)


@functools.cache
def by_legacy_name() -> dict[str, Row]:
    return {row.legacy: row for row in rows() if row.legacy}


@functools.cache
def by_name() -> dict[str, Row]:
    """By the newer format's name; with several older forms, the one to write."""
    found: dict[str, Row] = {}
    for row in rows():
        if row.name not in found or (row.both_ways and not found[row.name].both_ways):
            found[row.name] = row
    return found


def find(name: str) -> Row | None:
    """The row of an operation; one that works in place ("relu_") has the row of the one that does not."""
    table = by_name()
    return table.get(name) or table.get(name.removesuffix("_")) or table.get(name + "_")
