"""`paddle.base.data_feeder`: checks of arguments. In dynamic mode Paddle's check nothing: the operations do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ....core.dtype import dtype_of, to_numpy_dtype
from ....eager.tensor import Tensor
from ....ops.create.top_level import in_dynamic_mode
from ....static.variable import Variable


def convert_dtype(dtype: Any) -> str:
    """The name of a data type; bfloat16 goes by the name of its bits, as in NumPy arrays."""
    name = dtype_of(to_numpy_dtype(dtype)).name
    return "uint16" if name == "bfloat16" else name


def _checks() -> bool:
    return not in_dynamic_mode()


def check_type(input: Any, input_name: str, expected_type: Any, op_name: str, extra_message: str = "") -> None:
    """TypeError where a static program is given something of another type."""
    if _checks() and not isinstance(input, expected_type):
        raise TypeError(
            f"({op_name}) {input_name} must be {expected_type}; received {type(input).__name__}. {extra_message}".rstrip()
        )


def check_dtype(
    input_dtype: Any, input_name: str, expected_dtype: Iterable[Any], op_name: str, extra_message: str = ""
) -> None:
    """TypeError where a static program is given another data type."""
    if _checks() and convert_dtype(input_dtype) not in {convert_dtype(wanted) for wanted in _listed(expected_dtype)}:
        raise TypeError(
            f"({op_name}) the data type of {input_name} must be one of {list(_listed(expected_dtype))}; "
            f"received {convert_dtype(input_dtype)}. {extra_message}".rstrip()
        )


def check_variable_and_dtype(
    input: Any, input_name: str, expected_dtype: Iterable[Any], op_name: str, extra_message: str = ""
) -> None:
    """Both: a variable, and of which data type."""

    check_type(input, input_name, (Variable, Tensor), op_name, extra_message)
    check_dtype(input.dtype, input_name, expected_dtype, op_name, extra_message)


def check_shape(shape: Any, op_name: str, *args: Any, **kwargs: Any) -> None:
    check_type(shape, "shape", (list, tuple, Tensor), op_name)


def _listed(expected: Any) -> Iterable[Any]:
    return [expected] if isinstance(expected, str) else expected
