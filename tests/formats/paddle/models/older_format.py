"""Helps Paddle 3.3.1 to save in its older format.

With `FLAGS_enable_pir_api=0` it still writes `.pdmodel` files, but some of its functions only know the newer programs.
For these the operation that earlier releases wrote is appended here, by Paddle's own machinery. Runs in Paddle's process.
"""

from __future__ import annotations

import functools
import sys
from typing import Any


def append(kind: str, inputs: dict[str, Any], attributes: dict[str, Any], dtype: Any = None) -> Any:
    """One operation with one result, in the program that is being built."""
    from paddle.base.layer_helper import LayerHelper  # type: ignore[import-not-found]

    helper = LayerHelper(kind)
    first = next(iter(inputs.values()))
    out = helper.create_variable_for_type_inference(dtype or first.dtype)
    helper.append_op(type=kind, inputs=inputs, outputs={"Out": out}, attrs=attributes)
    return out


def _reduce(kind: str) -> Any:
    def reduce(x: Any, axis: Any = None, keepdim: bool = False, **_rest: Any) -> Any:
        axes = [] if axis is None else [axis] if isinstance(axis, int) else list(axis)
        return append(kind, {"X": x}, {"dim": axes or [0], "keep_dim": keepdim, "reduce_all": not axes})

    return reduce


def _unary(kind: str, **attributes: Any) -> Any:
    return lambda x, *_rest, **_named: append(kind, {"X": x}, attributes)


def _sum(x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: Any = None) -> Any:
    return _reduce("reduce_sum")(x, axis, keepdim)


def _argmax(x: Any, axis: Any = None, keepdim: bool = False, dtype: str = "int64", name: Any = None) -> Any:
    attributes = {"axis": -1 if axis is None else axis, "keepdims": keepdim, "flatten": axis is None, "dtype": 3}
    return append("arg_max", {"X": x}, attributes, "int64")


def _matmul(x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False, name: Any = None) -> Any:
    return append("matmul_v2", {"X": x, "Y": y}, {"trans_x": transpose_x, "trans_y": transpose_y})


def _roll(x: Any, shifts: Any, axis: Any = None, name: Any = None) -> Any:
    return append("roll", {"X": x}, {"shifts": list(shifts), "axis": list(axis)})


def _cumsum(x: Any, axis: Any = None, dtype: Any = None, name: Any = None) -> Any:
    return append("cumsum", {"X": x}, {"axis": axis, "flatten": axis is None})


def _logical(kind: str) -> Any:
    return lambda x, y, *_rest, **_named: append(kind, {"X": x, "Y": y}, {}, "bool")


def _gelu(x: Any, approximate: bool = False, name: Any = None) -> Any:
    return append("gelu", {"X": x}, {"approximate": approximate})


def _triangle(lower: bool) -> Any:
    return lambda x, diagonal=0, name=None: append("tril_triu", {"X": x}, {"diagonal": diagonal, "lower": lower})


TOP_LEVEL = {
    "abs": _unary("abs"),
    "argmax": _argmax,
    "bmm": lambda x, y, name=None: append("bmm", {"X": x, "Y": y}, {}),
    "cumsum": _cumsum,
    "exp": _unary("exp"),
    "logical_and": _logical("logical_and"),
    "logical_not": lambda x, *_rest, **_named: append("logical_not", {"X": x}, {}, "bool"),
    "logical_or": _logical("logical_or"),
    "matmul": _matmul,
    "max": _reduce("reduce_max"),
    "mean": _reduce("reduce_mean"),
    "min": _reduce("reduce_min"),
    "roll": _roll,
    "sqrt": _unary("sqrt"),
    "sum": _sum,
    "tanh": _unary("tanh"),
    "tril": _triangle(True),
    "triu": _triangle(False),
}
FUNCTIONAL = {"gelu": _gelu, "tanh": _unary("tanh"), "silu": _unary("silu"), "sigmoid": _unary("sigmoid")}


def _either(paddle: Any, new: Any, old: Any) -> Any:
    @functools.wraps(new)
    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        return (new if paddle.in_dynamic_mode() else old)(x, *args, **kwargs)

    return call


def repair(paddle: Any) -> None:
    """Replaces what cannot build the older programs; what works is left alone."""
    kind = type(paddle.to_tensor(0))
    # Saving asks every tensor for this property, and it raises for a buffer of a recurrent layer.
    kind.device = property(lambda self: None)
    for name, old in TOP_LEVEL.items():
        for module in (paddle, sys.modules["paddle.tensor"]):
            setattr(module, name, _either(paddle, getattr(module, name), old))
        setattr(paddle.static.Variable, name, old)
    for name, old in FUNCTIONAL.items():
        setattr(paddle.nn.functional, name, _either(paddle, getattr(paddle.nn.functional, name), old))
    paddle.static.Variable.tanh = FUNCTIONAL["tanh"]
