"""Tensors and eager execution: the Tensor class, the declaration of operations, dispatch, tape, views.

Central files: `tensor.py` (the class), `declare.py` (how an operation is declared), `binder.py` (the generated hot path),
`tape.py` (autograd). May import `proa.core` and `proa.ir`. Operations themselves live in `proa.ops`.
"""
