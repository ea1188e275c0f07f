"""Inner names of `paddle.profiler.utils`."""

_is_profiler_used = False
