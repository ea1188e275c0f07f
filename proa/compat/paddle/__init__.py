"""Names of Paddle's inner modules that have no public name: a file for each module, at its path.

`proa/compat/layout.py` looks here first. A file defines what its module has beyond names that live elsewhere.
"""
