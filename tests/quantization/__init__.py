"""Tests of `paddle.quantization` and of smaller models."""
