"""Kernels that are long enough to live apart from the operations that use them.

Written against an array namespace (`xp`: NumPy or `jax.numpy`) or for one backend; they know
arrays, never tensors. May import `core`, `ir` and `eager`; operations (`proa.ops`) import them.
"""
