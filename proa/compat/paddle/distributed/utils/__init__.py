"""Inner names of `paddle.distributed.utils`."""
