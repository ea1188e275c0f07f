"""Inner names of `paddle.quantization.imperative`."""
