"""Inner names of `paddle.dataset`."""
