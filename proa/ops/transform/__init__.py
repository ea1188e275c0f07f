"""Transforms of signals: `paddle.fft` and `paddle.signal`."""
