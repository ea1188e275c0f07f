"""Native kernels for the CPU: C++ that XLA calls, on XLA's own threads.

`native/` holds the sources, `compiled.py` finds or compiles their libraries, `library.py` loads them when they are first
needed, and the other modules give kernels for the op table: each takes an operation's XLA kernel and returns one that calls
native code where that is faster, and the XLA kernel everywhere else (another dtype, another processor, no compiler, many
devices).
"""
