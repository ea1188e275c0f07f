"""Inner names of `paddle.io`."""
