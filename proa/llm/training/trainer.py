"""The loop: rows, losses, gradients, steps; evaluation and checkpoints between them.

    trainer = Trainer(model, rows, settings)
    trainer.train()
    print(trainer.history[-1])

Plain eager code, as a user would write it; what is hot compiles itself. Everything that a step does follows from the
settings, the number of the step and the checkpoint before, so that a training that was killed goes on bit by bit.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from ...autograd import no_grad
from ...core import flags
from ...core.errors import value_error
from ...core.generator import default_generator
from ...core.tracebacks import boundary
from ...distributed import DataParallel, all_reduce, get_rank, get_world_size
from ...eager.tensor import tensor_from_data
from ...framework import memory_budget
from ...nn import ClipGradByGlobalNorm
from ...optimizer import AdamW
from .average import Average
from .float8 import use_float8
from .lora import Adapter
from .objectives import NextToken, mean_loss
from .records import Records
from .rows import Batch, Rows, batches_of
from .schedule import factor_at
from .settings import Settings
from .spread import Spread
from .state import State, last_checkpoint

_DETERMINISTIC = "FLAGS_cpu_deterministic"


class Trainer:
    """Trains a model, or its adapter, on rows."""

    @boundary
    def __init__(
        self, model: Any, rows: Rows, settings: Settings, *, evaluation: Rows | None = None,
        adapter: Adapter | None = None, objective: Any = None, stream: Any = None,
    ) -> None:  # fmt: skip
        self.model, self.rows, self.settings = model, rows, settings
        self.evaluation, self.adapter = evaluation, adapter
        _check_vocabulary(model, rows)
        self.objective = objective or NextToken(model, settings.logit_mb << 20)
        self.parameters = adapter.parameters() if adapter else _trained(model)
        self.num_float8 = use_float8(model, settings.float8)
        self.rank, self.world = get_rank(), get_world_size()
        self._parallel = DataParallel(model) if self.world > 1 else None
        self._depth = 1  # forward passes under way; in a pipeline as many as there are stages
        self.steps = settings.steps or self._steps_of(settings.epochs)
        self.optimizer = self._optimizer()
        if settings.parallel is not None:
            self.objective.spread = spread = Spread(model, self.optimizer, settings.parallel)
            self.optimizer, self._depth = spread.optimizer, spread.depth
        decay = settings.optimizer.average
        self.average = Average(self.parameters, decay) if decay else None
        self.step = 0
        first = self.rank == 0
        os.makedirs(settings.output, exist_ok=True)
        self.records = Records(
            settings.output if first else None, self.steps, settings.tensorboard, stream if first else _Silent()
        )
        self._state = State(self.parameters, self.optimizer, self.average, self._about())

    def _steps_of(self, epochs: float) -> int:
        each = self.settings.batch * self.settings.accumulate * self.world
        return max(math.ceil(epochs * len(self.rows) / each), 1)

    def _optimizer(self) -> AdamW:
        chosen = self.settings.optimizer
        decayed = {p.name for path, p in self.parameters.items() if chosen.decay_all or _decays(path, p)}
        return AdamW(
            chosen.learning_rate, chosen.beta1, chosen.beta2, chosen.epsilon, list(self.parameters.values()),
            chosen.weight_decay, apply_decay_param_fun=decayed.__contains__,
            grad_clip=ClipGradByGlobalNorm(chosen.clip) if chosen.clip else None,
            multi_precision=self.settings.precision == "mixed",
        )  # fmt: skip

    def _about(self) -> dict[str, Any]:
        """What must be the same for a checkpoint to be this training's."""
        s, rows = self.settings, self.rows
        eighth = "" if s.float8 == "none" else " in float8"
        return {
            "task": s.task, "rows": [len(rows), rows.length, rows.file.num_tokens], "seed": [s.seed, s.data.seed],
            "batch": [s.batch, s.accumulate, self.world], "precision": s.precision + eighth,
        }  # fmt: skip

    @property
    def history(self) -> list[dict[str, float]]:
        """What was measured: {step, loss, learning_rate} for each step, {step, evaluation_loss} for evaluations."""
        return self.records.history

    @property
    def checkpoints(self) -> str:
        return os.path.join(self.settings.output, "checkpoints")

    @boundary
    def train(self) -> list[dict[str, float]]:
        """Trains to the end, from the last checkpoint if there is one; gives the history."""
        default_generator.manual_seed(self.settings.seed + self.rank)
        self._resume()
        self.model.train()
        budget = memory_budget(self.settings.memory) if self.settings.memory else nullcontext()
        try:
            with _exactly(self.settings.exact), budget:
                while self.step < self.steps:
                    self._one_step()
                    self._between()
        finally:
            self.records.close()
            self.model.eval()
        return self.history

    def _resume(self) -> None:
        found = last_checkpoint(self.checkpoints) if self.settings.checkpoints.resume else None
        if found is not None:
            self.step = self._state.load(self.checkpoints, found)
        self.records.resume(self.step)

    def _one_step(self) -> None:
        settings = self.settings
        batches = list(batches_of(self.rows, self.step, settings.batch, settings.accumulate, self.rank, self.world))
        count = self._counted(batches)
        rate = settings.optimizer.learning_rate * factor_at(settings.schedule, self.steps, self.step)
        self.optimizer.set_lr(rate)
        loss: Any = None
        # Gradients of processes are averaged: each divides by its share of what the whole step counts.
        parts = (self.objective.total(batch) / (count / self.world) for batch in batches)
        for number, part in enumerate(_ahead(parts, self._depth)):
            with self._exchange(number == len(batches) - 1):
                part.backward()
            with no_grad():
                loss = part.detach() if loss is None else loss + part.detach()
        self.optimizer.step()
        self.optimizer.clear_grad()
        if self.average is not None:
            self.average.update()
        self.step += 1
        self.records.step(self.step, self._mean(loss), rate, sum(b.num_tokens for b in batches) * self.world)

    def _exchange(self, last: bool) -> Any:
        return nullcontext() if last or self._parallel is None else self._parallel.no_sync()

    def _counted(self, batches: list[Batch]) -> float:
        """What the losses of a step are divided by; at least 1: a step of questions alone learns nothing."""
        count = float(sum(self.objective.count(batch) for batch in batches))
        if self.world > 1:
            total = tensor_from_data(_float64(count))
            all_reduce(total)
            count = float(total.numpy())
        return max(count, 1.0)

    def _mean(self, loss: Any) -> Any:
        if self.world > 1:
            all_reduce(loss)
            loss = loss / float(self.world)
        return loss

    def _between(self) -> None:
        """What comes after a step: telling, evaluating, saving."""
        settings, last = self.settings, self.step == self.steps
        if last or self.step % settings.log_every == 0:
            self.records.flush()
        if self.evaluation is not None and (last or _is_due(self.step, settings.evaluate_every)):
            self.records.evaluated(self.step, self.evaluate())
        if last or _is_due(self.step, settings.checkpoints.every):
            self.records.flush()
            self._state.save(self.checkpoints, self.step, settings.checkpoints.keep)

    @boundary
    def evaluate(self) -> float:
        """The mean loss on the evaluation rows, with the averaged weights where there are some."""
        if self.evaluation is None:
            raise value_error("Trainer.evaluate", "there are no rows to evaluate on", "", "give evaluation=…")
        was_training = self.model.training
        self.model.eval()
        try:
            with nullcontext() if self.average is None else self.average.applied():
                return mean_loss(self.objective, self.evaluation, self.settings.batch, self.settings.evaluate_rows)
        finally:
            if was_training:
                self.model.train()


def _ahead(parts: Iterator[Any], depth: int) -> Iterator[Any]:
    """The same in the same order, `depth` of them made before the first is given (one forward, one backward in turn)."""
    made: deque[Any] = deque()
    for part in parts:
        made.append(part)
        if len(made) == depth:
            yield made.popleft()
    yield from made


@contextmanager
def _exactly(exact: bool) -> Iterator[None]:
    """Inside, what a step computes does not depend on how often its like was seen: a continued training begins anew."""
    before = flags.get(_DETERMINISTIC)
    flags.set_flags({_DETERMINISTIC: exact or before})
    try:
        yield
    finally:
        flags.set_flags({_DETERMINISTIC: before})


class _Silent:
    """The terminal of all processes but the first."""


def _is_due(step: int, every: int) -> bool:
    return every > 0 and step % every == 0


def _trained(model: Any) -> dict[str, Any]:
    return {path: p for path, p in model.named_parameters() if not p.stop_gradient}


def _decays(path: str, parameter: Any) -> bool:
    """Matrices do; norms, biases and embeddings do not."""
    return len(parameter.shape) > 1 and "embedding" not in path


def _float64(value: float) -> Any:
    import numpy as np

    return np.array(value, np.float64)


def _check_vocabulary(model: Any, rows: Rows) -> None:
    if rows.file.vocab_size > model.config.vocab_size:
        raise value_error(
            "Trainer", f"the model has {model.config.vocab_size} tokens, the file was made for more",
            f"{rows.file.path!r} with a vocabulary of {rows.file.vocab_size}", "pack it with the model's tokenizer",
        )  # fmt: skip
