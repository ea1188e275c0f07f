"""A generated program: its text and what the runner has to know about it."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Program:
    """Python source text that is run as a whole, and the facts that the comparison needs."""

    seed: int
    source: str
    features: frozenset[str]
    mixed_precision: bool = False  # float32 values flow into float64 ones
    wrong_line: int | None = None  # the line that must raise, where one is meant to
    wrong_kind: str | None = None
    comparable: bool = True  # False: Paddle does something else here, compare the modes only

    @property
    def file_name(self) -> str:
        return f"<fuzz {self.seed}>"

    @property
    def is_random(self) -> bool:
        return "random" in self.features
