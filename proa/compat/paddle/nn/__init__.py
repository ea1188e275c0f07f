"""Inner names of `paddle.nn`."""
