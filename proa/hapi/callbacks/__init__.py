"""Callbacks of `paddle.Model`: what happens beside the training loop.

`base.py` has the base class and the list that calls them, `progress.py` the progress bar, `training.py` those that act
on the training (checkpoints, learning rates, early stopping), `writers.py` those that write to experiment trackers.
"""

from __future__ import annotations

from .base import Callback, CallbackList, configure
from .progress import ProgBarLogger
from .training import EarlyStopping, LRScheduler, ModelCheckpoint, ReduceLROnPlateau
from .writers import TensorBoard, VisualDL, WandbCallback

__all__ = [
    "Callback", "CallbackList", "EarlyStopping", "LRScheduler", "ModelCheckpoint", "ProgBarLogger",
    "ReduceLROnPlateau", "TensorBoard", "VisualDL", "WandbCallback", "configure",
]  # fmt: skip
