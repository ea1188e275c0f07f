"""Inner names of `paddle.tensor.search`."""

from typing import Any


def _restrict_nonzero(condition: Any, total_true_num: int) -> Any:
    """Where a condition of one dimension holds, when the number of such places is known."""
    return condition.nonzero()[:total_true_num]
