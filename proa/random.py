"""`paddle.random`: functions of the package that are exported here (collected at import)."""
