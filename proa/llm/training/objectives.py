"""What is made smaller: the loss of next tokens, or of preferred answers.

An objective turns a batch into a loss that is summed over what it counts (`Batch.num_learned`, or pairs); the trainer
divides by the count of a whole step, over all of its forward passes and processes: how a step is cut changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from ...autograd import no_grad
from ...eager.tensor import tensor_from_data
from ..layers.attend import Causal
from .loss import preference_loss, token_losses
from .rows import Batch, Rows, WholeRows
from .settings import Preference
from .token_file import TokenFile


class NextToken:
    """The cross entropy of the tokens that follow."""

    def __init__(self, model: Any, logit_bytes: int) -> None:
        self.model, self.logit_bytes = model, logit_bytes
        self.spread: Any = None  # where batches lie, on several devices

    def losses(self, batch: Batch) -> Any:
        """For each position, float32 [rows, length]."""
        ids, labels, positions, segments = (
            tensor_from_data(array) for array in (batch.ids, batch.labels, batch.positions, batch.segments)
        )
        if self.spread is not None:
            ids, positions, segments = map(self.spread.at_entrance, (ids, positions, segments))
        # A document that stands alone needs no mask: what is behind its end is not looked at.
        attend = Causal(segments) if batch.is_packed else Causal()
        hidden = self.model.hidden(ids, positions, attend)
        if self.spread is not None:
            hidden, labels = self.spread.at_head(hidden, labels)
        return token_losses(self.model, hidden, labels, self.logit_bytes)

    def total(self, batch: Batch) -> Any:
        return self.losses(batch).sum()

    def count(self, batch: Batch) -> int:
        return batch.num_learned


class PairRows(WholeRows):
    """Pairs of answers: row `n` is the chosen document `2n` and the rejected one behind it."""

    def __init__(self, file: TokenFile, length: int, seed: int = 0, shuffle: bool = True) -> None:
        super().__init__(file, length, seed, shuffle, pack=False)
        if file.num_documents % 2:
            raise file._damaged("it holds an odd number of answers", "pack it with --task preference")

    def __len__(self) -> int:
        return super().__len__() // 2

    def collect(self, numbers: Any) -> Batch:
        """The chosen answers, then the rejected ones in the same order."""
        return Rows.collect(self, [2 * n for n in numbers] + [2 * n + 1 for n in numbers])


class Preferred(NextToken):
    """Direct preference optimisation: chosen answers become likelier than rejected ones, beside a model that stays.

    `reference` gives a block in which the model is the one that stays (an adapter that is switched off); without it,
    `frozen` is such a model.
    """

    def __init__(
        self, model: Any, logit_bytes: int, settings: Preference, frozen: Any = None,
        reference: Callable[[], AbstractContextManager[None]] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(model, logit_bytes)
        self.settings, self._reference = settings, reference
        self._frozen = None if frozen is None else NextToken(frozen, logit_bytes)

    def _answers(self, objective: NextToken, batch: Batch) -> tuple[Any, Any]:
        likelihoods = -objective.losses(batch).sum(1)
        half = len(batch.ids) // 2
        return likelihoods[:half], likelihoods[half:]

    def total(self, batch: Batch) -> Any:
        chosen, rejected = self._answers(self, batch)
        with no_grad():
            if self._frozen is not None:
                before = self._answers(self._frozen, batch)
            else:
                assert self._reference is not None
                with self._reference():
                    before = self._answers(self, batch)
        loss, _ = preference_loss(chosen, rejected, *before, self.settings.beta, self.settings.smoothing)
        return loss * float(len(batch.ids) // 2)

    def count(self, batch: Batch) -> int:
        return len(batch.ids) // 2


def mean_loss(objective: NextToken, rows: Rows, rows_each: int, limit: int = 0) -> float:
    """The loss over rows in their written order, all of them or the first `limit`; nothing is learned."""
    total, count = 0.0, 0
    number = min(limit or len(rows), len(rows))
    with no_grad():
        for begin in range(0, number, rows_each):
            batch = rows.collect(range(begin, min(begin + rows_each, number)))
            total += float(np.asarray(objective.total(batch).numpy()))
            count += objective.count(batch)
    return total / max(count, 1)
