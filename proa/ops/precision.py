"""What elementwise operations compute in and give: kernel helpers and the shape rules that follow.

Integers enter real-valued functions as float32, whatever the default dtype is (so Paddle). Kernels
of several steps compute half types in float32; the result is cast to the inferred type by whoever
runs the kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.aval import Aval
from ..core.dtype import FLOAT32, real_dtype
from ..eager.infer import broadcast, elementwise, floating
from ..ir.operation import Operation

Kinds = Any
Attributes = tuple[Any, ...]

# ---- in kernels ----------------------------------------------------------------------------------


def as_float(x: Any) -> Any:
    """The array for a function of real or complex numbers: integers and booleans as float32."""
    return x.astype(FLOAT32) if x.dtype.kind in "biu" else x


def wide(x: Any) -> Any:
    """The array in the type to compute several steps in: at least float32."""
    return x.astype(FLOAT32) if x.dtype.itemsize <= 2 or x.dtype.kind in "iu" else x


def as_kind(xp: Any, x: Any, dtype: Any) -> Any:
    """Floats in another type; an integer type holds its nearest number, and 0 for NaN: NumPy and XLA differ there."""
    kind = np.dtype(dtype)
    if kind.kind not in "iu":
        return x.astype(kind)
    limits = np.iinfo(kind)
    largest = np.nextafter(np.float64(limits.max), 0) if kind.itemsize == 8 else np.float64(limits.max)
    return xp.where(xp.isnan(x), 0.0, xp.clip(x, np.float64(limits.min), largest)).astype(kind)


# ---- shape rules ---------------------------------------------------------------------------------


@elementwise
def floating_real(operation: Operation, operands: Kinds, attributes: Attributes, place: Any) -> Aval:
    """A function of real numbers; integers and booleans give float32."""
    refuse(operation, operands, "c", "is not defined for complex numbers", "take real() or abs()")
    return floating(operation, operands, attributes, place)


@elementwise
def real_valued(operation: Operation, operands: Kinds, attributes: Attributes, place: Any) -> Aval:
    """Elementwise; complex numbers give real ones of their precision."""
    return operands[0].with_dtype(real_dtype(operands[0].dtype))


@elementwise
def real_number(operation: Operation, operands: Kinds, attributes: Attributes, place: Any) -> Aval:
    """Elementwise in the type of the operand, which is an integer or floating type."""
    refuse(operation, operands, "c", "is not defined for complex numbers", "take real() or abs()")
    return number(operation, operands, attributes, place)


@elementwise
def number(operation: Operation, operands: Kinds, attributes: Attributes, place: Any) -> Aval:
    """Elementwise in the type of the operand, which is not bool."""
    refuse(operation, operands, "b", "is not defined for booleans", "convert with astype() first")
    return operands[0]


@elementwise
def floating_numbers(operation: Operation, operands: Kinds, attributes: Attributes, place: Any) -> Aval:
    """Elementwise in the type of the operand, which is floating or complex."""
    refuse(operation, operands, "biu", "is for floating types", "convert with astype('float32')")
    return operands[0]


@elementwise
def floating_reals(operation: Operation, operands: Kinds, attributes: Attributes, place: Any) -> Aval:
    """Elementwise in the type of the operand, which is floating."""
    refuse(operation, operands, "biuc", "is for floating types", "convert with astype('float32')")
    return operands[0]


@elementwise
def broadcast_numbers(operation: Operation, operands: Kinds, attributes: Attributes, place: Any) -> Aval:
    """Elementwise over broadcast tensors of one type, which is not bool."""
    result = broadcast(operation, operands, attributes, place)
    refuse(operation, operands, "b", "is not defined for booleans", "convert with astype() first")
    return result


@elementwise
def broadcast_real(operation: Operation, operands: Kinds, attributes: Attributes, place: Any) -> Aval:
    """Elementwise over broadcast tensors of one type, which is not complex."""
    result = broadcast(operation, operands, attributes, place)
    refuse(operation, operands, "c", "is not defined for complex numbers", "take real() or abs()")
    return result


def refuse(operation: Operation, operands: Kinds, kinds: str, what: str, fix: str) -> None:
    """TypeError where a tensor is of one of the given kinds of dtype."""
    if any(isinstance(operand, Aval) and operand.dtype.kind in kinds for operand in operands):
        raise operation.error(TypeError, f"the operation {what}", operands, fix=fix)


# ---- in references of samples --------------------------------------------------------------------


def reference(function: Any) -> Any:
    """A NumPy function of one array as the expected result: integers enter as float32."""

    def expected(x: Any) -> Any:
        return np.asarray(function(as_float(np.asarray(x)))).astype(as_float(x).dtype)

    return expected
