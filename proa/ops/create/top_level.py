"""Names that Paddle offers at its top level besides their own place, constants, and leftovers of older interfaces."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...core import dtype as _dtype
from ...core.dtype import DType
from ...core.errors import type_error, value_error
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
def softmax(input: Tensor, dim: int | None = None, dtype: Any = None, *, out: Tensor | None = None) -> Tensor:
    """`exp(x) / sum(exp(x))` along `dim`; see `nn.functional.softmax`.

    Without `dim` it is, by an old rule of PyTorch's that Paddle follows here, the first axis of tensors with none, one
    or three, and the second of all others.
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
def set_default_dtype(d: Any) -> None:
    """Sets the floating type that creation functions and layers use when none is named."""
    _dtype.set_default_dtype(d)


@public()
def in_dynamic_mode() -> bool:
    """Whether this thread's operations run as they are called, and are not part of a static program."""
    return LOCAL.segment.owner is None


@public()
def disable_signal_handler() -> None:
    """Nothing: no signal handlers are installed."""


@public()
def check_shape(
    shape: Any,
    op_name: str,
    expected_shape_type: Any = (list, tuple),
    expected_element_type: Any = (int,),
    expected_tensor_dtype: Any = ("int32", "int64"),
) -> None:
    """Nothing: shapes are checked by the operations they are given to (Paddle checks in static programs only)."""


@public()
def batch(reader: Callable[[], Any], batch_size: int, drop_last: bool = False) -> Callable[[], Iterator[list[Any]]]:
    """A reader that gives the samples of `reader` in lists of `batch_size`; the last one may be shorter."""
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
