"""`paddle.incubate.optimizer`: classes of `proa.optimizer` that are exported here (collected at import)."""
