"""`paddle.incubate.autograd`: functions of `proa.autograd` that are exported here (collected at import)."""
