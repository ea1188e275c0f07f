"""Scopes of names and devices, and lists of places."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ..core.errors import type_error, value_error
from ..device.select import CPUPlace, CUDAPlace, XPUPlace
from ..device.select import device_count as count_devices
from ..eager import naming


@contextlib.contextmanager
def name_scope(prefix: str | None = None) -> Iterator[None]:
    """A label for the operations inside; names of variables do not change.

    Examples:
        >>> with paddle.static.name_scope("encoder"):
        ...     y = paddle.ones([2]) * 2
        >>> y.tolist()
        [2.0, 2.0]
    """
    if prefix is not None and (not isinstance(prefix, str) or not prefix):
        raise value_error("name_scope", "prefix must be a non-empty string", repr(prefix))
    naming.unique_name("name_scope" if prefix is None else f"name_scope/{prefix}")
    yield


@contextlib.contextmanager
def device_guard(device: str | None = None) -> Iterator[None]:
    """Where operations should run: accepted and checked; a program runs whole on one device.

    Raises:
        ValueError: it is no name of a device.

    Examples:
        >>> with paddle.static.device_guard("cpu"):
        ...     y = paddle.ones([2]) * 2
        >>> y.tolist()
        [2.0, 2.0]
    """
    if device is not None and not isinstance(device, str):
        raise type_error("device_guard", "device must be a string", type(device).__name__)
    if device is not None and not re.fullmatch(r"(cpu|gpu|xpu|npu|tpu)(:(\d+|all))?", device):
        raise value_error("device_guard", "device is 'cpu', 'gpu', 'gpu:0' …", repr(device))
    if device is not None and device.startswith("cpu:"):
        raise value_error("device_guard", "the CPU has no number", repr(device))
    yield


def cpu_places(device_count: int | None = None) -> list[Any]:
    """As many places of the CPU as asked for, or as the environment variable CPU_NUM says.

    Examples:
        >>> paddle.static.cpu_places(2)
        [Place(cpu), Place(cpu)]
    """
    count = int(os.environ.get("CPU_NUM", "1")) if device_count is None else device_count
    return [CPUPlace() for _ in range(count)]


def cuda_places(device_ids: Sequence[int] | int | None = None) -> list[Any]:
    """The places of the GPUs with these numbers, or of all.

    Examples:
        >>> paddle.static.cuda_places([0, 1])
        [Place(gpu:0), Place(gpu:1)]
    """
    return [CUDAPlace(number) for number in _numbers("gpu", device_ids)]


def xpu_places(device_ids: Sequence[int] | int | None = None) -> list[Any]:
    """The places of the XPUs with these numbers, or of all.

    Examples:
        >>> paddle.static.xpu_places()
        []
    """
    return [XPUPlace(number) for number in _numbers("xpu", device_ids)]


def _numbers(kind: str, given: Any) -> list[int]:
    if given is None:
        return list(range(count_devices(kind)))
    return [int(given)] if isinstance(given, int) else [int(number) for number in given]


class IrGuard:
    """A context in which Paddle builds programs in its newer representation. Here there is one, so it changes nothing.

    Examples:
        >>> with paddle.IrGuard():
        ...     paddle.ones([2]).tolist()
        [1.0, 1.0]
    """

    def __enter__(self) -> IrGuard:
        return self

    def __exit__(self, *_problem: Any) -> None:
        return None


ir_guard = IrGuard()
