"""The planner: how a model is best trained on many devices, from a model and a batch.

tracing.py     the forward pass as a Program, nothing computed (script.py: that of a script)
pieces.py      what is repeated in it
cuts.py        what tensor parallelism could cut
compiling.py   variants of the step on virtual devices; worker.py: the process that does it; collectives.py: what it reads
devices.py     data sheets and links (devices.toml)
costs.py       seconds and bytes of a choice
searching.py   all choices, best first
plan.py        the result (showing.py: its table and picture)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.errors import type_error, value_error
from ...core.tracebacks import boundary
from ...eager.tensor import Tensor
from ...nn.layer import Layer
from .devices import Device, bytes_of, find_device
from .plan import Plan, load_plan
from .searching import search
from .tracing import Traced, trace

__all__ = ["Plan", "auto_parallel", "load_plan", "plan_traced"]


@boundary
def auto_parallel(
    model: Layer, inputs: Sequence[Any] | Any, loss: Any = None, optimizer: Any = None, *, devices: int,
    device: str | Device = "h200", memory: Any = None, batch_size: int | None = None,
    fixed: dict[str, Any] | None = None,
) -> Plan:  # fmt: skip
    """The fastest way to train a model on many devices that fits into their memory.

    Nothing is computed; parameters made under `paddle.LazyGuard` stay without memory. `print(plan.table())` shows what was
    compared, `plan.apply(model, optimizer)` does it.

    Args:
        model: a Layer.
        inputs: one batch (tensors, arrays or InputSpecs): the model's inputs, and with `loss` a label at the end.
        loss: a function of the outputs and the label; None: the model gives its loss itself.
        optimizer: an optimiser of the model's parameters, or None.
        devices: how many there are.
        device: the name of a data sheet, or a file with one.
        memory: what a device has, instead of what the data sheet says (`"80GB"`).
        batch_size: the batch over all devices that is planned for; None: that of `inputs`.
        fixed: parts of the plan that are settled: `{"model": 8, "stage": 1}`.

    Returns:
        A `Plan`.

    Raises:
        ValueError: what the step ends in has more than one element, or nothing fits into the memory.

    Examples:
        >>> model = paddle.nn.Linear(8, 8)
        >>> batch = [paddle.static.InputSpec([32, 8]), paddle.static.InputSpec([32, 8])]
        >>> loss = paddle.nn.functional.mse_loss
        >>> paddle.distributed.auto_parallel(model, batch, loss, devices=4, fixed={"stage": 0}).choice.stage
        0
    """
    given = [inputs] if isinstance(inputs, Tensor) or not isinstance(inputs, (list, tuple)) else list(inputs)
    return plan_traced(trace(model, loss, optimizer, given), devices, device, memory, batch_size, fixed)


def plan_traced(
    traced: Traced, devices: int, device: Any = "h200", memory: Any = None, batch_size: int | None = None,
    fixed: dict[str, Any] | None = None,
) -> Plan:  # fmt: skip
    """The plan for a forward pass that was traced."""
    for name, value in (("devices", devices), ("batch_size", traced.samples if batch_size is None else batch_size)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise type_error("auto_parallel", f"{name} is an integer", repr(value))
        if value < 1:
            raise value_error("auto_parallel", f"{name} is at least 1", repr(value))
    sheet = find_device(device)
    limit = sheet.memory if memory is None else bytes_of(memory)
    batch = traced.samples if batch_size is None else batch_size
    found = search(traced, devices, sheet, limit, batch, fixed)
    choice = found.estimates[0].choice
    return Plan(
        sheet.name, limit, batch, choice, found.cuts[choice.model], found.pieces.prefix, found.estimates, found.fitting,
        found.notes,
    )  # fmt: skip
