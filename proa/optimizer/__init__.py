"""`paddle.optimizer`: optimisers and learning-rate schedules.

The central file is `optimizer.py`; `updates.py` and `updates_adaptive.py` hold the arithmetic. An optimiser knows
parameters (`proa.eager.parameter`), never layers. To add one: an update operation, a class that names its state and
gives the operation's scalars, and a setting in tests/optimizer/reference_trajectories.
"""

from __future__ import annotations

from . import incubate as _incubate  # noqa: F401 (declares itself into paddle.incubate)
from . import lr
from .adam import Adam, AdamW
from .adam_variants import Adamax, Lamb, NAdam, RAdam
from .adaptive import Adadelta, Adagrad, RMSProp
from .averaged import ASGD, Rprop
from .lbfgs import LBFGS
from .optimizer import Optimizer
from .regularizer import L1Decay, L2Decay
from .sgd import SGD, Momentum

__all__ = [
    "ASGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "L1Decay", "L2Decay", "LBFGS", "Lamb",
    "Momentum", "NAdam", "Optimizer", "RAdam", "RMSProp", "Rprop", "SGD", "lr",
]  # fmt: skip
