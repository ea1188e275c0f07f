"""What a table is like: the same words for whoever makes it, keeps it and asks it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...core.errors import type_error, value_error


class CountFilterEntry:
    """A feature takes part in training once it has been seen `count_filter` times.

    Raises:
        ValueError: the number is negative, or no integer.

    Examples:
        >>> paddle.distributed.CountFilterEntry(10).count_filter
        10
    """

    def __init__(self, count_filter: int) -> None:
        if not isinstance(count_filter, int):
            raise value_error("CountFilterEntry", "count_filter must be an integer", type(count_filter).__name__)
        if count_filter < 0:
            raise value_error("CountFilterEntry", "count_filter must not be negative", str(count_filter))
        self.count_filter = count_filter

    def _to_attr(self) -> str:
        return f"count_filter_entry:{self.count_filter}"


class ProbabilityEntry:
    """A feature takes part in training with this probability, always or never: by a draw that depends on it alone.

    Raises:
        ValueError: the number does not lie between 0 and 1.

    Examples:
        >>> paddle.distributed.ProbabilityEntry(0.1).probability
        0.1
    """

    def __init__(self, probability: float) -> None:
        if not isinstance(probability, float):
            raise value_error("ProbabilityEntry", "probability must be a float", type(probability).__name__)
        if not 0 < probability < 1:
            raise value_error("ProbabilityEntry", "probability must lie between 0 and 1", str(probability))
        self.probability = probability

    def _to_attr(self) -> str:
        return f"probability_entry:{self.probability}"


class ShowClickEntry:
    """Names of the inputs that say how often a feature was shown and clicked.

    Raises:
        TypeError: they are not strings.

    Examples:
        >>> paddle.distributed.ShowClickEntry("shows", "clicks").show_name
        'shows'
    """

    def __init__(self, show_name: str, click_name: str) -> None:
        if not isinstance(show_name, str) or not isinstance(click_name, str):
            raise type_error(
                "ShowClickEntry", "show_name and click_name must be names", f"{show_name!r}, {click_name!r}"
            )
        self.show_name, self.click_name = show_name, click_name

    def _to_attr(self) -> str:
        return f"show_click_entry:{self.show_name}:{self.click_name}"


@dataclass(frozen=True)
class TableConfig:
    """A sparse table. `seed` and the feature decide a new row's weights, uniform in [-initial_range, initial_range].

    `min_shows`: seen less often, it is not trained yet (`CountFilterEntry`). `probability`: `ProbabilityEntry`.
    `shrink()` removes what was not seen for more than `max_age` days, and what has less than `keep_shows` shows, of which a
    day leaves `show_decay`. At most `memory_rows` rows are kept in memory; the others lie in the store on disk.
    """

    name: str
    width: int
    rule: str = "adagrad"
    rate: float = 0.05
    settings: dict[str, float] = field(default_factory=dict)
    initial_range: float = 1e-4
    seed: int = 0
    min_shows: int = 0
    probability: float = 1.0
    max_age: int = 30
    keep_shows: float = 0.0
    show_decay: float = 0.98
    memory_rows: int = 50_000_000

    def __post_init__(self) -> None:
        if self.width < 1:
            raise value_error("TableConfig", "a row needs at least one number", f"width: {self.width}")
        if self.memory_rows < 1:
            raise value_error("TableConfig", "memory_rows must be at least 1", str(self.memory_rows))

    def with_entry(self, entry: Any) -> dict[str, Any]:
        """The settings that an entry stands for."""
        if entry is None or isinstance(entry, ShowClickEntry):
            return {}
        if isinstance(entry, CountFilterEntry):
            return {"min_shows": entry.count_filter}
        if isinstance(entry, ProbabilityEntry):
            return {"probability": entry.probability}
        raise type_error(
            "sparse_embedding", "entry must be a CountFilterEntry, ProbabilityEntry, ShowClickEntry or None",
            type(entry).__name__,
        )  # fmt: skip
