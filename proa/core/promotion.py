"""Temporary."""
import numpy as np
def promote_tensors(op, a, b): return np.promote_types(a, b)
def promote_scalar(op, dtype, kind):
    if kind is float and dtype.kind in 'biu': return np.dtype('float32')
    if kind is complex and dtype.kind!='c': return np.dtype('complex64')
    if kind is int and dtype.kind=='b': return np.dtype('int64')
    return dtype
