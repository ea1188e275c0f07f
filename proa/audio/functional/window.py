"""Windows by name, for Fourier transforms (periodic) and for filters (symmetric).

Each function here gives the symmetric window of a length as float64; a periodic one is the symmetric one of one
more point, without its last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.dtype import is_floating, to_numpy_dtype
from ...core.errors import type_error, value_error
from ...eager.tensor import Tensor, tensor_from_data


def _places(length: int) -> np.ndarray:
    """From -1 to 1."""
    return np.linspace(-1.0, 1.0, length)


def _centred(length: int) -> np.ndarray:
    """Whole steps, 0 in the middle."""
    return np.arange(length) - (length - 1) / 2.0


def _general_cosine(length: int, a: Sequence[float]) -> np.ndarray:
    angles = math.pi * _places(length)
    return np.sum([weight * np.cos(k * angles) for k, weight in enumerate(a)], axis=0)


def _general_hamming(length: int, alpha: float) -> np.ndarray:
    return _general_cosine(length, (alpha, 1.0 - alpha))


def _hamming(length: int) -> np.ndarray:
    return _general_hamming(length, 0.54)


def _hann(length: int) -> np.ndarray:
    return _general_hamming(length, 0.5)


def _blackman(length: int) -> np.ndarray:
    return _general_cosine(length, (0.42, 0.50, 0.08))


def _nuttall(length: int) -> np.ndarray:
    return _general_cosine(length, (0.3635819, 0.4891775, 0.1365995, 0.0106411))


def _gaussian(length: int, std: float) -> np.ndarray:
    return np.exp(-((_centred(length) / std) ** 2) / 2)


def _general_gaussian(length: int, p: float, sig: float) -> np.ndarray:
    return np.exp(-0.5 * np.abs(_centred(length) / sig) ** (2 * p))


def _exponential(length: int, center: float | None = None, tau: float = 1.0) -> np.ndarray:
    middle = (length - 1) / 2 if center is None else center
    return np.exp(-np.abs(np.arange(length) - middle) / tau)


def _triang(length: int) -> np.ndarray:
    ends = length if length % 2 == 0 else length + 1
    return 1.0 - np.abs(_centred(length)) / (ends / 2)


def _bartlett(length: int) -> np.ndarray:
    return 1.0 - np.abs(_places(length))


def _bohman(length: int) -> np.ndarray:
    distance = np.abs(_places(length))
    window = (1 - distance) * np.cos(math.pi * distance) + np.sin(math.pi * distance) / math.pi
    window[[0, -1]] = 0.0
    return window


def _cosine(length: int) -> np.ndarray:
    return np.sin(math.pi / length * (np.arange(length) + 0.5))


def _tukey(length: int, alpha: float = 0.5) -> np.ndarray:
    if alpha <= 0:
        return np.ones(length)
    if alpha >= 1:
        return _hann(length)
    depth = (1.0 - np.abs(_places(length))) / alpha  # 0 at the ends, 1 where the flat part begins
    return np.where(depth < 1.0, 0.5 * (1 - np.cos(math.pi * depth)), 1.0)


def _kaiser(length: int, beta: float) -> np.ndarray:
    return np.kaiser(length, beta)


def _taylor(length: int, nbar: int = 4, sll: float = 30.0, norm: bool = True) -> np.ndarray:
    """Side lobes about `sll` decibels down; `nbar` of them nearly constant."""
    if not isinstance(nbar, int):
        raise TypeError("nbar must be an integer")
    a = math.acosh(10 ** (sll / 20)) / math.pi
    dilation = nbar**2 / (a**2 + (nbar - 0.5) ** 2)
    orders = np.arange(1, nbar)
    weights = []
    for m in orders:
        above = np.prod(1 - m**2 / dilation / (a**2 + (orders - 0.5) ** 2))
        below = 2 * np.prod([1 - m**2 / other**2 for other in orders if other != m])
        weights.append((-1) ** (m + 1) * above / below)

    def curve(places: np.ndarray) -> np.ndarray:
        waves = np.cos(2 * math.pi * orders[:, None] * (places - length / 2.0 + 0.5) / length)
        return 1 + 2 * np.array(weights) @ waves if len(orders) else np.ones_like(places)

    window = curve(np.arange(length, dtype=np.float64))
    return window / curve(np.array([(length - 1) / 2.0])) if norm else window


# name: (function, fewest parameters, most parameters)
_WINDOWS: dict[str, tuple[Callable[..., np.ndarray], int, int]] = {
    "bartlett": (_bartlett, 0, 0),
    "blackman": (_blackman, 0, 0),
    "bohman": (_bohman, 0, 0),
    "cosine": (_cosine, 0, 0),
    "exponential": (_exponential, 1, 2),
    "gaussian": (_gaussian, 1, 1),
    "general_cosine": (_general_cosine, 1, 1),
    "general_gaussian": (_general_gaussian, 2, 2),
    "general_hamming": (_general_hamming, 1, 1),
    "hamming": (_hamming, 0, 0),
    "hann": (_hann, 0, 0),
    "kaiser": (_kaiser, 1, 1),
    "nuttall": (_nuttall, 0, 0),
    "taylor": (_taylor, 0, 3),
    "triang": (_triang, 0, 0),
    "tukey": (_tukey, 0, 1),
}


def get_window(
    window: str | tuple[str, float], win_length: int, fftbins: bool = True, dtype: str = "float64"
) -> Tensor:
    """A window by name.

    Args:
        window: the name, or (name, parameters...).
        win_length: its length.
        fftbins: whether it is periodic, for Fourier transforms; otherwise it is symmetric.
        dtype: that of the result.

    Returns:
        A tensor `[win_length]`.

    Raises:
        ValueError: there is no window of this name.

    Examples:
        >>> print(paddle.audio.functional.get_window("hann", 4).numpy().round(3))
        [0.  0.5 1.  0.5]
        >>> paddle.audio.functional.get_window(("gaussian", 7), 512).shape
        paddle.Size([512])
    """
    where = "get_window"
    name: Any = window
    parameters: tuple[Any, ...] = ()
    if isinstance(window, (tuple, list)) and window:
        name, parameters = window[0], tuple(window[1:])
    if not isinstance(name, str) or name not in _WINDOWS:
        raise value_error(where, f"window must be one of {', '.join(_WINDOWS)}, or a tuple of one and its parameters",
                          f"window: {window!r}")  # fmt: skip
    function, fewest, most = _WINDOWS[name]
    if not fewest <= len(parameters) <= most:
        wanted = str(fewest) if fewest == most else f"{fewest} to {most}"
        raise value_error(
            where, f"the window {name!r} needs {wanted} parameter(s)", f"window: {window!r}",
            f"give them in a tuple: ({name!r}, …)" if most else f"give its name alone: {name!r}",
        )  # fmt: skip
    if not isinstance(win_length, (int, np.integer)) or isinstance(win_length, bool) or win_length < 0:
        raise value_error(where, "win_length must be an integer, not negative", f"win_length: {win_length!r}")
    wanted_type = to_numpy_dtype(dtype)
    if not is_floating(wanted_type):
        raise type_error(where, "dtype must be a floating type", f"dtype: {dtype}")
    length = int(win_length)
    if name == "exponential" and not fftbins and parameters[0] is not None:
        raise value_error(where, "a symmetric window has its centre in the middle", f"window: {window!r}")
    try:
        if length <= 1:
            values = np.ones(length)
        else:
            values = function(length + 1, *parameters)[:-1] if fftbins else function(length, *parameters)
    except TypeError as error:
        raise value_error(
            where, f"the window {name!r} cannot take these parameters ({error})", f"window: {window!r}"
        ) from None
    return tensor_from_data(np.ascontiguousarray(values).astype(wanted_type))
