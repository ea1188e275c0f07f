"""Inner names of `paddle.incubate.tensor`."""
