"""Inner names of `paddle.nn.functional`."""
