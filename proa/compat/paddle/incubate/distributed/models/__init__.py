"""Inner names of `paddle.incubate.distributed.models`."""
