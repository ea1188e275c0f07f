"""Named random states: what processes must draw alike, and what each must draw for itself."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .....core.errors import value_error
from .....core.generator import Generator, GeneratorState, default_generator
from .....nn import functional as F
from ...base.topology import get_hybrid_communicate_group

MODEL_PARALLEL_RNG = "model_parallel_rng"


class RNGStatesTracker:
    """Random states by name; a block of `rng_state(name)` draws from one and goes on there next time."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.states_: dict[str, GeneratorState] = {}
        self.seeds_: set[int] = set()

    def add(self, name: str, seed: int) -> None:
        """A new state; names and seeds are used once."""
        if seed in self.seeds_:
            raise value_error("RNGStatesTracker.add", "the seed is taken", f"seed: {seed}", "give every state its own")
        if name in self.states_:
            raise value_error("RNGStatesTracker.add", "the name is taken", f"name: {name!r}", "call reset() first")
        self.seeds_.add(seed)
        self.states_[name] = Generator(seed).get_state()

    @contextlib.contextmanager
    def rng_state(self, name: str = MODEL_PARALLEL_RNG) -> Iterator[None]:
        """Inside, random numbers come from the state of that name."""
        if name not in self.states_:
            raise value_error("RNGStatesTracker.rng_state", "no such state", f"name: {name!r}", "add() it first")
        before = default_generator.get_state()
        default_generator.set_state(self.states_[name])
        try:
            yield
        finally:
            self.states_[name] = default_generator.get_state()
            default_generator.set_state(before)

    def get_states_tracker(self) -> dict[str, GeneratorState]:
        return dict(self.states_)

    def set_states_tracker(self, states: dict[str, GeneratorState]) -> None:
        self.states_ = dict(states)


_tracker = RNGStatesTracker()


def get_rng_state_tracker() -> RNGStatesTracker:
    """The process's tracker."""
    return _tracker


def model_parallel_random_seed(seed: int | None = None) -> None:
    """Seeds what the processes that share a model draw alike, and what each of them draws for itself."""
    groups = get_hybrid_communicate_group()
    position = 0 if groups is None else groups.get_group("model").rank
    stage = 0 if groups is None else groups.get_stage_id()
    first = 1024 if seed is None else seed
    _tracker.reset()
    _tracker.add(MODEL_PARALLEL_RNG, first + 1024 + 100 * stage + 10_000 * position)
    default_generator.manual_seed(first + 100 * stage)


def drawing_apart() -> contextlib.AbstractContextManager[None]:
    """Inside, each process of a model-parallel group draws numbers of its own, if it was seeded for that."""
    return _tracker.rng_state() if MODEL_PARALLEL_RNG in _tracker.states_ else contextlib.nullcontext()


def determinate_seed(rng_name: str) -> int:
    """A seed drawn from the state of that name."""
    with _tracker.rng_state(rng_name):
        seed, offset = default_generator.draw()
    return (seed + offset) & 0x7FFFFFFF


def dropout(
    x: Any, p: float = 0.5, axis: Any = None, rng_name: str | None = None, training: bool = True,
    mode: str = "upscale_in_train", name: str | None = None,
) -> Any:  # fmt: skip
    """Dropout that draws from a named state."""
    if rng_name is None:
        return F.dropout(x, p, axis, training, mode=mode)
    with _tracker.rng_state(rng_name):
        return F.dropout(x, p, axis, training, mode=mode)
