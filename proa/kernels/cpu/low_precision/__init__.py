"""Kernels for numbers of 16 bits and fewer."""
