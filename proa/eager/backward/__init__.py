"""Backward: what calls leave for it (the tape), and the walk that adds up gradients (the engine)."""
