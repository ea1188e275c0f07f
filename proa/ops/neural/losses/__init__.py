"""Losses, and the primitives on labels that they share."""
