"""Inner names of `paddle.nn.layer`."""
