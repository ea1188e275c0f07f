"""Stubs of what is put together at run time, for editors and type checkers (`python -m tools.stubs`).

Tensor gets its methods, and `paddle`, `paddle.nn.functional`, `paddle.linalg` … their functions while the package is
imported; a type checker, which runs nothing, would see none of them. The stubs are written from the package as it is
when everything in it has been imported. A function that is offered as it was written is named there by the module that
defines it, so that an editor goes to its source; all others are written out.
"""
