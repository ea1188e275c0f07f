"""`paddle.callbacks`: what happens beside the loops of `paddle.Model`. The code is in `proa/hapi/callbacks/`."""

from __future__ import annotations

from .hapi.callbacks import (
    Callback,
    EarlyStopping,
    LRScheduler,
    ModelCheckpoint,
    ProgBarLogger,
    ReduceLROnPlateau,
    TensorBoard,
    VisualDL,
    WandbCallback,
)

__all__ = [
    "Callback", "EarlyStopping", "LRScheduler", "ModelCheckpoint", "ProgBarLogger", "ReduceLROnPlateau", "TensorBoard",
    "VisualDL", "WandbCallback",
]  # fmt: skip
