"""Inner names of `paddle.distributed.fleet`."""
