"""The translators, grouped by area: one function for each primitive, registered with `@translates`."""

from __future__ import annotations

from . import (
    activation,
    arithmetic,
    attention,
    control,
    convolution,
    creation,
    deferred,
    helpers,
    indexing,
    linear,
    logic,
    losses,
    normalization,
    order,
    pooling,
    quantised,
    randomness,
    reasons,
    recurrent,
    reduction,
    resizing,
    shapes,
    special,
)

__all__ = [
    "activation", "arithmetic", "attention", "control", "convolution", "creation", "deferred", "helpers", "indexing",
    "linear", "logic", "losses", "normalization", "order", "pooling", "quantised", "randomness", "reasons",
    "recurrent", "reduction", "resizing", "shapes", "special",
]  # fmt: skip
