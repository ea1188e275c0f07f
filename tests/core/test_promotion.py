"""Dtype promotion against what Paddle 3.3.1 answered for every pair of types.

The table's cells: a type's short name, `!` for an exception, `-` where Paddle's CPU build has no
kernel that would tell. The first column says how many dimensions the operands had: `n0` is a tensor
with dimensions and a 0-d one. A row names several operations where all agree.
"""

from __future__ import annotations

import csv
import itertools
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import proa  # noqa: F401  (declares the operations)
from proa.core import promotion
from proa.core.promotion import Promotion
from proa.ir.operation import all_operations

TABLE = Path(__file__).with_name("promotion_paddle_331.csv")
SCALARS = {"bool": bool, "int": int, "float": float, "complex": complex}
SHORT_NAMES = {
    "b": "bool", "u8": "uint8", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
    "c64": "complex64", "c128": "complex128", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2",
}  # fmt: skip
ALL_TYPES = list(SHORT_NAMES.values())
# Functions of the table that are no operations with promotion here: compositions, and what checks types by itself.
FUNCTIONS = {
    promotion.PRODUCTS: "matmul mm bmm mv dot inner kron linear addmm baddbmm einsum",
    promotion.ONE_TYPE: "concat stack add_n lerp dist",
    promotion.ARITHMETIC: "mod floor_mod mse_loss",
    promotion.TRUE_DIVISION: "true_divide",
    promotion.INTEGERS_IN_FLOAT32: "divide_",
    promotion.FILLING: "scale scale_ masked_fill masked_fill_ fill_ full_like",
    promotion.CHOICE: "where",
}
GIVES_BOOL = [
    "equal",
    "not_equal",
    "less_than",
    "greater_than",
    "less_equal",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
]


def rule_of(name: str) -> Promotion:
    """What the operation declares; for other functions what they are known to follow."""
    operation = all_operations().get(name)
    if operation is not None and operation.promote:
        return operation.promotion
    return next((rule for rule, names in FUNCTIONS.items() if name in names.split()), promotion.STRICT)


def promote_tensors(name: str, a: np.dtype, b: np.dtype, **ranks: bool) -> np.dtype:
    return promotion.promote_tensors(name, a, b, rule_of(name), **ranks)


def promote_scalar(name: str, dtype: np.dtype, scalar: type) -> np.dtype:
    return promotion.promote_scalar(name, dtype, scalar, rule_of(name))


def dtype_named(name: str) -> np.dtype:
    extended = {"bfloat16", "float8_e4m3fn", "float8_e5m2"}
    return np.dtype(getattr(ml_dtypes, name) if name in extended else name)


def read_table() -> list[dict[str, str]]:
    with TABLE.open(newline="") as file:
        return list(csv.DictReader(file))


def answer(compute, *arguments, **named) -> str:
    """What the rule says, in the table's words."""
    try:
        return compute(*arguments, **named).name
    except TypeError:
        return "!"


def check_row(row: dict[str, str]) -> int:
    """Compares every known cell of a row; gives how many there were."""
    checked = 0
    for op_name, right in itertools.product(row["operations"].split(), ALL_TYPES):
        if row[right] == "-":
            continue
        expected = SHORT_NAMES.get(row[right], row[right])
        if row["operands"] == "scalar":
            computed = answer(promote_scalar, op_name, dtype_named(right), SCALARS[row["left"]])
            label = f"{right} tensor with a {row['left']} scalar"
            checked += check(op_name, label, computed, expected)
            continue
        for ranks in row["operands"].split():
            computed = answer(
                promote_tensors,
                op_name,
                dtype_named(row["left"]),
                dtype_named(right),
                a_is_0d=ranks[0] == "0",
                b_is_0d=ranks[1] == "0",
            )
            checked += check(op_name, f"{row['left']} with {right}, ranks {ranks}", computed, expected)
    return checked


def check(op_name: str, label: str, computed: str, expected: str) -> int:
    if computed != "!" and op_name in GIVES_BOOL:
        computed = "bool"
    assert computed == expected, f"{op_name}: {label}"
    return 1


def test_every_row_of_the_observed_table():
    checked = sum(check_row(row) for row in read_table())
    assert checked > 10_000


def test_the_table_covers_every_type_and_rank():
    rows = read_table()
    assert {row["left"] for row in rows if row["operands"] != "scalar"} == set(ALL_TYPES)
    ranks = {r for row in rows for r in row["operands"].split()}
    assert ranks == {"nn", "n0", "0n", "00", "scalar"}


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("float16", "bfloat16", "float32"),
        ("float32", "float64", "float64"),
        ("float64", "complex64", "complex128"),
        ("int64", "complex64", "complex64"),
    ],
)
def test_promotion_is_symmetric(a: str, b: str, expected: str):
    assert promote_tensors("add", dtype_named(a), dtype_named(b)).name == expected
    assert promote_tensors("add", dtype_named(b), dtype_named(a)).name == expected


def test_mixed_integer_and_floating_names_both_types_and_the_fix():
    with pytest.raises(TypeError) as caught:
        promote_tensors("add", np.dtype("int32"), np.dtype("float32"))
    text = str(caught.value)
    assert text.startswith("(add) int32 and float32 have no common data type")
    assert "x: int32, y: float32" in text
    assert ".astype('float32')" in text


def test_float8_error_suggests_the_other_side():
    float8 = dtype_named("float8_e4m3fn")
    with pytest.raises(TypeError, match=r"astype\('bfloat16'\)"):
        promote_tensors("multiply", float8, dtype_named("bfloat16"))
    assert promote_tensors("multiply", float8, float8) == float8


@pytest.mark.parametrize("op_name", ["matmul", "concat", "stack", "bitwise_and", "bmm", "add_n"])
def test_operations_that_do_not_promote(op_name: str):
    with pytest.raises(TypeError, match="one data type"):
        promote_tensors(op_name, np.dtype("int32"), np.dtype("int64"))
    with pytest.raises(TypeError, match="one data type"):
        promote_tensors(op_name, np.dtype("float32"), np.dtype("float64"), b_is_0d=True)
    assert promote_tensors(op_name, np.dtype("int32"), np.dtype("int32")) == np.int32


def test_matrix_products_accept_floating_beside_complex():
    float32, complex64 = np.dtype("float32"), np.dtype("complex64")
    assert promote_tensors("matmul", float32, complex64) == complex64
    with pytest.raises(TypeError):
        promote_tensors("matmul", np.dtype("int32"), complex64)
    with pytest.raises(TypeError):
        promote_tensors("concat", float32, complex64)


def test_true_division():
    int32, int64, float32 = (np.dtype(n) for n in ("int32", "int64", "float32"))
    assert promote_tensors("divide", int32, int32) == float32
    assert promote_scalar("divide", int64, int) == float32
    assert promote_scalar("divide", np.dtype("float16"), int) == np.float16
    with pytest.raises(TypeError):
        promote_tensors("divide", int32, int64)


def test_unsigned_types_that_paddle_cannot_make_are_integers():
    uint64, int64 = np.dtype("uint64"), np.dtype("int64")
    assert promote_scalar("add", uint64, int) == uint64
    assert promote_scalar("add", np.dtype("uint16"), float) == np.float32
    assert promote_tensors("add", uint64, int64, a_is_0d=True, b_is_0d=True) == int64
    with pytest.raises(TypeError):
        promote_tensors("add", np.dtype("uint32"), uint64)


def test_a_scalar_of_another_kind_is_refused():
    with pytest.raises(TypeError, match=r"\(add\).*bool, int, float or complex.*str"):
        promote_scalar("add", np.dtype("float32"), str)
    with pytest.raises(TypeError, match="integers only"):
        promote_scalar("bitwise_and", np.dtype("int32"), float)
