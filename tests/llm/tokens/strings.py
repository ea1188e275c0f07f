"""Two hundred odd strings to cut into tokens: spaces, code, numbers, many scripts, emoji, and mixtures of them."""

from __future__ import annotations

import functools
import json
import pathlib

DATA = pathlib.Path(__file__).parent / "data"


@functools.cache
def odd_strings() -> tuple[str, ...]:
    return tuple(json.loads((DATA / "strings.json").read_text(encoding="utf-8")))
