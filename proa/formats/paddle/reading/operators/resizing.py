"""Resizing and sampling pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .....eager.tensor import Tensor
from ..functions import F
from ..registry import reads
from .convolution import layout_of

if TYPE_CHECKING:
    from ..registry import Integers


@reads(
    "nearest_interp", "linear_interp", "bilinear_interp", "bicubic_interp", "trilinear_interp", translates_blocks=True
)
def interpolate(translation: Any, op: Any, inputs: list[Any]) -> Tensor:
    """The wanted size comes as a tensor, as a list of tensors, as a scale, or as attributes, in this order."""
    given = op.attributes
    x = translation.tensor(inputs[0])
    rank = x.ndim - 2
    whole, parts, scale = [*inputs[1:], None, None, None][:3]
    size: Any = None
    factor: Any = None
    if parts:
        size = translation.integers(parts)
    elif whole is not None:
        size = translation.integers(whole)
    elif scale is not None:
        number = [float(n) for n in _floats(translation, scale)]
        factor = number if len(number) == rank else number * rank
    elif given.get("scale"):
        numbers = [float(n) for n in given["scale"]]
        factor = numbers if len(numbers) == rank else numbers * rank
    if factor is not None and any(n <= 0 for n in factor):
        factor = None
    if size is None and factor is None:
        size = [given[name] for name in ("out_d", "out_h", "out_w")[3 - rank :]]
    return F.interpolate(
        x, size, factor, given.get("interp_method", op.name.split("_")[0]), given.get("align_corners", False),
        given.get("align_mode", 1), layout_of(given.get("data_format", "NCHW"), x.ndim),
    )  # fmt: skip


def _floats(translation: Any, value: Any) -> list[float]:
    from ..known import Known, NotKnown

    if isinstance(value, Known):
        return [float(n) for n in value.array.reshape(-1)]
    if translation.immediate:
        return [float(n) for n in value.numpy().reshape(-1)]
    raise NotKnown("(interpolate) the scale is computed from the values of tensors.")


@reads("grid_sample")
def grid_sample(
    x: Tensor, grid: Tensor, *, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = True
) -> Tensor:
    return F.grid_sample(x, grid, mode, padding_mode, align_corners)


@reads("affine_grid")
def affine_grid(
    theta: Tensor, size: Integers | None = None, *, output_shape: Any = None, align_corners: bool = True
) -> Tensor:
    return F.affine_grid(theta, list(size or output_shape), align_corners)
