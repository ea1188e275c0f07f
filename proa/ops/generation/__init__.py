"""What generating text needs beside the layers of a model: attention over pages, and the choice of the next token.

The operations have no gradient: nothing is trained through a cache. Kernels are written against `xp` and are the reference;
native ones for a kind of place may be put beside them (`operation.kernels["cpu"] = …`), as everywhere in the op table.
"""
