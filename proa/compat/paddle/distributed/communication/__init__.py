"""Inner names of `paddle.distributed.communication`."""
