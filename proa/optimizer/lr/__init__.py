"""Learning-rate schedules: `optimizer.lr`.

A schedule is stepped by the user (once an epoch or once a batch) and asked by the optimiser. Its
value reaches the update as data, so that a new learning rate never recompiles anything.
"""

from __future__ import annotations

from .base import LRScheduler
from .cycle import CosineAnnealingWarmRestarts, CyclicLR, LinearLR, OneCycleLR
from .decay import (
    CosineAnnealingDecay,
    ExponentialDecay,
    InverseTimeDecay,
    LambdaDecay,
    LinearWarmup,
    MultiplicativeDecay,
    MultiStepDecay,
    NaturalExpDecay,
    NoamDecay,
    PiecewiseDecay,
    PolynomialDecay,
    StepDecay,
)
from .plateau import ReduceOnPlateau

__all__ = [
    "CosineAnnealingDecay", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialDecay", "InverseTimeDecay",
    "LRScheduler", "LambdaDecay", "LinearLR", "LinearWarmup", "MultiStepDecay", "MultiplicativeDecay",
    "NaturalExpDecay", "NoamDecay", "OneCycleLR", "PiecewiseDecay", "PolynomialDecay", "ReduceOnPlateau", "StepDecay",
]  # fmt: skip
