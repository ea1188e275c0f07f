"""Inner names of `paddle.distributed.auto_parallel.intermediate`."""
