"""Loss scaling in many processes: an overflow anywhere leaves the update out everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....eager.tensor import wrap
from .....ir.recorder import recording_gradients
from ....group import global_group
from ....transport.operations import all_reduce_op


def share_overflows(scaler: Any) -> Any:
    """The scaler itself, which from now on knows of overflows in all processes.

    Examples:
        >>> scaler = paddle.amp.GradScaler()
        >>> paddle.distributed.sharding.share_overflows(scaler) is scaler
        True
    """
    group = global_group()
    if group.nranks == 1:
        return scaler
    unscale = scaler._unscale

    def unscale_everywhere(optimizer: Any) -> bool:
        own = unscale(optimizer)
        with recording_gradients(False):
            found = all_reduce_op(wrap(np.array([own], np.int32)), "max", tuple(group.ranks))
        return bool(found.numpy()[0])

    scaler._unscale = unscale_everywhere
    return scaler


class HybridParallelGradScaler:
    """A scaler that knows of overflows in all processes."""

    def __init__(self, scaler: Any, hcg: Any) -> None:
        self._scaler, self._hcg = share_overflows(scaler), hcg

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scaler, name)
