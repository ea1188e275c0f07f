"""Inner names of `paddle.distributed.fleet.meta_parallel.sharding`."""
