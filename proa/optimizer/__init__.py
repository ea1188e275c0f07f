"""`paddle.optimizer`: optimisers and learning-rate schedules.

The central file is `optimizer.py`; `updates.py` holds the arithmetic. An optimiser knows parameters
(`proa.eager.parameter`), never layers. To add one: an update operation, and a class that names its
state and gives the operation's scalars.
"""

from __future__ import annotations

from . import lr
from .adam import Adam, AdamW
from .optimizer import Optimizer
from .regularizer import L1Decay, L2Decay
from .sgd import SGD, Momentum

__all__ = ["Adam", "AdamW", "L1Decay", "L2Decay", "Momentum", "Optimizer", "SGD", "lr"]
