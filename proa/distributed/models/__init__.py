"""`paddle.distributed.models`: parts of models that live from being divided."""
