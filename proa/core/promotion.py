"""Which data type two operands are computed in: Paddle 3.3.1's rules, as observed pair by pair.

`tests/core/promotion_paddle_331.csv` holds what Paddle answered; the rules below reproduce it.

Tensor with tensor (`promote_tensors`)
    * Equal types: that type.
    * Complex with anything: complex128 if a float64 or complex128 takes part, else complex64.
    * Two floating types: float64 if one is float64, else float32 (float16 with bfloat16 too).
    * Integers and booleans promote with complex types only: int32 + int64 and int32 + float32
      raise TypeError. The float8 types promote with nothing.
    * A 0-d tensor yields in arithmetic and comparison (`zero_dim_yields`). Beside a tensor with
      dimensions, that one's type wins, unless the 0-d tensor is of a higher category (bool <
      integer < floating < complex): int64[3] + float64[] is float64, float32[3] + float64[] is
      float32. Two 0-d tensors widen freely (uint8 with int8 is int16, int64 with float16 is
      float16), and floor_divide widens so even if only one of them is 0-d. All other operations
      (maximum, where, logical_and, atan2, the in-place forms …) ignore the rank. A tensor of
      shape [1] is not 0-d.
    * Operations of `one_type` do not promote: matmul, concat, stack, bitwise_and … raise on
      any difference; the matrix products alone accept a floating type beside a complex one.

Which of these an operation follows is its `Promotion`, given where it is declared (`@op(promote=ARITHMETIC)`).

Tensor with Python scalar (`promote_scalar`), on either side, whatever the tensor's rank
    * bool: the tensor's type. int: the tensor's type, but int64 for a bool tensor.
    * float: the tensor's type, but float32 for bool and integer tensors.
    * complex: complex64, or complex128 for float64; a complex tensor keeps its type.
    * `where` alone takes scalars as tensors of their own type (int64, float32 …), strictly: a
      float32 tensor with the scalar 0 raises. The bitwise operations take bool and int scalars
      only; fills and `scale` convert the scalar to the tensor's type.

None of this depends on the default dtype. True division of integers computes in float32, atan2 of
integers in float64; dividing booleans gives booleans. Comparisons and logical operations compute
in the common type and give bool.

Paddle has no rule for uint16, uint32 and uint64: here they are integers like the rest.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from .dtype import (
    BOOL,
    COMPLEX64,
    COMPLEX128,
    DTYPES,
    FLOAT32,
    FLOAT64,
    INT64,
    PYTHON_TYPES,
    is_floating,
    name_of,
)
from .errors import type_error
from .symbols import SymbolicNumber, SymbolicSize


class Promotion(NamedTuple):
    """How an operation brings its operands to a common type."""

    # A 0-d operand gives way to one with dimensions; `widens`: integers widen even if only one operand is 0-d.
    zero_dim_yields: bool = False
    widens: bool = False
    # Operands must have one type; `lifts`: a floating one beside a complex one will do.
    one_type: bool = False
    lifts: bool = False
    # A Python scalar: "usual", "own" (as a tensor of its own type), "bits" (integers only) or "tensor" (takes its type).
    scalars: str = "usual"
    # What integers are computed in where the result is not an integer.
    integers_become: np.dtype | None = None


STRICT = Promotion()
ARITHMETIC = Promotion(zero_dim_yields=True)
FLOOR_DIVISION = Promotion(zero_dim_yields=True, widens=True)
TRUE_DIVISION = Promotion(zero_dim_yields=True, integers_become=FLOAT32)
INTEGERS_IN_FLOAT32 = Promotion(integers_become=FLOAT32)
INTEGERS_IN_FLOAT64 = Promotion(integers_become=FLOAT64)
ONE_TYPE = Promotion(one_type=True)
PRODUCTS = Promotion(one_type=True, lifts=True)
BITS = Promotion(one_type=True, scalars="bits")
CHOICE = Promotion(scalars="own")
FILLING = Promotion(scalars="tensor")

_FLOAT8 = frozenset(DTYPES[name].numpy_dtype for name in ("float8_e4m3fn", "float8_e5m2"))


def promote_tensors(
    op_name: str,
    dtype_a: np.dtype,
    dtype_b: np.dtype,
    rule: Promotion = STRICT,
    *,
    a_is_0d: bool = False,
    b_is_0d: bool = False,
) -> np.dtype:
    """The type in which an operation of this rule computes two tensors; TypeError where the pair has none."""
    return _promote_tensors(op_name, dtype_a, dtype_b, rule, a_is_0d, b_is_0d)


def promote_scalar(op_name: str, tensor_dtype: np.dtype, scalar_type: type, rule: Promotion = STRICT) -> np.dtype:
    """The type in which an operation of this rule computes a tensor with a Python scalar on either side."""
    if issubclass(scalar_type, (SymbolicSize, SymbolicNumber)):
        scalar_type = int if issubclass(scalar_type, int) else float
    return _promote_scalar(op_name, tensor_dtype, scalar_type, rule)


@functools.cache
def _promote_tensors(op_name: str, a: np.dtype, b: np.dtype, rule: Promotion, a_is_0d: bool, b_is_0d: bool) -> np.dtype:
    common = a if a == b else None
    if common is None and rule.one_type:
        common = _strict(a, b) if rule.lifts and _is_floating_beside_complex(a, b) else None
    elif common is None and (a_is_0d or b_is_0d) and rule.zero_dim_yields:
        if a_is_0d == b_is_0d or rule.widens:
            common = _widest(a, b)
        else:
            common = _yielding(zero_dim=a if a_is_0d else b, other=b if a_is_0d else a)
    elif common is None:
        common = _strict(a, b)
    if common is None:
        raise _mismatch(op_name, a, b, rule)
    return (rule.integers_become or common) if common.kind in "iu" else common


@functools.cache
def _promote_scalar(op_name: str, dtype: np.dtype, scalar_type: type, rule: Promotion) -> np.dtype:
    if scalar_type not in PYTHON_TYPES:
        raise type_error(
            op_name,
            "a scalar operand must be a Python bool, int, float or complex",
            scalar_type.__name__,
            "convert it with to_tensor()",
        )
    if rule.scalars == "tensor":
        return dtype
    if rule.scalars == "own":
        return _promote_tensors(op_name, dtype, PYTHON_TYPES[scalar_type], rule, False, False)
    if rule.scalars == "bits":
        if scalar_type in (float, complex):
            raise type_error(
                op_name,
                "bits are defined for integers only",
                f"a {scalar_type.__name__}",
                "use an int",
            )
        return dtype
    common = dtype
    if scalar_type is int and dtype == BOOL:
        common = INT64
    elif scalar_type is float and _category(dtype) < 2:
        common = FLOAT32
    elif scalar_type is complex and dtype in _FLOAT8:
        raise _mismatch(op_name, dtype, COMPLEX64, rule)
    elif scalar_type is complex and dtype.kind != "c":
        common = COMPLEX128 if dtype == FLOAT64 else COMPLEX64
    return (rule.integers_become or common) if common.kind in "iu" else common


def _category(dtype: np.dtype) -> int:
    """0 bool, 1 integer, 2 floating, 3 complex."""
    if dtype == BOOL:
        return 0
    if dtype.kind in "iu":
        return 1
    return 3 if dtype.kind == "c" else 2


def _is_floating_beside_complex(a: np.dtype, b: np.dtype) -> bool:
    return (a.kind == "c" and is_floating(b)) or (b.kind == "c" and is_floating(a))


def _strict(a: np.dtype, b: np.dtype) -> np.dtype | None:
    """The common type of two different types whatever the ranks, or None where there is none."""
    if a in _FLOAT8 or b in _FLOAT8:
        return None
    wide = FLOAT64 in (a, b) or COMPLEX128 in (a, b)
    if a.kind == "c" or b.kind == "c":
        return COMPLEX128 if wide else COMPLEX64
    if is_floating(a) and is_floating(b):
        return FLOAT64 if wide else FLOAT32
    return None


def _widest(a: np.dtype, b: np.dtype) -> np.dtype | None:
    """The type that holds both, where ranks allow integers to take part."""
    if a in _FLOAT8 or b in _FLOAT8:
        return None
    common = _strict(a, b)
    if common is not None:
        return common
    if _category(a) != _category(b):
        return a if _category(a) > _category(b) else b
    joined = np.promote_types(a, b)
    return joined if joined.kind in "iu" else INT64  # NumPy answers float64 for uint64 with int64


def _yielding(*, zero_dim: np.dtype, other: np.dtype) -> np.dtype | None:
    """The common type of a 0-d tensor with one that has dimensions."""
    if (zero_dim.kind == "c") != (other.kind == "c") or zero_dim in _FLOAT8 or other in _FLOAT8:
        return _strict(zero_dim, other)
    return other if _category(zero_dim) <= _category(other) else zero_dim


def _mismatch(op_name: str, a: np.dtype, b: np.dtype, rule: Promotion) -> TypeError:
    # float8 is for storage, so the other side's type is the one to suggest; otherwise the wider.
    if a in _FLOAT8 or b in _FLOAT8:
        target = a if b in _FLOAT8 and a not in _FLOAT8 else b if b not in _FLOAT8 else FLOAT32
    else:
        target = _widest(a, b)
    target_name = name_of(target if target is not None else FLOAT32)
    if rule.one_type:
        reason = f"both operands must have one data type, and {name_of(a)} and {name_of(b)} differ"
    else:
        reason = (
            f"{name_of(a)} and {name_of(b)} have no common data type: "
            "only floating types with each other and complex types with any promote"
        )
    return type_error(
        op_name,
        reason,
        f"x: {name_of(a)}, y: {name_of(b)}",
        f"convert one side, for example with .astype('{target_name}')",
    )
