"""`paddle.incubate.optimizer.functional`: minimisers of functions (collected at import)."""
