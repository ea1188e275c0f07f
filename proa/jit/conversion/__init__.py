"""Python control flow on tensor values, turned into graph control flow by rewriting the source.

    source.py     the syntax tree of a function, found in its file
    names.py      which names statements read and write
    jumps.py      break, continue and return as flags, so that every block has one exit
    rewrite.py    blocks as local functions, handed to the run-time helpers
    convert.py    a function -> the converted function, once; what is left alone
    runtime.py    if, while, for, and, or, not: Python's own for known values, the graph's for unknown ones
    merge.py      values that differ between branches or change in a loop, as tensors of one shape and type
    state.py      the variables of a block: read, written, undefined
    reads.py      what the code reads from outside, noted for the guard of what is captured
    looks.py      attributes, entries and outer names, looked at and noted
    calls.py      calls made by converted code: builtins that know tensors, helpers converted in their turn

Converted code keeps the lines of the original, so that errors and tracebacks show what the user wrote. A helper looks at
the value that decides: a tensor without a value becomes a condition or a loop of the graph; anything else stays Python.
"""

from __future__ import annotations

from .convert import convert, converted_source, ignore_modules, leave_alone
from .state import ConversionError

__all__ = ["ConversionError", "convert", "converted_source", "ignore_modules", "leave_alone"]
