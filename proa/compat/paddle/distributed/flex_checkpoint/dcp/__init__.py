"""`paddle.distributed.flex_checkpoint.dcp`: where Paddle keeps what saves and loads checkpoints."""
