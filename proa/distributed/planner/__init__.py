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

    `inputs` are one batch (tensors, arrays or InputSpecs): the model's inputs, and with `loss` a label at the end, which
    `loss(outputs, label)` gets. `batch_size` is the batch over all devices that is planned for, that of `inputs` if it is
    not given. `device` names a data sheet or a file with one, `memory` replaces what it says (`"80GB"`). `fixed` settles
    parts of the plan: `{"model": 8, "stage": 1}`. Nothing is computed; parameters made under `paddle.LazyGuard` stay
    without memory.

        plan = dist.auto_parallel(model, [x, y], loss=F.cross_entropy, optimizer=adam, devices=64, device="h200")
        print(plan.table())
        model, optimizer = plan.apply(model, adam)
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
