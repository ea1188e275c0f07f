"""`paddle.regularizer`: classes of `proa.optimizer` that are exported here (collected at import)."""
