"""Tensors from nothing, from data and from random numbers; what a tensor is."""
