"""Inner names of `paddle.static`."""
