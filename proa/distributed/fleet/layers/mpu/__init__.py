"""Layers, operators and random states of tensor parallelism, in one process."""
