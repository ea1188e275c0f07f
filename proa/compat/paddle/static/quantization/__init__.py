"""Inner names of `paddle.static.quantization`."""
