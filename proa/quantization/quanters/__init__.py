"""Quanters: they round values while a model is trained; gradients pass as if they did not."""

from __future__ import annotations

from .abs_max import FakeQuanterChannelWiseAbsMaxObserver, FakeQuanterWithAbsMaxObserver

__all__ = ["FakeQuanterChannelWiseAbsMaxObserver", "FakeQuanterWithAbsMaxObserver"]
