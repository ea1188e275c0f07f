"""Modules from elsewhere that are imported by a name which is known only when the program runs."""

from __future__ import annotations

_OWN = __name__.partition(".")[0]


def from_elsewhere(name: str) -> str:
    """The name of a module of another package, as it is.

    One of this package is refused: its rooms are imported by statements, which `tools/check_imports.py` can read.
    """
    if name.partition(".")[0] == _OWN:
        raise ImportError(
            f"{name} is a part of {_OWN} itself, and this place imports packages from elsewhere by name; "
            "import it with an import statement."
        )
    return name
