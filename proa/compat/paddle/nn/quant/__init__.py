"""Inner names of `paddle.nn.quant`."""
