"""The one door to JAX: configured once, on first use, never at import.

64-bit types are on, the persistent compilation cache lies in the user's cache folder with a size limit (`cache.py`).
"""

from __future__ import annotations

import atexit
import functools
import gc
import os
import pathlib
import sys
from typing import Any, cast

from ..core import flags, job
from ..core.waiting import waiting
from .process import forking
from .process.exiting import hold_threads
from .process.interrupt import uninterrupted
from .tiers import cache

flags.define(
    "FLAGS_num_threads", 0,
    "Threads of a CPU's programs; 0: one for each core. To be set before anything is compiled.", "PROA_NUM_THREADS",
)  # fmt: skip


def jax_module() -> Any:
    """JAX, configured: for those who only trace. RuntimeError in a process that must not even import it."""
    if forking.State.lost and (forking.State.beginning or sys.modules.get("jax") is None):
        raise RuntimeError(forking.State.lost)
    return _import_jax()


@functools.cache
def _import_jax() -> Any:
    # What `_start` freezes is never freed, so the program's garbage goes before: here, where JAX's objects are not there yet
    # and looking is cheap. (JAX itself leaves some twenty objects; looking for them would take tens of milliseconds.)
    gc.collect()
    # Ctrl-C in the middle of JAX's import would leave it broken for good.
    with waiting("importing JAX", "under a second; from a slow disk, some"), uninterrupted(True), forking.beginning():
        import jax
        import jax.numpy  # pyright: ignore[reportUnusedImport]

        cast(Any, jax).config.update("jax_enable_x64", True)
        _enable_cache(jax)
        forking.guard()
    return jax


def started_jax() -> Any:
    """JAX with its devices found: for those who are about to run something. RuntimeError in a process that has no XLA.

    Apart from `jax_module`, because processes that work together must meet before devices are looked for.
    """
    if forking.State.lost:
        raise RuntimeError(forking.State.lost)
    return _start()


def join() -> None:
    """Meets the other processes of the job, which finds the devices."""
    _limit_threads()
    job.join()


def _limit_threads() -> None:
    threads = flags.get("FLAGS_num_threads")
    if threads > 0:
        os.environ["PJRT_NPROC"] = str(threads)  # read when XLA makes its pool, which native kernels share


@functools.cache
def _start() -> Any:
    jax = jax_module()
    _limit_threads()
    job.join_if_launched()
    with (
        waiting("starting XLA and its devices", "1 to 10 s with an accelerator"),
        uninterrupted(True),
        forking.beginning(),
    ):
        jax.local_devices()
        forking.State.started = True
    # JAX brings some hundred thousand objects that stay for good. Recording makes many short-lived ones, and every full run
    # of the garbage collector would look at all of JAX again (tens of milliseconds): it need not look at them any more.
    gc.freeze()
    atexit.register(_finish, jax)
    return jax


def _finish(jax: Any) -> None:
    """Lets running executables finish before the process is torn down under them (XLA crashes otherwise).

    Daemon threads that compute are not waited for. They may go on until the very end, so what they need stays.
    """
    if forking.State.lost:
        return
    if _has_computing_daemons():
        clean_up = getattr(getattr(jax._src, "api", None), "clean_up", None)
        if clean_up is not None and not jax.distributed.is_initialized():
            atexit.unregister(clean_up)  # which forgets the devices
        return
    for array in jax.live_arrays():
        try:
            array.block_until_ready()
        except Exception:  # a failed or deleted one has nothing left to wait for
            continue


def _has_computing_daemons() -> bool:
    return any(thread.daemon and thread.is_alive() for thread in forking.threads_that_record())


@atexit.register
def _end() -> None:
    """The last handler, as it is registered early: a thread may be starting XLA at this moment."""
    if _has_computing_daemons():
        hold_threads()


def cache_folder() -> pathlib.Path:
    """Where compiled programs are kept between runs."""
    chosen = flags.get("FLAGS_cache_dir")
    if chosen:
        return pathlib.Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "proa" / "xla"


def _enable_cache(jax: Any) -> None:
    if jax.config.jax_compilation_cache_dir is not None:
        return  # the user has a cache of their own
    folder = cache_folder()
    most_bytes = flags.get("FLAGS_cache_size_mb") * 1024 * 1024
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        cache.tell_unusable(folder, error, "compiled programs are not kept for the next run")
        return
    cache.keep_programs(folder, most_bytes)
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_compilation_cache_max_size", max(most_bytes, -1))  # for a JAX that keeps them in its own way
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
