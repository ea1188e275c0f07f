"""`paddle.distributed.flex_checkpoint`."""
