"""What is known about functions before they are compared: the random ones, and the differences that are decided."""

from __future__ import annotations

import fnmatch
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Only shape and dtype can agree. Patterns of dotted names.
RANDOM = (
    "rand*", "normal*", "standard_*", "uniform*", "gaussian", "bernoulli*", "multinomial", "poisson", "binomial",
    "exponential*", "geometric*", "cauchy*", "log_normal*", "empty*", "nn.functional.*dropout*", "nn.functional.rrelu",
    "nn.functional.gumbel_softmax", "nn.functional.fractional_max_pool*", "nn.functional.class_center_sample",
    "linalg.svd_lowrank", "linalg.pca_lowrank", "svd_lowrank", "pca_lowrank", "geometric.sample_neighbors",
    "geometric.weighted_sample_neighbors", "top_p_sampling",
)  # fmt: skip


def is_random(name: str) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in RANDOM)


@dataclass(frozen=True)
class Deliberate:
    """A decided difference; `kinds`, `sample` and `variant` narrow it down."""

    functions: tuple[str, ...]
    kinds: tuple[str, ...]
    reason: str
    sample: str = "*"
    variant: str = "*"
    form: str = "*"

    def covers(self, row: dict[str, Any]) -> bool:
        return (
            any(fnmatch.fnmatchcase(row["name"], pattern) for pattern in self.functions)
            and row["kind"] in self.kinds
            and all(fnmatch.fnmatchcase(row[key], getattr(self, key)) for key in ("sample", "variant", "form"))
        )


def load_deliberate(path: Path | None = None) -> list[Deliberate]:
    path = path or Path(__file__).with_name("deliberate.toml")
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("difference", [])
    return [
        Deliberate(**{**entry, "functions": tuple(entry["functions"]), "kinds": tuple(entry["kinds"])})
        for entry in entries
    ]
