# Written by `python -m tools.stubs`; changes made by hand are lost.
"""`paddle.random`: functions of the package that are exported here (collected at import)."""

from proa.compat.namespaces import initial_seed as initial_seed
