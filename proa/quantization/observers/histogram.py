"""Reaches found in the histogram of all absolute values: a few that lie far out need not make everybody's grid coarse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...eager.tensor import tensor_from_data
from ...nn.quant.format import levels_of
from ..factory import ObserverFactory
from .base import UniformObserver


class Histogram:
    """Counts of absolute values in equal bins from 0; where a value lies beyond, bins are joined so that all fit."""

    def __init__(self, bins: int) -> None:
        self.counts = np.zeros(bins, np.int64)
        self.width = 0.0
        self.largest = 0.0
        self.num_values = 0

    def add(self, values: np.ndarray) -> None:
        sizes = np.abs(values.astype(np.float64).ravel())
        if not np.isfinite(sizes).all():
            raise value_error(
                "observer", "NaN or infinity is among the values", fix="look for the layer whose values overflow"
            )
        self.num_values += sizes.size
        largest = float(sizes.max(initial=0.0))
        bins = len(self.counts)
        self.largest = max(self.largest, largest)
        if largest > 0.0 and self.width == 0.0:
            zeros = int(self.counts[0])  # of batches of nothing but zeros
            self.width = largest / bins
            self.counts[:] = 0
            self.counts[0] = zeros
        if largest > self.width * bins:
            by = math.ceil(largest / (self.width * bins))
            padded = np.pad(self.counts, (0, -bins % by))
            joined = padded.reshape(-1, by).sum(axis=1)
            self.counts = np.pad(joined, (0, bins - len(joined)))
            self.width *= by
        if self.width == 0.0:
            self.counts[0] += sizes.size
            return
        places = np.minimum((sizes / self.width).astype(np.int64), bins - 1)
        self.counts += np.bincount(places, minlength=bins)

    @property
    def centres(self) -> np.ndarray:
        return (np.arange(len(self.counts)) + 0.5) * self.width

    def reach_of_share(self, share: float) -> float:
        """The least reach that holds this share of the values."""
        running = np.cumsum(self.counts)
        place = int(np.searchsorted(running, share * running[-1]))
        return min((place + 1) * self.width, self.largest)

    def reach_of_least_error(self, bits: int) -> float:
        """The reach with the least squared error of rounding."""
        levels, centres = levels_of(bits), self.centres
        reaches = self.largest * np.linspace(0.1, 1.0, 181)
        steps = (reaches / levels)[:, None]
        rounded = np.minimum(np.rint(centres / steps), levels) * steps
        errors = ((rounded - centres) ** 2 * self.counts).sum(axis=1)
        return float(reaches[int(np.argmin(errors))])

    def reach_of_least_divergence(self, bits: int) -> float:
        """The reach at which the distribution of rounded values tells most about that of the values (Kullback-Leibler)."""
        levels = levels_of(bits)
        used = int(np.flatnonzero(self.counts)[-1]) + 1 if self.counts.any() else 0
        if used <= levels + 1:
            return self.largest
        best, least = used, self._divergence(used, levels + 1)
        for end in range(used, levels, -max(1, (used - levels) // 256)):
            divergence = self._divergence(end, levels + 1)
            if divergence < least:
                best, least = end, divergence
        return min(best * self.width, self.largest)

    def _divergence(self, end: int, cells: int) -> float:
        inside = self.counts[:end].astype(np.float64)
        inside[0] = 0.0  # zeros lie on every grid: behind a ReLU they would outweigh everything that is lost
        real = inside.copy()
        real[-1] += self.counts[end:].sum()  # what lies beyond is put at the end of the grid
        cell = np.minimum(np.arange(end) * cells // end, cells - 1)
        occupied = inside > 0
        sums = np.bincount(cell, inside, cells)
        shares = np.bincount(cell, occupied.astype(np.float64), cells)
        rounded = np.where(occupied, (sums / np.maximum(shares, 1.0))[cell], 0.0)
        p, q = real / real.sum(), rounded / max(rounded.sum(), 1e-30)
        holds = p > 0
        return float((p[holds] * np.log(p[holds] / np.maximum(q[holds], 1e-12))).sum())


class _HistogramObserver(UniformObserver):
    def __init__(self, quant_bits: int, bins_count: int) -> None:
        super().__init__(quant_bits)
        if not isinstance(bins_count, int) or bins_count < 2 * levels_of(quant_bits):
            raise value_error(
                type(self).__name__, f"bins_count must be at least {2 * levels_of(quant_bits)}", f"{bins_count!r}"
            )
        self._histogram = Histogram(bins_count)
        self._is_new = False

    def _watch(self, input: Any) -> None:
        self._histogram.add(np.asarray(input.numpy(), np.float32))
        self._is_new = True

    def _reach(self) -> float:
        raise NotImplementedError

    def cal_thresholds(self) -> None:
        if self._is_new and self._histogram.num_values:
            reach = self._reach() if self._histogram.largest > 0 else 0.0
            self._scale = tensor_from_data(np.asarray(reach, np.float32))
            self._is_new = False


class HistObserverLayer(_HistogramObserver):
    """A reach that holds a share of all values."""

    def __init__(self, layer: Any, quant_bits: int = 8, bins_count: int = 2048, percent: float = 0.99999) -> None:
        super().__init__(quant_bits, bins_count)
        if not 0.0 < percent <= 1.0:
            raise value_error("HistObserver", "percent must be above 0 and at most 1", f"percent: {percent}")
        self._percent = percent

    def _reach(self) -> float:
        return self._histogram.reach_of_share(self._percent)


class MSEObserverLayer(_HistogramObserver):
    """The reach with the least squared error."""

    def __init__(self, layer: Any, quant_bits: int = 8, bins_count: int = 2048) -> None:
        super().__init__(quant_bits, bins_count)

    def _reach(self) -> float:
        return self._histogram.reach_of_least_error(self._quant_bits)


class KLObserverLayer(_HistogramObserver):
    """The reach that loses the least information."""

    def __init__(self, layer: Any, quant_bits: int = 8, bins_count: int = 2048) -> None:
        super().__init__(quant_bits, bins_count)

    def _reach(self) -> float:
        return self._histogram.reach_of_least_divergence(self._quant_bits)


class HistObserver(ObserverFactory):
    """The grid reaches so far that the share `percent` of all values lies on it.

    Args:
        quant_bits: how many bits a number has.
        bins_count: how finely values are told apart.
        percent: the share, from 0 to 1.

    Examples:
        >>> observer = paddle.quantization.observers.HistObserver(percent=0.9)._instance(paddle.nn.Linear(2, 2))
        >>> seen = observer(paddle.arange(100, dtype="float32"))
        >>> observer.cal_thresholds()
        >>> 85 < float(observer.scales()) < 95
        True
    """

    def __init__(self, quant_bits: int = 8, bins_count: int = 2048, percent: float = 0.99999) -> None:
        super().__init__(quant_bits=quant_bits, bins_count=bins_count, percent=percent)

    def _get_class(self) -> type:
        return HistObserverLayer


class MSEObserver(ObserverFactory):
    """The grid has the least squared error.

    Args:
        quant_bits: how many bits a number has.
        bins_count: how finely values are told apart.

    Examples:
        >>> observer = paddle.quantization.observers.MSEObserver()._instance(paddle.nn.Linear(2, 2))
        >>> seen = observer(paddle.arange(100, dtype="float32"))
        >>> observer.cal_thresholds()
        >>> 90 < float(observer.scales()) <= 100
        True
    """

    def __init__(self, quant_bits: int = 8, bins_count: int = 2048) -> None:
        super().__init__(quant_bits=quant_bits, bins_count=bins_count)

    def _get_class(self) -> type:
        return MSEObserverLayer


class KLObserver(ObserverFactory):
    """The grid loses the least information (Kullback-Leibler divergence).

    Args:
        quant_bits: how many bits a number has.
        bins_count: how finely values are told apart.

    Examples:
        >>> observer = paddle.quantization.observers.KLObserver()._instance(paddle.nn.Linear(2, 2))
        >>> seen = observer(paddle.arange(100, dtype="float32"))
        >>> observer.cal_thresholds()
        >>> 0 < float(observer.scales()) <= 100
        True
    """

    def __init__(self, quant_bits: int = 8, bins_count: int = 2048) -> None:
        super().__init__(quant_bits=quant_bits, bins_count=bins_count)

    def _get_class(self) -> type:
        return KLObserverLayer
