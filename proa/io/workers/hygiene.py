"""What makes a worker process safe and frugal: no XLA, one thread, its own signals, memory that is kept.

Workers are forked, as in Paddle and PyTorch on Linux: datasets made of lambdas and local classes work, scripts need no
`if __name__ == "__main__"`, and starting takes milliseconds. What any forked process needs is done by the fork itself
(`ir/process/forking.py`). A worker has no XLA even where it could start one, and importing jax fails there.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
from typing import Any

import numpy as np

from ...core.aval import make_aval
from ...core.place import CPU
from ...eager.tensor import Tensor
from ...ir import recorder
from ...ir.process import forking
from ...ir.recording.thread_state import Chosen
from ..dataloader.dataset import Dataset

HostCopies = list[tuple[Tensor, np.ndarray]]

_MOST_VISITED = 10_000


def host_copies(*objects: Any) -> HostCopies:
    """Tensors within datasets that lie on an accelerator, with their values on the host: a child cannot read them there."""
    found: HostCopies = []
    seen: set[int] = set()
    waiting = list(objects)
    while waiting and len(seen) < _MOST_VISITED:
        item = waiting.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Tensor):
            if item._aval.place is not CPU:
                found.append((item, np.asarray(item._data())))
        elif isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, (list, tuple)):
            # Long lists are file names and labels; tensors in lists come first or not at all.
            waiting.extend(item if len(item) < 1000 or isinstance(item[0], Tensor) else ())
        elif isinstance(item, Dataset):
            waiting.extend(vars(item).values())
    return found


def after_fork(copies: HostCopies) -> None:
    """Called first in the child."""
    gc.freeze()  # looking at the parent's objects would copy their pages
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # the parent's handler may save a checkpoint
    _do_without_xla()
    for tensor, array in copies:
        tensor._aval = make_aval(array.shape, array.dtype, CPU)
        tensor._value, tensor._segment, tensor._index = array, None, -1
    _use_one_thread()
    _keep_freed_memory()


def _do_without_xla() -> None:
    forking.lose(
        "(DataLoader) this needs XLA, which must not be used in a worker process; give out NumPy arrays, use operations "
        "that run on NumPy, or set num_workers=0."
    )
    local = recorder.LOCAL
    Chosen.place = local.place = CPU
    local.scope = None
    local.segment = recorder.Segment(CPU, local.lock)
    sys.modules["jax"] = sys.modules["jax.numpy"] = sys.modules["jaxlib"] = None  # type: ignore[assignment]


_THREAD_SETTERS = (
    "openblas_set_num_threads", "openblas_set_num_threads64_", "scipy_openblas_set_num_threads",
    "scipy_openblas_set_num_threads64_", "omp_set_num_threads", "MKL_Set_Num_Threads",
)  # fmt: skip


def _use_one_thread() -> None:
    """Workers share the cores: a thread pool in each of them would make all of them slower."""
    own = "PROA_NATIVE_THREADS"
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", own):
        os.environ[variable] = "1"  # libraries that are loaded later
    opencv = sys.modules.get("cv2")
    if opencv is not None and hasattr(opencv, "setNumThreads"):
        opencv.setNumThreads(0)
    try:
        with open("/proc/self/maps", encoding="utf-8") as file:
            paths = {line.split(None, 5)[-1].strip() for line in file if ".so" in line}
    except OSError:
        return
    for path in paths:
        name = os.path.basename(path)
        if not any(word in name for word in ("openblas", "libgomp", "libiomp", "libomp", "mkl_rt")):
            continue
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        for setter in _THREAD_SETTERS:
            if hasattr(library, setter):
                getattr(library, setter)(1)


def _keep_freed_memory() -> None:
    """A worker asks for the same few large blocks for every sample: giving them back to the kernel in between costs a page
    fault for every four kilobytes of them."""
    if sys.platform != "linux":
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return
    trim_threshold, map_threshold = -1, -3
    mallopt(map_threshold, 32 << 20)
    mallopt(trim_threshold, 256 << 20)
