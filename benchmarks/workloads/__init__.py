"""The work that is measured: one file per workload, one class per framework family in it.

A *family* is an API: `paddle` (real Paddle and proa run the same class), `torch`, `jax`
(hand-written, only where a comparison with plain JAX says something). A workload class takes the
framework's module and keyword options, and has

* `run() -> float`: one pass of the work. It must end by reading a value that depends on all the
  work, because a framework may put work off until somebody looks. The value of the first pass has
  to be the same in every family: the driver compares them, which shows that all sides do the same
  arithmetic.
* `prepare()`, optional: called before each round, outside the timing.
* `samples() -> dict`, optional: extra numbers to report after each round.

To add a workload: write the file with its `FAMILIES` table and name it in `benchmarks/harness/registry.py`.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any


def families(workload: str) -> dict[str, Any]:
    """The workload's classes by framework family."""
    return importlib.import_module(f"benchmarks.workloads.{workload}").FAMILIES


def build(workload: str, family: str, framework: ModuleType, options: dict[str, Any]) -> Any:
    """Create the workload's class for one framework family."""
    versions = families(workload)
    if family not in versions:
        known = ", ".join(versions)
        raise ValueError(f"workload {workload!r} has no {family!r} version; it has: {known}")
    return versions[family](framework, **options)
