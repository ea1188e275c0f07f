"""`paddle.distributed.sharding`: optimiser states, gradients and parameters divided among processes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..core import job
from ..core.errors import value_error, warn
from ..core.tracebacks import boundary
from ..framework.io import save
from .fleet.meta_optimizers.dygraph_optimizer.hybrid_parallel_gradscaler import share_overflows
from .fleet.meta_parallel.sharding import GroupShardedOptimizer, GroupShardedStage2, GroupShardedStage3
from .group import Group, resolve

if TYPE_CHECKING:
    from ..nn.layer import Layer
    from ..optimizer.optimizer import Optimizer

__all__ = ["group_sharded_parallel", "save_group_sharded_model"]


@boundary
def group_sharded_parallel(
    model: Layer, optimizer: Optimizer, level: str, scaler: Any = None, group: Group | None = None, offload: bool = False,
    sync_buffers: bool = False, buffer_max_size: int = 2**23, segment_size: int = 2**20, sync_comm: bool = False,
    dp_group: Group | None = None, exclude_layer: Any = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Model, optimiser and scaler for processes that train one model on different data and divide what they keep.

    `level`: "os" divides the optimiser's states, "os_g" gradients as well, "p_g_os" parameters of at least `segment_size`
    elements as well (see `GroupShardedStage3` for `exclude_layer`). `dp_group`: processes of other such groups that train
    the same parameters. Gradients are means over all of them. `offload` is not done; the other settings change nothing.
    In a job of one process all three are given back as they are.

    Args:
        model: a Layer.
        optimizer: its optimiser.
        level: what is divided.
        scaler: a GradScaler, or None.
        group: the processes that divide; None: all.
        offload: not done.
        sync_buffers: taken; it changes nothing.
        buffer_max_size: taken; it changes nothing.
        segment_size: the smallest parameter that is divided.
        sync_comm: taken; it changes nothing.
        dp_group: see above.
        exclude_layer: layers whose parameters stay whole.

    Raises:
        ValueError: `level` is another one.

    Examples:
        >>> model = paddle.nn.Linear(2, 1)
        >>> adam = paddle.optimizer.Adam(parameters=model.parameters())
        >>> whole, optimizer, scaler = paddle.distributed.sharding.group_sharded_parallel(model, adam, "os_g")
        >>> whole is model, optimizer is adam
        (True, True)
    """
    if level not in ("os", "os_g", "p_g_os"):
        raise value_error("group_sharded_parallel", "level must be 'os', 'os_g' or 'p_g_os'", repr(level))
    found = resolve("group_sharded_parallel", group)
    if found is None or found.nranks == 1:
        return model, optimizer, scaler
    if offload:
        warn("(group_sharded_parallel) offload=True: states stay on the device.")
    shared = None if scaler is None else share_overflows(scaler)
    if level == "p_g_os":
        whole = GroupShardedStage3(model, optimizer, found, segment_size, exclude_layer)
        return whole, GroupShardedOptimizer(optimizer, found, dp_group, parts=whole.pieces), shared
    divided = GroupShardedOptimizer(optimizer, found, dp_group, keeps_gradients=level == "os")
    return GroupShardedStage2(model, divided, found, divides_gradients=level == "os_g"), divided, shared


def save_group_sharded_model(model: Layer, output: str, optimizer: Optimizer | None = None) -> None:
    """Writes `model.pdmodel` and, with an optimiser, `model.pdopt` into a folder: the states, as Paddle names the files.

    Called in all processes; the first one writes the model, whole. Each writes the optimiser states it has, in a job of
    several into a file that ends in its number.

    Args:
        model: what `group_sharded_parallel` gave.
        output: the folder.
        optimizer: the optimiser that it gave, or None.

    Examples:
        >>> import os
        >>> paddle.distributed.sharding.save_group_sharded_model(paddle.nn.Linear(2, 1), "saved")
        >>> os.listdir("saved")
        ['model.pdmodel']
    """
    state = model.whole_state_dict() if isinstance(model, GroupShardedStage3) else model.state_dict()
    os.makedirs(output, exist_ok=True)
    if job.rank() == 0:
        save(state, os.path.join(output, "model.pdmodel"))
    if optimizer is not None:
        number = f".{job.rank()}" if job.size() > 1 else ""
        save(optimizer.state_dict(), os.path.join(output, f"model.pdopt{number}"))
