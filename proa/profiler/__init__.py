"""`paddle.profiler`: what a program does and how long it takes.

`recording.py` collects events (through `ir/observing.py`, which costs nothing while nobody records), `profiler.py`
chooses the steps, `export.py` writes them for Perfetto, `summary.py` prints tables.
"""

from __future__ import annotations

from . import utils
from .enums import ProfilerState, ProfilerTarget, SortedKeys, SummaryView, TracerEventType
from .export import export_chrome_tracing, export_protobuf, load_profiler_result
from .profiler import Profiler
from .recording import RecordEvent
from .schedule import make_scheduler

__all__ = [
    "Profiler", "ProfilerState", "ProfilerTarget", "RecordEvent", "SortedKeys", "SummaryView", "TracerEventType",
    "export_chrome_tracing", "export_protobuf", "load_profiler_result", "make_scheduler", "utils",
]  # fmt: skip
