"""Samples of functions, saved by real Paddle as programs and run here: `python -m tests.formats.paddle.operations`."""
