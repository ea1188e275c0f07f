"""Running a network once to look at it, without leaving a trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..nn import Layer


@contextmanager
def keep_modes(net: Layer) -> Iterator[None]:
    """Gives every layer its training or inference behaviour back, each its own."""
    modes = [(layer, layer.training) for layer in net.sublayers(include_self=True)]
    try:
        yield
    finally:
        for layer, mode in modes:
            layer.training = mode
