"""Dense layers and embeddings as functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.dtype import dtype_of, to_numpy_dtype
from ...core.errors import value_error
from ...eager.annotations import AttrLike, DTypeLike
from ...eager.naming import unique_name
from ...eager.tensor import Tensor
from ...nn import functional as F
from ...nn.base.attributes import make_parameter
from ...nn.initializer import Constant, XavierUniform
from ...ops.create.top_level import in_dynamic_mode
from .parameters import Parameters, activated


def fc(
    x: Tensor | Sequence[Tensor],
    size: int,
    num_flatten_dims: int = 1,
    weight_attr: AttrLike | None = None,
    bias_attr: AttrLike | None = None,
    activation: str | None = None,
    name: str | None = None,
) -> Tensor:
    """A fully connected layer over everything behind the first `num_flatten_dims` dimensions.

    Args:
        x: a variable, or several, whose products are added.
        size: how many results each row has.
        num_flatten_dims: how many dimensions stay.
        weight_attr: the weight's ParamAttr.
        bias_attr: the bias's; False: no bias.
        activation: the name of a function that is applied in the end, or None.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.fc(paddle.static.data("x", [None, 2]), 3, activation="relu")
        >>> y.shape
        paddle.Size([-1, 3])
    """
    inputs: list[Any] = list(x) if isinstance(x, (list, tuple)) else [x]
    make = Parameters("fc", inputs[0] if inputs else None, name)
    attrs = weight_attr if isinstance(weight_attr, (list, tuple)) else [weight_attr] * len(inputs)
    total: Any = None
    for tensor, attr in zip(inputs, attrs, strict=True):
        shape = tensor.shape
        kept = num_flatten_dims if num_flatten_dims >= 0 else len(shape) + num_flatten_dims
        if not 1 <= kept < len(shape):
            raise value_error(
                "static.nn.fc", f"num_flatten_dims must be from 1 to {len(shape) - 1}", f"{num_flatten_dims}"
            )
        make._check(shape[kept:])
        width = math.prod(shape[kept:])
        weight = make.weight([width, size], attr, XavierUniform())
        rows = tensor if kept == len(shape) - 1 else tensor.reshape([*tensor._aval.shape[:kept], width])
        total = F.linear(rows, weight) if total is None else total + F.linear(rows, weight)
    bias = make.bias([size], bias_attr)
    if bias is not None:
        total = total + bias
    return activated("static.nn.fc", total, activation)


def embedding(
    input: Tensor,
    size: Sequence[int],
    is_sparse: bool = False,
    is_distributed: bool = False,
    padding_idx: int | None = None,
    param_attr: AttrLike | None = None,
    dtype: DTypeLike = "float32",
) -> Tensor:
    """The rows of a table of `size` that the integers in `input` name.

    Args:
        input: integers.
        size: how many rows there are, and how long they are.
        is_sparse: as `sparse` of `paddle.nn.functional.embedding`; in a job with table servers the table is on them.
        is_distributed: in a job with table servers the table is on them.
        padding_idx: a row that is zero and stays so; None: none.
        param_attr: the table's ParamAttr.
        dtype: the table's data type.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.embedding(paddle.static.data("ids", [None, 4], "int64"), [10, 3])
        >>> y.shape
        paddle.Size([-1, 4, 3])
    """
    if on_servers and (is_sparse or is_distributed) and not in_dynamic_mode():
        return on_servers[-1](input, size, padding_idx, False, None, param_attr)
    weight = _table("embedding", size, param_attr, dtype)
    index = None if padding_idx is None else padding_idx if padding_idx >= 0 else int(size[0]) + padding_idx
    return F.embedding(input, weight, padding_idx=index, sparse=is_sparse)


def sparse_embedding(
    input: Tensor,
    size: Sequence[int],
    padding_idx: int | None = None,
    is_test: bool = False,
    entry: Any = None,
    table_class: str = "MemorySparseTable",
    param_attr: AttrLike | None = None,
    dtype: DTypeLike = "float32",
    slot: Any = None,
) -> Tensor:
    """The rows of features: from the job's table servers, if it has some; otherwise as `embedding`, from a parameter.

    Args:
        input: integers.
        size: how many rows there are, and how long they are.
        padding_idx: a row that is zero and stays so; None: none.
        is_test: whether new features are not added.
        entry: which features take part, such as a `CountFilterEntry`.
        table_class: taken; it changes nothing.
        param_attr: the table's ParamAttr.
        dtype: the table's data type.
        slot: taken; it changes nothing.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.sparse_embedding(paddle.static.data("ids", [None, 4], "int64"), [10, 3])
        >>> y.shape
        paddle.Size([-1, 4, 3])
    """
    if on_servers:
        return on_servers[-1](input, size, padding_idx, is_test, entry, param_attr)
    return embedding(input, size, True, False, padding_idx, param_attr, dtype)


# How a job with table servers looks features up; put here by `fleet.init`, which stands above this package.
on_servers: list[Callable[..., Tensor]] = []


def _table(kind: str, size: Any, attr: Any, dtype: Any) -> Any:
    if not isinstance(size, (list, tuple)) or len(size) != 2:
        raise value_error(f"static.nn.{kind}", "size must be [rows, width]", f"{size!r}")
    number_type = dtype_of(np.dtype(to_numpy_dtype(dtype)))
    weight = make_parameter(list(size), number_type, attr, False, XavierUniform(), unique_name(kind))
    if weight is None:
        raise value_error(f"static.nn.{kind}", "an embedding needs its parameter", "param_attr: False")
    return weight


def prelu(
    x: Tensor, mode: str, param_attr: AttrLike | None = None, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """`x` where it is positive, else `x` times a slope: one for all, for each channel, or for each element.

    Args:
        x: a variable.
        mode: "all", "channel" or "element".
        param_attr: the slopes' ParamAttr; they begin at 0.25.
        data_format: "NCHW" or "NHWC".
        name: a label; it changes nothing.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.prelu(paddle.static.data("x", [2]), "all")
        >>> executor = paddle.static.Executor()
        >>> executor.run(startup)
        []
        >>> executor.run(main, feed={"x": np.array([-4, 4], "float32")}, fetch_list=[y])[0].tolist()
        [-1.0, 4.0]
    """
    make = Parameters("prelu", x, name)
    shape = x.shape
    channel = 1 if data_format.startswith("NC") else len(shape) - 1
    if mode == "all":
        sizes = [1]
    elif mode == "channel":
        if len(shape) < 2:
            raise value_error(make.where, "x must have at least two dimensions for mode 'channel'", f"x: {x._aval}")
        sizes = [int(size) if axis == channel else 1 for axis, size in enumerate(shape)]
    elif mode == "element":
        sizes = [1, *shape[1:]]
    else:
        raise value_error(make.where, "mode is 'all', 'channel' or 'element'", f"{mode!r}")
    slope = make.weight(sizes, param_attr, Constant(0.25))
    return F.relu(x) - slope * F.relu(-x)


def bilinear_tensor_product(
    x: Tensor, y: Tensor, size: int, act: str | None = None, name: str | None = None, param_attr: AttrLike | None = None,
    bias_attr: AttrLike | None = None,
) -> Tensor:  # fmt: skip
    """`x[n] W[k] y[n]` for each k below `size`.

    Args:
        x: `[rows, m]`.
        y: `[rows, n]`.
        size: how many results each row has.
        act: the name of a function that is applied in the end, or None.
        name: a label; it changes nothing.
        param_attr: the ParamAttr of W, `[size, m, n]`.
        bias_attr: the bias's; False: no bias.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x, y = paddle.static.data("x", [None, 2]), paddle.static.data("y", [None, 3])
        ...     z = paddle.static.nn.bilinear_tensor_product(x, y, 4)
        >>> z.shape
        paddle.Size([-1, 4])
    """
    make = Parameters("bilinear_tensor_product", x, name)
    weight = make.weight([size, x.shape[1], y.shape[1]], param_attr, XavierUniform())
    bias = make.bias([1, size], bias_attr)
    return activated(make.where, F.bilinear(x, y, weight, bias), act)


def row_conv(
    input: Tensor, future_context_size: int, param_attr: AttrLike | None = None, act: str | None = None
) -> Tensor:
    """Each step of a sequence [batch, time, width] as a weighted sum of itself and the steps that follow.

    Args:
        input: a variable.
        future_context_size: how many of the steps that follow.
        param_attr: the weights' ParamAttr.
        act: the name of a function that is applied in the end, or None.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.row_conv(paddle.static.data("x", [None, 5, 3]), 2)
        >>> y.shape
        paddle.Size([-1, 5, 3])
    """
    make = Parameters("row_conv", input)
    if input._aval.ndim != 3:
        raise value_error(make.where, "input must be [batch, time, width]", f"input: {input._aval}")
    weight = make.weight([future_context_size + 1, input.shape[2]], param_attr, XavierUniform())
    length = input._aval.shape[1]
    padded = F.pad(input, [0, 0, 0, future_context_size, 0, 0]) if future_context_size else input
    total: Any = None
    for step in range(future_context_size + 1):
        term = padded[:, step : step + length] * weight[step]
        total = term if total is None else total + term
    return activated(make.where, total, act)
