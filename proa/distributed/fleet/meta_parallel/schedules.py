"""The order in which a stage of a pipeline runs forward and backward passes: plain lists, worked out beforehand.

A model is cut into `stages * chunks` parts; part `chunk * stages + stage` is chunk `chunk` of that stage. Every process
knows the lists of all stages, so that a receiver knows in which order messages come.
"""

from __future__ import annotations

from typing import NamedTuple

from ....core.errors import value_error


class Action(NamedTuple):
    """One pass of one chunk of a stage over one micro-batch."""

    is_forward: bool
    chunk: int
    micro: int


def forwards(stages: int, micros: int, chunks: int) -> list[Action]:
    """Forward passes of any stage: with several chunks, as many micro-batches as there are stages take turns."""
    group = stages if chunks > 1 else micros
    return [
        Action(True, chunk, micro)
        for begin in range(0, micros, group)
        for chunk in range(chunks)
        for micro in range(begin, min(begin + group, micros))
    ]


def _backwards(stages: int, micros: int, chunks: int) -> list[Action]:
    return [Action(False, chunks - 1 - chunk, micro) for _, chunk, micro in forwards(stages, micros, chunks)]


def forward_then_backward(stage: int, stages: int, micros: int, chunks: int = 1) -> list[Action]:
    """All forward passes first; needs the memory of all micro-batches."""
    return forwards(stages, micros, chunks) + _backwards(stages, micros, chunks)


def one_forward_one_backward(stage: int, stages: int, micros: int, chunks: int = 1) -> list[Action]:
    """1F1B: as few forward passes beforehand as keep the later stages busy, then one of each in turn.

    With one chunk a stage holds at most `stages - stage` micro-batches at a time. With several ("interleaved") the pipeline
    fills and empties faster, for more messages and memory; the number of micro-batches must be a multiple of the stages.
    """
    if chunks > 1 and micros % stages:
        raise value_error(
            "PipelineParallel", f"interleaved stages need a multiple of {stages} micro-batches", f"{micros}",
            "change pipeline_configs['accumulate_steps']",
        )  # fmt: skip
    ahead = stages - stage - 1 if chunks == 1 else 2 * (stages - stage - 1) + (chunks - 1) * stages
    first, second = forwards(stages, micros, chunks), _backwards(stages, micros, chunks)
    ahead = min(ahead, len(first))
    turns = [action for pair in zip(first[ahead:], second, strict=False) for action in pair]
    return first[:ahead] + turns + second[len(first) - ahead :]


SCHEDULES = {"1F1B": one_forward_one_backward, "F-then-B": forward_then_backward}
