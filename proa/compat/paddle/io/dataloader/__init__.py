"""Inner names of `paddle.io.dataloader`."""
