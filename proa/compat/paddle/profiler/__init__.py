"""Inner names of `paddle.profiler`."""
