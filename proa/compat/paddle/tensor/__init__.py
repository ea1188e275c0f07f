"""Inner names of `paddle.tensor`."""
