"""The transposed convolution as an operation of its own: its result's extents follow from its operand.

The kernels are those of `conv_grad_input`, which is told the shape to give. As an operation of a captured program that
shape would be a number of the capture, and an odd extent that was halved and doubled again has another one in a run.
"""

from __future__ import annotations

from typing import Any

from ....core.aval import Aval, make_aval
from ....eager.declare import op
from ....ir.padding import rules
from .convolution_kernels import conv, conv_grad_input, conv_grad_weight, transposed_operator_of
from .windows import Pairs, Sizes, join_shape, spatial_shape


def _shape(y: Any, weight: Any, extra: Sizes, window: tuple[Any, ...]) -> tuple[int, ...]:
    stride, padding, dilation, groups, channels_last = window
    spatial = [
        (extent - 1) * step - sum(pair) + rate * (width - 1) + 1 + more
        for extent, step, pair, rate, width, more in zip(
            spatial_shape(y, channels_last), stride, padding, dilation, weight.shape[2:], extra, strict=True
        )
    ]
    return join_shape(y.shape[0], weight.shape[1] * groups, spatial, channels_last)


def _infer(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    y, weight = operands
    shape = _shape(y, weight, attributes[0], attributes[1:])
    if min(shape, default=1) < 0:
        raise operation.error(ValueError, f"the result would have the shape {list(shape)}", operands)
    return make_aval(shape, y.dtype, place)


@op(
    "y weight",
    contracts=True,
    infer=_infer,
    grad={
        "y": lambda g, weight, stride, padding, dilation, groups, channels_last: conv(
            g, weight, None, stride, padding, dilation, groups, channels_last
        ),
        "weight": lambda g, y, weight_aval, stride, padding, dilation, groups, channels_last: conv_grad_weight(
            g, y, weight_aval.shape, stride, padding, dilation, groups, channels_last
        ),
    },
    family="convolution",
    paddle_name=transposed_operator_of,
    padding=rules.windows.conv_transpose,
)
def conv_transpose(
    xp: Any,
    y: Any,
    weight: Any,
    extra: Sizes,
    stride: Sizes,
    padding: Pairs,
    dilation: Sizes,
    groups: int,
    channels_last: bool,
) -> Any:
    """Spreads each element of `y` over a window; `extra` makes the result longer at the end of each axis."""
    return _by("xla")(xp, y, weight, extra, stride, padding, dilation, groups, channels_last)


def _by(backend: str) -> Any:
    """The kernel of `conv_grad_input` for a backend, told the shape."""

    def kernel(xp: Any, y: Any, weight: Any, extra: Sizes, *window: Any) -> Any:
        shape = _shape(y, weight, extra, window)
        return conv_grad_input.operation.kernel_for(backend)(xp, y, weight, shape, *window)

    return kernel


for _backend in ("cpu", "numpy", "cupy"):
    conv_transpose.operation.kernels[_backend] = _by(_backend)
