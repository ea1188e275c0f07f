"""Distributions with densities, a file each."""
