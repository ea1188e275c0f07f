"""Kernels for NVIDIA GPUs: each takes an operation's XLA kernel and returns one for the cases that it does better."""
