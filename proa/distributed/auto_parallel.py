"""`paddle.distributed.auto_parallel`: Paddle's module of that name, which can be called here: `auto_parallel(model, …)`
plans how a model is best trained on many devices (see `planner/`).

Examples:
    >>> model = paddle.nn.Sequential(paddle.nn.Linear(8, 32), paddle.nn.Linear(32, 8))
    >>> adam = paddle.optimizer.Adam(parameters=model.parameters())
    >>> batch = [paddle.static.InputSpec([32, 8]), paddle.static.InputSpec([32, 8])]
    >>> loss = paddle.nn.functional.mse_loss
    >>> plan = paddle.distributed.auto_parallel(model, batch, loss, adam, devices=4, device="h200")
    >>> plan.choice.devices
    4
"""

from __future__ import annotations

import sys
import types

from .planner import auto_parallel


class _Called(types.ModuleType):
    """A module that is a function, too: programs import the one, and people plan with the other."""

    __call__ = staticmethod(auto_parallel)


sys.modules[__name__].__class__ = _Called
