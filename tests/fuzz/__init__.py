"""Random programs that compare the immediate with the self-compiling mode.

`python -m tests.fuzz` generates programs from seeds, runs each of them in both modes and compares
the recorded values, the type of the error and the line it belongs to. README.md tells the rest.
"""
