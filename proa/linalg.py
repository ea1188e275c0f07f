"""`paddle.linalg`: functions of the package that are exported here (collected at import)."""
