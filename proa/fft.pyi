# Written by `python -m tools.stubs`; changes made by hand are lost.
"""`paddle.fft`: functions of the package that are exported here (collected at import)."""

from collections.abc import Sequence

from proa.eager.annotations import AxisLike
from proa.eager.tensor import Tensor
from proa.ops.transform.frequencies import fftfreq as fftfreq
from proa.ops.transform.frequencies import fftshift as fftshift
from proa.ops.transform.frequencies import ifftshift as ifftshift
from proa.ops.transform.frequencies import rfftfreq as rfftfreq

def fft(
    x: Tensor,
    n: int | None = None,
    axis: AxisLike = -1,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The discrete Fourier transform along an axis."""

def fft2(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: AxisLike = (-2, -1),
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The discrete Fourier transform over two axes."""

def fftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: AxisLike | None = None,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The discrete Fourier transform over several axes."""

def hfft(
    x: Tensor,
    n: int | None = None,
    axis: AxisLike = -1,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The Fourier transform of a signal given by its first half, the other being its conjugate."""

def hfft2(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: AxisLike = (-2, -1),
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The transform over two axes of a signal given by half, the other half being conjugates."""

def hfftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: AxisLike | None = None,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The transform over several axes of a signal given by half, the other half being conjugates."""

def ifft(
    x: Tensor,
    n: int | None = None,
    axis: AxisLike = -1,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse of `fft`."""

def ifft2(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: AxisLike = (-2, -1),
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse of `fft2`."""

def ifftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: AxisLike | None = None,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse of `fftn`."""

def ihfft(
    x: Tensor,
    n: int | None = None,
    axis: AxisLike = -1,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse of `hfft`: the first half of a signal with a real spectrum."""

def ihfft2(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: AxisLike = (-2, -1),
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse of `hfft2`."""

def ihfftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: AxisLike | None = None,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse of `hfftn`."""

def irfft(
    x: Tensor,
    n: int | None = None,
    axis: AxisLike = -1,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse of `rfft`."""

def irfft2(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: AxisLike = (-2, -1),
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse of `rfft2`."""

def irfftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: AxisLike | None = None,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse of `rfftn`."""

def rfft(
    x: Tensor,
    n: int | None = None,
    axis: AxisLike = -1,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The Fourier transform of real numbers along an axis, without its redundant half."""

def rfft2(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: AxisLike = (-2, -1),
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The Fourier transform of real numbers over two axes; the last of them holds half a spectrum."""

def rfftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: AxisLike | None = None,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The Fourier transform of real numbers over several axes; the last of them holds half a spectrum."""
