"""Inner names of `paddle.distributed`."""
