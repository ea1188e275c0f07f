"""The arrays of a step from the sequences that are in it."""

from __future__ import annotations

from collections.abc import Sequence as Rows
from typing import Any, NamedTuple

import numpy as np

from ...ops.generation.choosing import PROMPT, TOP_K, UNIFORM, USES
from .sequence import Sequence, uniform
from .steps import Shape

_PENALTIES, _BIAS, _MASK, _DRAW, _TOP_K, _TOP_P, _LOGPROBS, _TOPS = range(len(USES))


class Row(NamedTuple):
    """Tokens of a sequence that are computed in a step, the first of them at position `begin`."""

    sequence: Sequence
    begin: int
    tokens: list[int]


class Place(NamedTuple):
    """Where a token is wanted: behind token number `token` of the step, as number `index` of the answer, behind `drafts`."""

    sequence: Sequence
    token: int
    index: int
    drafts: Rows[int] = ()


def describe(shape: Shape, rows: Rows[Row], page_size: int) -> dict[str, np.ndarray]:
    """Tokens, positions, slots and tables. What fills the shape up is written to page 0 and looked at by nobody."""
    ids = np.zeros((shape.rows, shape.length), np.int32)
    positions, slots = np.zeros_like(ids), np.zeros_like(ids)
    tables = np.zeros((shape.rows, shape.width), np.int32)
    adapters = np.zeros(shape.rows, np.int32)
    for number, (sequence, begin, tokens) in enumerate(rows):
        pages, count = sequence.pages, len(tokens)
        adapters[number] = sequence.adapter
        tables[number, : len(pages)] = pages
        if count == 1:  # the usual case, without NumPy's cost for small arrays
            ids[number, 0], positions[number, 0] = tokens[0], begin
            slots[number, 0] = pages[begin // page_size] * page_size + begin % page_size
            continue
        where = np.arange(begin, begin + count, dtype=np.int32)
        ids[number, :count], positions[number, :count] = tokens, where
        slots[number, :count] = tables[number, where // page_size] * page_size + where % page_size
    return {"ids": ids, "positions": positions, "slots": slots, "tables": tables, "adapters": adapters}


def targets_of(shape: Shape, rows: Rows[Row]) -> np.ndarray:
    """The token that stands behind each token of the rows; 0 behind the last one of a sequence."""
    targets = np.zeros((shape.rows, shape.length), np.int32)
    for number, (sequence, begin, tokens) in enumerate(rows):
        behind = sequence.ids[begin + 1 : begin + 1 + len(tokens)]
        targets[number, : len(behind)] = behind
    return targets


def choose_at(count: int, wanted: Rows[Place], context: int) -> dict[str, np.ndarray]:
    """What the choice needs at each of `count` places. Only what some place asks for is filled in."""
    uses = np.zeros(len(USES), np.int32)
    given: dict[str, np.ndarray] = {"uses": uses, "places": np.zeros(count, np.int32)}
    numbers, limits = np.zeros((count, 7), np.float32), np.zeros((count, 2), np.int32)
    numbers[:, 3] = 1.0
    for place, (sequence, token, index, drafts) in enumerate(wanted):
        sampling = sequence.sampling
        given["places"][place] = token
        numbers[place] = sequence.numbers
        if sampling.temperature > 0:
            uses[_DRAW] = 1
            uses[_TOP_K] |= sampling.top_k > 0
            uses[_TOP_P] |= sampling.top_p < 1.0
            limits[place, TOP_K] = min(sampling.top_k, 1 << 30)
            numbers[place, UNIFORM] = uniform(sequence.seed, index)
        if sampling.has_penalties:
            uses[_PENALTIES] = 1
            limits[place, PROMPT] = sequence.prompt
            history = _filled(given, "history", (count, context), np.int32, -1)
            before = [*sequence.ids, *drafts]
            history[place, : len(before)] = before
        if sequence.biases is not None:
            uses[_BIAS] = 1
            _put_biases(given, count, place, sequence.biases)
        if sequence.mask is not None:
            uses[_MASK] = 1
            _filled(given, "allowed", (count, sequence.mask.shape[0]), np.int32, -1)[place] = sequence.mask
        if sampling.logprobs is not None:
            uses[_LOGPROBS] = 1
            uses[_TOPS] |= sampling.logprobs > 0
    given["numbers"], given["limits"] = numbers, limits
    return given


def _put_biases(given: dict[str, np.ndarray], count: int, place: int, biases: tuple[np.ndarray, np.ndarray]) -> None:
    tokens, values = biases
    _filled(given, "bias_tokens", (count, tokens.shape[0]), np.int32, -1)[place] = tokens
    _filled(given, "bias_values", (count, tokens.shape[0]), np.float32, 0)[place] = values


def _filled(given: dict[str, np.ndarray], name: str, shape: tuple[int, ...], dtype: Any, value: Any) -> np.ndarray:
    found = given.get(name)
    if found is None:
        found = given[name] = np.full(shape, value, dtype)
    return found
