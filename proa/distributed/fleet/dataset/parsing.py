"""Lines of text as records. A line that is not as it should be is named with its file and number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ....core.errors import value_error
from .slots import Column, Records, Slot

_CHUNK = 1024  # lines that become arrays together
_SHOWN = 120  # characters of a bad line


@dataclass(frozen=True)
class Format:
    """What lines look like."""

    slots: tuple[Slot, ...]
    with_name: bool = False  # `1 name` stands first
    with_content: bool = False  # `1 text` stands next
    one_batch: bool = False  # a line is a whole batch
    drops_zeros: bool = False  # in ragged slots


def records_of(lines: Iterable[str], form: Format, source: str, piped: bool) -> Iterator[Records]:
    """The records of a file, some at a time. `piped`: the lines come out of a command, and are numbered as there."""
    chunk: list[str] = []
    first = 1
    for line in lines:
        chunk.append(line)
        if len(chunk) == _CHUNK:
            yield _chunk(chunk, first, form, source, piped)
            first += len(chunk)
            chunk = []
    if chunk:
        yield _chunk(chunk, first, form, source, piped)


def _chunk(lines: Sequence[str], first: int, form: Format, source: str, piped: bool) -> Records:
    try:
        return _parsed(lines, form)
    except ValueError:
        for number, line in enumerate(lines):  # which one it was
            try:
                _parsed([line], form)
            except ValueError as problem:
                what = f"{source}, line {first + number}{' of what the pipe command wrote' if piped else ''}"
                shown = line.rstrip("\n")
                shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
                raise value_error(
                    "dataset", f"{what}: {problem}", repr(shown),
                    f"a line is a count and as many values for each of {[slot.name for slot in form.slots]}",
                ) from None  # fmt: skip
        raise


def _parsed(lines: Sequence[str], form: Format) -> Records:
    flat: list[list[str]] = [[] for _ in form.slots]
    lengths: list[list[int]] = [[] for _ in form.slots]
    names: list[str] | None = [] if form.with_name else None
    contents: list[str] | None = [] if form.with_content else None
    for line in lines:
        tokens = line.split()
        if not tokens:
            raise ValueError("the line is empty")
        place = 0
        for found, what in ((names, "its name"), (contents, "its content")):
            if found is not None:
                if len(tokens) < place + 2 or tokens[place] != "1":
                    raise ValueError(f"{what} must stand here as `1 text`")
                found.append(tokens[place + 1])
                place += 2
        for slot, texts, counts in zip(form.slots, flat, lengths, strict=True):
            end = place + 1 + _count(tokens, place, slot, form)
            if end > len(tokens):
                raise ValueError(f"slot {slot.name} says {tokens[place]} values, and {len(tokens) - place - 1} follow")
            texts += tokens[place + 1 : end]
            counts.append(end - place - 1)
            place = end
        if place < len(tokens):
            _check_rest(tokens, place, form)
    columns = []
    for slot, texts, counts in zip(form.slots, flat, lengths, strict=True):
        column = Column(_numbers(slot, texts), np.array(counts, np.int64))
        columns.append(column.without_zeros() if form.drops_zeros and slot.ragged else column)
    return Records(columns, names, contents)


def _count(tokens: Sequence[str], place: int, slot: Slot, form: Format) -> int:
    if place >= len(tokens):
        raise ValueError(f"the line ends before slot {slot.name}")
    try:
        count = int(tokens[place])
    except ValueError:
        raise ValueError(f"slot {slot.name} must begin with the number of its values, not {tokens[place]!r}") from None
    if count <= 0:
        raise ValueError(
            f"slot {slot.name} says {count} values, and must have at least one (pad it, with 0 for example)"
        )
    if not slot.ragged:
        wrong = count % slot.unit if form.one_batch else count != slot.unit
        if wrong:
            raise ValueError(
                f"slot {slot.name} is {list(slot.shape)} and takes {slot.unit} values, not {count} (lod_level=1: any number)"
            )
    elif count % slot.unit:
        raise ValueError(f"slot {slot.name} is {list(slot.shape)}, which {count} values do not fill")
    return count


def _check_rest(tokens: Sequence[str], place: int, form: Format) -> None:
    """Further slots are ignored, as in Paddle; a count that is wrong is not taken for them."""
    begin = place
    while place < len(tokens):
        count = int(tokens[place]) if tokens[place].isdigit() else 0
        place += 1 + count
        if not count or place > len(tokens):
            raise ValueError(f"{len(tokens) - begin} words follow the last slot, {form.slots[-1].name}")


def _numbers(slot: Slot, texts: Sequence[str]) -> np.ndarray:
    if slot.dtype.kind == "f":
        try:
            return np.array(list(map(float, texts)), np.float32)
        except ValueError as error:
            raise ValueError(f"slot {slot.name} holds numbers; {error}") from None
    try:
        whole = list(map(int, texts))
    except ValueError:
        bad = next(text for text in texts if not text.lstrip("+-").isdigit())
        raise ValueError(f"slot {slot.name} holds whole numbers, not {bad!r}") from None
    try:
        return np.array(whole, np.int64)
    except OverflowError:
        # Hashes are 64 bits without a sign; features are the same bits with one.
        if any(not -(2**63) <= number < 2**64 for number in whole):
            raise ValueError(f"slot {slot.name} holds a number of more than 64 bits") from None
        return np.array([number if number < 2**63 else number - 2**64 for number in whole], np.int64)
