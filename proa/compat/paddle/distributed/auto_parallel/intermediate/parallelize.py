"""Inner names of `paddle.distributed.auto_parallel.intermediate.parallelize`."""

has_parallelized_model = False
