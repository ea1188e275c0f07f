"""Methods and operators of sparse tensors: Python's own class dispatch chooses them before the dense ones."""

from __future__ import annotations

from typing import Any

from ..eager.tensor import Tensor
from . import binary, product, shape, unary
from .tensor import SparseTensor

for _function in (
    unary.abs, unary.asin, unary.asinh, unary.atan, unary.atanh, unary.deg2rad, unary.expm1, unary.isnan, unary.log1p,
    unary.neg, unary.pow, unary.rad2deg, unary.sin, unary.sinh, unary.sqrt, unary.square, unary.tan, unary.tanh,
    shape.reshape, shape.sum, shape.transpose, binary.add, binary.divide, binary.multiply, binary.subtract,
    product.addmm, product.matmul, product.mv,
):  # fmt: skip
    setattr(SparseTensor, _function.__name__, _function)

_OPERATORS = {
    "add": binary.add, "sub": binary.subtract, "mul": binary.multiply, "truediv": binary.divide,
    "matmul": product.matmul,
}  # fmt: skip


def _reflected(function: Any) -> Any:
    def operator(self: SparseTensor, other: Any) -> Tensor:
        return function(other, self)

    return operator


def _times(self: SparseTensor, other: Any) -> Tensor:
    return binary.multiply(self, other)


for _name, _function in _OPERATORS.items():
    setattr(SparseTensor, f"__{_name}__", _function)
    setattr(SparseTensor, f"__r{_name}__", _reflected(_function))
SparseTensor.__rmul__ = _times  # type: ignore[method-assign] # a number or a dense tensor on the left
SparseTensor.__pow__ = unary.pow  # type: ignore[method-assign]
SparseTensor.__neg__ = unary.neg  # type: ignore[method-assign]
SparseTensor.__abs__ = unary.abs  # type: ignore[method-assign]
SparseTensor.T = property(  # pyright: ignore[reportAttributeAccessIssue] - a property in the place of Tensor's
    lambda self: shape.transpose(self, list(range(self._aval.ndim))[::-1]),
    doc="""The dimensions in reverse order.

    Examples:
        >>> paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2).T.to_dense().tolist()
        [[0.0, 3.0], [2.0, 0.0]]
    """,
)
