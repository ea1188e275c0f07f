"""Inner names of `paddle.utils`."""
