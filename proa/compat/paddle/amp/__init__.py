"""Inner names of `paddle.amp`."""
