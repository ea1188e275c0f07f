"""`paddle.incubate.tensor.manipulation`: copies between host and device, which are ordinary copies here."""

from __future__ import annotations

from typing import Any

from .....core.place import CPU
from .....device.select import is_compiled_with_cuda


class Task:
    """A copy that was begun; it is done when it is read."""

    def cpu_wait(self) -> None:
        """Nothing to wait for."""

    cuda_wait = xpu_wait = synchronize = cpu_wait

    def is_completed(self) -> bool:
        return True


class AsyncLoad:
    """Copies tensors to the host and back."""

    def offload(self, src_tensor: Any) -> tuple[Any, Task]:
        return src_tensor._to_place(CPU) if hasattr(src_tensor, "_to_place") else src_tensor.cpu(), Task()

    def reload(self, src_tensor: Any) -> tuple[Any, Task]:
        return src_tensor.cuda() if _has_gpu() else src_tensor.clone(), Task()


def _has_gpu() -> bool:
    return is_compiled_with_cuda()


def create_async_load() -> AsyncLoad:
    return AsyncLoad()


def async_offload(src_tensor: Any, async_load: AsyncLoad) -> tuple[Any, Task]:
    """A copy on the host, and what to wait for."""
    return async_load.offload(src_tensor)


def async_reload(src_tensor: Any, async_load: AsyncLoad) -> tuple[Any, Task]:
    """A copy on the device, and what to wait for."""
    return async_load.reload(src_tensor)


def async_offload_with_offset(
    src_tensor: Any, dst_tensor: Any, src_offset: int, dst_offset: int, offload_size: int, async_loader: AsyncLoad
) -> Task:
    """Copies a stretch of elements into another tensor, in place."""
    flat = dst_tensor.reshape([-1])
    flat[dst_offset : dst_offset + offload_size] = src_tensor.reshape([-1])[src_offset : src_offset + offload_size]
    dst_tensor.set_value(flat.reshape(dst_tensor.shape))
    return Task()
