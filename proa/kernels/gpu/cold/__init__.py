"""Kernels of cold code on a GPU, for CuPy: what would be many calls of its functions, in few.

A call costs some 20 us whatever its size, more than the work of most, and each goes over the memory once. CuPy compiles such
a kernel once for a data type, whatever the shapes, and keeps it on the disk.
"""
