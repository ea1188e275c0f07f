"""`paddle.base.executor`: what scripts subclass."""

from __future__ import annotations

from ....static.datasets import FetchHandler as FetchHandler
