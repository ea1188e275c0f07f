"""`paddle.nn.functional`: functions of `proa.ops` that are exported here (collected at import)."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    # Only names that were not collected come here.
    raise AttributeError(f"module 'paddle.nn.functional' has no attribute {name!r}")
