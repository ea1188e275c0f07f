"""Inner names of `paddle.incubate`."""
