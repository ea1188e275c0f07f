"""What takes part in every run of a program from outside: it feeds inputs of its own, and is given values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..eager.tensor import Tensor

if TYPE_CHECKING:
    from .program import Program
    from .scope import Scope


class Companion:
    """One that does nothing; tables on servers are more (`distributed/ps/programs.py`)."""

    def fetches(self) -> list[Tensor]:
        """The variables whose values it is given after a run."""
        return []

    def feed(self, arrays: dict[str, Any], scope: Scope) -> dict[str, Any]:
        """Arrays for its own inputs, before a run that is fed `arrays`."""
        return {}

    def finish(self, values: list[Tensor], scope: Scope) -> None:
        """Takes the values of `fetches()` after the run."""

    def copied(self, program: Program) -> Companion:
        """The one of a copy of the program."""
        return self
