"""The tensor functions by area. Each operation is one section of one file: declaration, kernel, docstring, samples.

To add one: find the file by its area, write the kernel against `xp`, declare it with `@op`, export it with `@public`, give
three samples with `@samples`. May import `proa.core`, `proa.ir`, `proa.eager` and other files of this folder; never `nn`.
"""
