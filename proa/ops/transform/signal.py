"""`paddle.signal`: the short-time Fourier transform and its inverse."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.errors import failed_check, type_error
from ...eager.declare import op, public
from ...eager.infer import same
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.operation import Check
from ...ir.padding import rules
from ..arguments import integer, require_tensor
from ..basic import cast_to, expand_to, full_of, reshape_to
from ..shape.padding import pad, pad_with
from .fourier import as_complex, as_real, fft_c2c, fft_c2r, fft_r2c, real_dtype, scale_of
from .frames import add_frames, frames_of


def _sizes(where: str, n_fft: Any, hop_length: Any, win_length: Any) -> tuple[int, int, int]:
    points = int(integer(where, "n_fft", n_fft))
    hop = points // 4 if hop_length is None else int(integer(where, "hop_length", hop_length))
    size = points if win_length is None else int(integer(where, "win_length", win_length))
    received = f"n_fft: {points}, hop_length: {hop}, win_length: {size}"
    if points <= 0:
        raise failed_check(where, "n_fft must be positive", received)
    if hop <= 0:
        raise failed_check(where, "hop_length must be positive", received, "give hop_length (n_fft // 4 by default)")
    if not 0 < size <= points:
        raise failed_check(where, "win_length must be from 1 to n_fft", received)
    return points, hop, size


def _window(where: str, window: Any, size: int, points: int, dtype: np.dtype) -> Tensor:
    """The window, in the middle of `points` numbers: ones unless it is given."""
    if window is None:
        made = full_of(1.0, (size,), dtype)
    else:
        made = require_tensor(where, "window", window)
        if made._aval.shape != (size,):
            raise failed_check(where, f"the window must have the shape [{size}] (win_length)", f"window: {made._aval}")
        made = cast_to(made, dtype) if made._aval.dtype.kind in "biu" else made
    before = (points - size) // 2
    return pad_with(made, 0, ((before, points - size - before),)) if size < points else made


def _reference_stft(
    x: Any, n_fft: int, hop_length: Any = None, win_length: Any = None, window: Any = None, center: bool = True,
    pad_mode: Any = "reflect", normalized: bool = False, onesided: Any = None,
) -> Any:  # fmt: skip
    hop, size = hop_length or n_fft // 4, win_length or n_fft
    weights = np.zeros(n_fft, x.real.dtype)
    before = (n_fft - size) // 2
    weights[before : before + size] = 1 if window is None else window
    rows = np.atleast_2d(x)
    if center:
        rows = np.pad(rows, [(0, 0), (n_fft // 2, n_fft // 2)], pad_mode)
    function = np.fft.fft if onesided is False or x.dtype.kind == "c" else np.fft.rfft
    starts = range(0, rows.shape[1] - n_fft + 1, hop)
    norm = "ortho" if normalized else "backward"
    out = np.stack([function(rows[:, s : s + n_fft] * weights, norm=norm) for s in starts], axis=-1)
    return out if x.ndim == 2 else out[0]


@samples(
    S(A(20), 8), S(A(2, 21), 8, 3, 5, A(5)), S(A(2, 16), 7, 2, center=False, normalized=True),
    S(A(16), 8, 4, onesided=False, pad_mode="constant"), S(A(12, dtype="complex128"), 6, 2), S(A(0, 12), 8),
    reference=_reference_stft,
)  # fmt: skip
@public(method=True, module="signal")
def stft(
    x: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None,
    center: bool = True, pad_mode: str = "reflect", normalized: bool = False, onesided: bool | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The Fourier transforms of windowed pieces of a signal.

    Args:
        x: `[length]` or `[batch, length]`.
        n_fft: the points of a piece.
        hop_length: from piece to piece; None for `n_fft // 4`.
        win_length: the length of the window; None for `n_fft`.
        window: its values; None for ones.
        center: whether the signal is padded so that a piece's middle is at its place.
        pad_mode: how: 'reflect' or 'constant'.
        normalized: whether the result is divided by `sqrt(n_fft)`.
        onesided: whether `n_fft // 2 + 1` frequencies are kept; None does so for real numbers.
        name: a label; it changes nothing.

    Returns:
        A complex tensor `[frequencies, pieces]` or `[batch, frequencies, pieces]`.

    Examples:
        >>> paddle.signal.stft(paddle.ones([64]), n_fft=16).shape
        paddle.Size([9, 17])
    """
    where = "stft"
    aval = require_tensor(where, "x", x)._aval
    if aval.ndim not in (1, 2):
        raise failed_check(where, "x must have one or two dimensions", f"x: {aval}")
    points, hop, size = _sizes(where, n_fft, hop_length, win_length)
    if points > aval.shape[-1]:
        raise failed_check(where, "n_fft is longer than the signal", f"x: {aval}, n_fft: {points}")
    signal = x if aval.dtype.kind == "c" else as_real(where, x)
    weights = _window(where, window, size, points, real_dtype(signal._aval.dtype))
    is_complex = "c" in (aval.dtype.kind, weights._aval.dtype.kind)
    half = not is_complex if onesided is None else bool(onesided)
    if half and is_complex:
        raise failed_check(
            where, "onesided must be False for complex numbers", f"x: {aval}, window: {weights._aval}, onesided: True"
        )
    rows = signal if aval.ndim == 2 else reshape_to(signal, (1, *aval.shape))
    if center:
        rows = _padded(rows, points // 2, pad_mode)
    pieces = frames_of(rows, points, hop) * reshape_to(weights, (points, 1))
    scale = scale_of(where, "ortho" if normalized else "backward", True)
    if half:
        spectrum = fft_r2c(pieces, (1,), True, scale, False)
    else:
        spectrum = fft_c2c(as_complex(where, pieces), (1,), True, scale)
    return spectrum if aval.ndim == 2 else reshape_to(spectrum, spectrum._aval.shape[1:])


def _padded(rows: Tensor, border: int, mode: str) -> Tensor:
    if mode not in ("reflect", "constant"):
        raise failed_check("stft", "pad_mode is 'reflect' or 'constant'", f"pad_mode: {mode!r}")
    count, length = rows._aval.shape
    if mode == "constant" or not count:
        return pad_with(rows, 0, ((0, 0), (border, border)))
    padded = pad(reshape_to(rows, (count, 1, length)), [border, border], mode, data_format="NCL")
    return reshape_to(padded, (count, length + 2 * border))


# ---- the inverse ---------------------------------------------------------------------------------


def _explain_gaps(kinds: Any, attributes: tuple[Any, ...]) -> str:
    return (
        "(istft) the squares of the window leave places of the signal (nearly) uncovered, where nothing can be "
        "recovered; give a smaller hop_length or another window."
    )


@op(
    infer=same,
    grad={"x": lambda g: g},
    check=Check(lambda xp, x: xp.all(xp.abs(x) >= 1e-11), _explain_gaps, ValueError, (0,)),
    padding=rules.untouched.covering,
)
def covering(xp: Any, x: Any) -> Any:
    """The sum of squared windows over each place of a signal, which must not vanish."""
    return x


def _reference_istft(
    x: Any, n_fft: int, hop_length: Any = None, win_length: Any = None, window: Any = None, center: bool = True,
    normalized: bool = False, onesided: bool = True, length: Any = None, return_complex: bool = False,
) -> Any:  # fmt: skip
    hop, size = hop_length or n_fft // 4, win_length or n_fft
    weights = np.zeros(n_fft)
    before = (n_fft - size) // 2
    weights[before : before + size] = 1 if window is None else window
    norm = "ortho" if normalized else "backward"
    if return_complex:
        pieces = np.fft.ifft(x, n_fft, -2, norm)
    else:
        pieces = np.fft.irfft(x[..., : n_fft // 2 + 1, :], n_fft, -2, norm)
    pieces = pieces if return_complex else pieces.real
    count = x.shape[-1]
    out = np.zeros((*x.shape[:-2], n_fft + hop * (count - 1)), pieces.dtype)
    covered = np.zeros(out.shape[-1])
    for t in range(count):
        out[..., t * hop : t * hop + n_fft] += pieces[..., t] * weights
        covered[t * hop : t * hop + n_fft] += weights**2
    start = n_fft // 2 if center else 0
    stop = out.shape[-1] - start if length is None else start + length
    return out[..., start:stop] / covered[start:stop]


@samples(
    S(A(5, 11, dtype="complex128"), 8), S(A(2, 5, 6, dtype="complex128"), 8, 3, 6, A(6, low=0.5)),
    S(A(4, 6, dtype="complex128"), 7, 2, center=False, normalized=True, length=12),
    S(A(2, 8, 6, dtype="complex128"), 8, onesided=False, return_complex=True),
    S(A(8, 6, dtype="complex128"), 8, onesided=False, length=8),
    reference=_reference_istft,
)  # fmt: skip
@public(method=True, module="signal")
def istft(
    x: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None,
    center: bool = True, normalized: bool = False, onesided: bool = True, length: int | None = None,
    return_complex: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The signal whose `stft` is (closest to) `x`.

    The arguments are those that `stft` was called with.

    Args:
        x: `[frequencies, pieces]` or `[batch, frequencies, pieces]`.
        n_fft: the points of a piece.
        hop_length: from piece to piece; None for `n_fft // 4`.
        win_length: the length of the window; None for `n_fft`.
        window: its values; None for ones.
        center: whether the signal was padded.
        normalized: whether `stft` divided by `sqrt(n_fft)`.
        onesided: whether half of the frequencies were kept.
        length: that of the signal; None for what the pieces cover.
        return_complex: whether the signal is complex.
        name: a label; it changes nothing.

    Returns:
        A tensor `[length]` or `[batch, length]`.

    Examples:
        >>> x = paddle.arange(64.0)
        >>> y = paddle.signal.istft(paddle.signal.stft(x, n_fft=16), n_fft=16)
        >>> paddle.allclose(x, y, atol=1e-4).item()
        True
    """
    where = "istft"
    aval = require_tensor(where, "x", x)._aval
    if aval.ndim not in (2, 3) or not aval.size:
        raise failed_check(where, "x must have two or three dimensions and not be empty", f"x: {aval}")
    points, hop, size = _sizes(where, n_fft, hop_length, win_length)
    if hop > size:
        raise failed_check(where, "hop_length must be at most win_length", f"hop_length: {hop}, win_length: {size}")
    expected = points // 2 + 1 if onesided else points
    if aval.shape[-2] != expected:
        raise failed_check(
            where, f"x must have {expected} frequencies", f"x: {aval}, n_fft: {points}, onesided: {bool(onesided)}"
        )
    if return_complex and onesided:
        raise failed_check(where, "the result of a onesided transform is real", "onesided: True, return_complex: True")
    spectrum = as_complex(where, x, integers=False)
    weights = _window(where, window, size, points, real_dtype(spectrum._aval.dtype))
    if weights._aval.dtype.kind == "c" and not return_complex:
        raise type_error(where, "a complex window needs return_complex=True", f"window: {weights._aval}")
    if aval.ndim == 2:
        spectrum = reshape_to(spectrum, (1, *aval.shape))
    pieces = _pieces(spectrum, points, bool(normalized), bool(onesided), bool(return_complex))
    signal = _joined(pieces, weights, hop, _span(aval, points, hop, center, length))
    return signal if aval.ndim == 3 else reshape_to(signal, signal._aval.shape[1:])


def _pieces(spectrum: Tensor, points: int, normalized: bool, onesided: bool, keep_complex: bool) -> Tensor:
    scale = scale_of("istft", "ortho" if normalized else "backward", False)
    if keep_complex:
        return fft_c2c(spectrum, (1,), False, scale)
    if not onesided:  # a real signal's other frequencies are the conjugates of these
        spectrum = spectrum[:, : points // 2 + 1]
    return fft_c2r(spectrum, (1,), False, scale, points, False)


def _span(aval: Aval, points: int, hop: int, center: bool, length: Any) -> tuple[int, int]:
    """Where the signal begins and ends in the joined pieces."""
    total = points + hop * (aval.shape[-1] - 1)
    start = points // 2 if center else 0
    if length is None:
        stop = total - start
    else:
        stop = min(start + integer("istft", "length", length), total)
    if stop <= start:
        raise failed_check("istft", "nothing is left of the signal", f"x: {aval}, length: {length}")
    return start, stop


def _joined(pieces: Tensor, weights: Tensor, hop: int, span: tuple[int, int]) -> Tensor:
    _, points, count = pieces._aval.shape
    start, stop = span
    column = reshape_to(weights, (points, 1))
    total = points + hop * (count - 1)
    joined = add_frames(pieces * column, hop, total)
    covered = add_frames(expand_to(column * column, (points, count)), hop, total)
    return joined[:, start:stop] / covering(covered[start:stop])
