"""`proa.debug`: finding out what went wrong. `nan()` tells where the first NaN came from."""

from __future__ import annotations

from .nan import NanReport, OperandStatistics, nan

__all__ = ["NanReport", "OperandStatistics", "nan"]
