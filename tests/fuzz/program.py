"""A generated program: its text and what the runner has to know about it."""

from __future__ import annotations

import dataclasses

from .known import is_comparable


@dataclasses.dataclass(frozen=True)
class Program:
    """Python source text that is run as a whole, and the facts that the comparison needs."""

    seed: int
    source: str
    features: frozenset[str]
    mixed_precision: bool = False  # float32 values flow into float64 ones
    wrong_line: int | None = None  # the line that must raise, where one is meant to
    wrong_kind: str | None = None
    repetitions: int = 6  # how often a run repeats the whole program, with other numbers each time
    has_model: bool = False  # memory/strided.py can run it as well
    known: frozenset[str] = frozenset()  # differences from Paddle (known.py) that it may show

    @property
    def file_name(self) -> str:
        return f"<fuzz {self.seed}>"

    @property
    def comparable(self) -> bool:
        """Whether Paddle's answers can be relied on."""
        return is_comparable(self.known)

    @property
    def is_random(self) -> bool:
        return "random" in self.features
