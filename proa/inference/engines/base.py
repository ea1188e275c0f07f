"""The one interface of engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...eager.tensor import Tensor

if TYPE_CHECKING:
    from ..models import Model


@dataclass(frozen=True)
class Settings:
    """What a Config asks of an engine."""

    threads: int | None = None  # None: as many as there are cores
    precision: str = "float32"  # in which products are computed: float32, bfloat16 or float16
    but: tuple[str, ...] = ()  # operations that stay in float32 all the same
    level: int | None = None  # of the passes before compiling; None: the usual one
    shapes: int = 16  # how many shapes an engine may be prepared for at once


class Unavailable(RuntimeError):
    """An engine that cannot take a model here, with the reason."""


class Engine:
    """Runs one model. `run` may be called from any number of threads at once."""

    name = ""

    def __init__(self, model: Model, settings: Settings) -> None:
        self.model = model
        self.settings = settings

    def run(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The results in the order of the model's outputs, for inputs in the order of its inputs."""
        raise NotImplementedError

    def described(self) -> list[str]:
        """Lines for `explain()`: what it is, and what it keeps."""
        return [self.name]

    def release(self) -> None:
        """Gives back what it can make anew."""


__all__ = ["Engine", "Settings", "Unavailable"]
