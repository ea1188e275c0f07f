"""Names that Paddle offers at its top level besides their own place, constants, and leftovers of older interfaces."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...core import dtype as _dtype
from ...core.dtype import DType
from ...core.errors import type_error, value_error
from ...eager.annotations import DTypeLike, ShapeLike
from ...eager.declare import PUBLIC, public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.recorder import LOCAL
from ..arguments import require_tensor
from ..neural import normalization  # noqa: F401 (they declare what is offered again below)
from ..neural.softmax import softmax as softmax_along_axis
from ..neural.windowed import convolution, pooling  # noqa: F401 (they declare what is offered again below)

for _name in ("conv1d", "conv2d", "conv3d", "adaptive_avg_pool1d", "group_norm", "layer_norm"):
    PUBLIC[_name] = PUBLIC[f"nn.functional.{_name}"]


def _reference_softmax(x: Any, dim: Any = None, dtype: Any = None) -> Any:
    axis = (0 if x.ndim in (1, 3) else 1) if dim is None else dim
    powers = np.exp(x.astype(dtype or x.dtype))
    return powers / powers.sum(axis, keepdims=True)


@samples(S(A(3)), S(A(2, 3)), S(A(2, 3, 2), 0), S(A(2, 2, 1, 2), 1), reference=_reference_softmax)
@public(method=True, aliases="input=x dim=axis")
def softmax(
    input: Tensor, dim: int | None = None, dtype: DTypeLike | None = None, *, out: Tensor | None = None
) -> Tensor:
    """`exp(x) / sum(exp(x))` along an axis; see `nn.functional.softmax`.

    Args:
        input: the tensor.
        dim: the axis. Without it, by an old rule of PyTorch's, the first for tensors of none, one or three axes, else the
            second.
        dtype: the type to compute in; that of `input` by default.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.softmax(paddle.to_tensor([0.0, 0.0]), dim=0).tolist()
        [0.5, 0.5]
    """
    if dim is None:
        dim = 0 if require_tensor("softmax", "input", input)._aval.ndim in (0, 1, 3) else 1
    return softmax_along_axis(input, dim, dtype, out=out)


class _NameOnly(DType):
    """A data type that Paddle numbers but no tensor here can have."""

    __slots__ = ()

    def __init__(self, name: str, value: int) -> None:
        self.name = name
        self.value = value

    @property
    def numpy_dtype(self) -> Any:  # type: ignore[override]
        raise type_error("dtype", f"no tensor has the type {self.name}", fix="use a type of numbers")

    def __reduce__(self) -> Any:
        return _NameOnly, (self.name, self.value)


PUBLIC.update(
    pi=math.pi,
    e=math.e,
    inf=math.inf,
    nan=math.nan,
    newaxis=None,
    pstring=_NameOnly("pstring", 14),
    raw=_NameOnly("raw", 0),
)
for _name in ("half", "float", "double", "int", "long", "short", "cfloat", "cdouble"):
    PUBLIC[_name] = _dtype.dtype_of(_name)


@public()
def set_default_dtype(d: DTypeLike) -> None:
    """Sets the floating type that creation functions and layers use where none is named.

    Args:
        d: "float16", "bfloat16", "float32" or "float64".

    Raises:
        TypeError: it is no floating type.

    Examples:
        >>> paddle.set_default_dtype("float64")
        >>> paddle.ones([1]).dtype
        paddle.float64
    """
    _dtype.set_default_dtype(d)


@public()
def in_dynamic_mode() -> bool:
    """Whether operations of this thread run as they are called, and do not become part of a static program.

    Examples:
        >>> paddle.in_dynamic_mode()
        True
    """
    return LOCAL.segment.owner is None


@public()
def disable_signal_handler() -> None:
    """Does nothing: no signal handlers are installed.

    Examples:
        >>> paddle.disable_signal_handler()
    """


@public()
def check_shape(
    shape: ShapeLike,
    op_name: str,
    expected_shape_type: Any = (list, tuple),
    expected_element_type: Any = (int,),
    expected_tensor_dtype: Any = ("int32", "int64"),
) -> None:
    """Does nothing: shapes are checked by the operations that they are given to.

    Args:
        shape: a shape.
        op_name: the name of an operation.
        expected_shape_type: accepted.
        expected_element_type: accepted.
        expected_tensor_dtype: accepted.

    Examples:
        >>> paddle.check_shape([2, 3], "reshape")
    """


@public()
def batch(reader: Callable[[], Any], batch_size: int, drop_last: bool = False) -> Callable[[], Iterator[list[Any]]]:
    """A reader that gives the samples of another one in lists.

    Args:
        reader: a function that gives an iterable of samples.
        batch_size: how many samples a list has.
        drop_last: leave out a last list that is shorter.

    Examples:
        >>> list(paddle.batch(lambda: iter([1, 2, 3]), 2)())
        [[1, 2], [3]]
    """
    if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
        raise value_error("batch", "batch_size must be a positive integer", f"batch_size: {batch_size!r}")

    def batches() -> Iterator[list[Any]]:
        collected: list[Any] = []
        for sample in reader():
            collected.append(sample)
            if len(collected) == batch_size:
                yield collected
                collected = []
        if collected and not drop_last:
            yield collected

    return batches
