"""Inner names of `paddle.base`."""
