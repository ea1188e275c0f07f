"""PipelineParallel: the stages of a model in different processes, each working on another micro-batch."""

from __future__ import annotations

from typing import Any

from ....core.dtype import FLOAT32
from ....core.errors import type_error, value_error
from ....core.tracebacks import boundary
from ....eager.backward.engine import backward
from ....eager.tensor import Tensor
from ....ir.recorder import recording_gradients
from ....ops.basic import full_of
from ....ops.shape.joining import concat
from ...transport.operations import broadcast_op
from ..base.synchronising import begin_together
from .mailbox import Mailbox
from .schedules import SCHEDULES, Action, forward_then_backward, forwards
from .wrappers import MetaParallelBase


class PipelineParallel(MetaParallelBase):
    """A model whose layers are divided. `train_batch` cuts a batch into `accumulate_steps` micro-batches.

    `pipeline_configs["schedule_mode"]` is "1F1B" (also for interleaved stages) or "F-then-B".
    """

    def __init__(self, layers: Any, hcg: Any = None, strategy: Any = None) -> None:
        super().__init__(layers, hcg, strategy)
        settings = getattr(strategy, "pipeline_configs", None) or {}
        self.accumulate_steps = int(settings.get("accumulate_steps", 1))
        mode = settings.get("schedule_mode", "1F1B")
        if mode not in SCHEDULES:
            raise value_error("PipelineParallel", f"schedule_mode must be one of {list(SCHEDULES)}", repr(mode))
        self._schedule = SCHEDULES[mode]
        group = None if hcg is None else hcg.get_group("pipe")
        self._group, self._ranks = group, [0] if group is None else list(group.ranks)
        self.num_stages, self.stage_id = len(self._ranks), 0 if group is None else group.rank
        self.num_model_chunks = layers.get_num_virtual_stages()
        self._parts = self.num_stages * self.num_model_chunks
        if hcg is not None:
            begin_together(layers, hcg)

    def is_pipeline_first_stage(self, ignore_virtual: bool = False) -> bool:
        return self.stage_id == 0

    def is_pipeline_last_stage(self, ignore_virtual: bool = False) -> bool:
        return self.stage_id == self.num_stages - 1

    # ---- a batch -----------------------------------------------------------------------------------

    @boundary
    def train_batch(
        self, data: Any, optimizer: Any, lr_scheduler: Any = None, scaler: Any = None, loss_fn_idx: int = 0,
        return_micro_batch_loss: bool = False,
    ) -> Any:  # fmt: skip
        """One update from a batch `(inputs, labels)`; gives the mean loss of its micro-batches, at every stage.

        The first stage uses the inputs, the last one the labels; others may be given None. A tuple is several tensors,
        of which each is cut; a list is micro-batches.
        """
        self.train()
        loss = self.forward_backward_pipeline(data, scaler, loss_fn_idx, return_micro_batch_loss)
        if scaler is None:
            optimizer.step()
        else:
            scaler.step(optimizer)
            scaler.update()
        optimizer.clear_grad()
        if lr_scheduler is not None:
            lr_scheduler.step()
        return loss

    def forward_backward_pipeline(
        self, data: Any, scaler: Any = None, loss_fn_idx: int = 0, return_micro_batch_loss: bool = False
    ) -> Any:
        """Gradients of a batch, and its loss."""
        plans = [
            self._schedule(stage, self.num_stages, self.accumulate_steps, self.num_model_chunks)
            for stage in range(self.num_stages)
        ]
        losses = _Run(self, data, plans, scaler, self._loss_function(loss_fn_idx)).complete()
        self._layers.allreduce_shared_weight_gradients()
        return self._shared_losses(losses, return_micro_batch_loss)

    @boundary
    def eval_batch(
        self, data: Any, compute_loss: bool = False, loss_fn_idx: int = 0, return_host_tensor: bool = False
    ) -> Any:
        """The mean loss of a batch `(inputs, labels)`, or without `compute_loss` the outputs of its micro-batches, which
        only the last stage has."""
        self.eval()
        plans = [forwards(self.num_stages, self.accumulate_steps, self.num_model_chunks)] * self.num_stages
        with recording_gradients(False):
            run = _Run(self, data, plans, None, self._loss_function(loss_fn_idx) if compute_loss else None)
            results = run.complete()
            return self._shared_losses(results, False) if compute_loss else results

    def _loss_function(self, number: int) -> Any:
        loss = self._layers._loss_fn
        loss = loss[number] if isinstance(loss, (list, tuple)) else loss
        if loss is None:
            raise type_error("PipelineParallel", "a loss is needed", "loss_fn: None", "give loss_fn to PipelineLayer")
        return loss

    def _shared_losses(self, losses: list[Tensor], each: bool) -> Any:
        """The losses of the micro-batches, or their mean, as the last stage has computed them."""
        if self.num_stages == 1 and not each:
            return sum(losses[1:], losses[0]) / len(losses)
        with recording_gradients(False):
            found = full_of(0.0, (self.accumulate_steps,), FLOAT32)
            if losses:
                found = concat([loss.detach().astype("float32").reshape([1]) for loss in losses])
            if self._group is not None and self._group.nranks > 1:
                found = broadcast_op(found, tuple(self._group.ranks), self.num_stages - 1)
            return found if each else found.mean()


class PipelineParallelWithInterleave(PipelineParallel):
    """Stages that have several parts of the model each."""


class PipelineParallelWithInterleaveFthenB(PipelineParallelWithInterleave):
    """All forward passes before the backward passes."""

    def __init__(self, layers: Any, hcg: Any = None, strategy: Any = None) -> None:
        super().__init__(layers, hcg, strategy)
        self._schedule = forward_then_backward


class _Run:
    """One batch on its way through this stage."""

    def __init__(
        self, owner: PipelineParallel, data: Any, plans: list[list[Action]], scaler: Any, loss_fn: Any
    ) -> None:
        self.owner, self.scaler, self.loss_fn = owner, scaler, loss_fn
        self.inputs, self.labels = data if isinstance(data, (list, tuple)) and len(data) == 2 else (data, None)
        self.plan, self.count = plans[owner.stage_id], owner.accumulate_steps
        self.trains = not all(action.is_forward for action in self.plan)
        self.box = Mailbox(owner.stage_id, owner._ranks, plans, owner.num_model_chunks)
        self.passing: dict[tuple[int, int], tuple[list[Tensor], list[Tensor]]] = {}
        self.results: list[Tensor] = []

    def complete(self) -> list[Tensor]:
        """The losses (or outputs) of the micro-batches, at the last stage."""
        for is_forward, chunk, micro in self.plan:
            part = chunk * self.owner.num_stages + self.owner.stage_id
            if is_forward:
                self.forward(part, chunk, micro)
            else:
                self.backward(part, micro)
        self.box.close()
        return self.results

    def forward(self, part: int, chunk: int, micro: int) -> None:
        if part == 0:
            given = micro_batch(self.inputs, micro, self.count)
            inputs = []
        else:
            inputs = self.box.activations(part, micro)
            given = inputs[0] if len(inputs) == 1 else tuple(inputs)
        output = self.owner._layers(given, chunk_id=chunk)
        if part == self.owner._parts - 1:
            outputs = [self._finished(output, micro)]
        else:
            outputs = list(output) if isinstance(output, (list, tuple)) else [output]
            self.box.send_activations(part, micro, outputs)
        if self.trains:
            self.passing[part, micro] = (inputs, outputs)

    def _finished(self, output: Any, micro: int) -> Any:
        """The scaled loss of a micro-batch; or what the model gives."""
        if self.loss_fn is None:
            self.results.append(output)
            return output
        loss = self.loss_fn(output, micro_batch(self.labels, micro, self.count))
        self.results.append(loss.detach())
        loss = loss / self.count
        return loss if self.scaler is None else self.scaler.scale(loss)

    def backward(self, part: int, micro: int) -> None:
        inputs, outputs = self.passing.pop((part, micro))
        if part == self.owner._parts - 1:
            backward(outputs)
        else:
            wanted = [output for output in outputs if not output.stop_gradient]
            backward(wanted, self.box.gradients(part, micro))
        if part > 0:
            self.box.send_gradients(part, inputs)


def micro_batch(data: Any, number: int, count: int) -> Any:
    """One of `count` micro-batches of a tensor, of each tensor of a tuple, or of a list of them."""
    if isinstance(data, tuple):
        return tuple(micro_batch(each, number, count) for each in data)
    if isinstance(data, list):
        if len(data) != count:
            raise value_error("PipelineParallel", f"a list holds the {count} micro-batches", f"{len(data)} of them")
        return data[number]
    if data is None:
        return None
    size, rest = divmod(data.shape[0], count)
    if rest:
        raise value_error(
            "PipelineParallel", f"a batch is cut into accumulate_steps: {count} equal micro-batches", f"{data._aval}"
        )
    return data[number * size : (number + 1) * size]
