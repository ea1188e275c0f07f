"""Training steps written by hand in plain JAX."""
