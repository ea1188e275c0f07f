"""`python -m pytest -p tests.ir.staying tests/ir tests/nn …`: every result of cold code stays where it is, as on a GPU with
CuPy (`ir/tiers/lent.py`), until somebody wants it. All tests pass as without it: whoever looks at values finds them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from proa.ir.recording import running
from proa.ir.tiers.lent import Lent, brought_out


class _Kept:
    """NumPy's array as an array of JAX's, as far as `Lent` asks."""

    @staticmethod
    def as_jax(own: np.ndarray) -> np.ndarray:
        return own


def stay(original: Any) -> Any:
    """The run of a segment by tier 0, whose results stay."""

    def run(segment: Any, program: Any, inputs: list[Any], scalars: list[Any]) -> Any:
        values = list(original(segment, program, [brought_out(value) for value in inputs], scalars))
        if segment.devices is None:
            made: dict[int, Lent] = {}
            for number in program.outputs:
                value = values[number]
                if value.__class__ is np.ndarray:
                    values[number] = made.setdefault(id(value), Lent(_Kept, value))
        return values

    return run


def pytest_configure() -> None:
    Lent.get = lambda self: self.own  # type: ignore[method-assign]
    running._run_tier0 = stay(running._run_tier0)
