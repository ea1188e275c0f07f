"""Distributions over counts and classes, a file each."""
