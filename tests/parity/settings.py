"""What is known about functions before they are compared: the differences that are decided, and how samples are found."""

from __future__ import annotations

import fnmatch
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Functions of one triangle of a matrix: only the symmetric (Hermitian) part of their gradient has a meaning.
HERMITIAN = ("eigh", "eigvalsh", "linalg.eigh", "linalg.eigvalsh")

# Functions that give positions of elements: among equal elements Paddle takes any.
POSITIONS = ("median", "nanmedian", "topk", "sort", "argsort", "kthvalue", "mode", "compat.median", "compat.nanmedian")


def attached_samples(function: Any) -> Any:
    """The samples of a public function; an alias that was declared later carries none itself, what it wraps does."""
    while function is not None:
        found = getattr(function, "samples", None)
        if found is not None:
            return found
        function = getattr(function, "__wrapped__", None)
    return None


@dataclass(frozen=True)
class Deliberate:
    """A decided difference: of which functions (patterns) and kinds; what else is given must match as well."""

    functions: tuple[str, ...]
    kinds: tuple[str, ...]
    reason: str
    sample: str = ""  # a part of the call's text
    detail: str = ""  # a part of what was found
    variant: str = ""
    form: str = ""
    unverifiable: bool = False  # central differences cannot say whose gradient is right

    def covers(self, row: dict[str, Any]) -> bool:
        return (
            any(fnmatch.fnmatchcase(row["name"], pattern) for pattern in self.functions)
            and row["kind"] in self.kinds
            and self.sample in row["sample"]
            and self.detail in row["detail"]
            and self.variant in ("", row["variant"])
            and self.form in ("", row["form"])
            and (self.unverifiable or "proa's WRONG" not in row["detail"])  # a wrong gradient is never deliberate
        )


def load_deliberate(path: Path | None = None) -> list[Deliberate]:
    path = path or Path(__file__).with_name("deliberate.toml")
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("difference", [])
    return [
        Deliberate(**{**entry, "functions": tuple(entry["functions"]), "kinds": tuple(entry["kinds"])})
        for entry in entries
    ]
