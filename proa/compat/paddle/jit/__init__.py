"""Inner names of `paddle.jit`."""
