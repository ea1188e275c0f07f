"""Which kernel a call gets, native or XLA's: by measurement where there is one, by a rule of thumb elsewhere.

A table in the cache folder holds, for a kernel with the shapes, dtypes and attributes of a call, how long either takes. It
belongs to one processor, number of cores, version of the native sources and of jaxlib; with any other it starts anew. It is
filled while `FLAGS_native_measure` (environment: PROA_NATIVE_MEASURE) is on, or by `python -m proa.kernels.cpu measure
script.py`: a call that is not in the table is then compiled alone both ways and timed. What is not in it is decided by the
thresholds of the kernels' modules.

A kernel's module marks each of its factories with `@chosen`, and compares sizes with its threshold by `enough`.
"""

from __future__ import annotations

import functools
import hashlib
import json
import pathlib
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from ...core import flags
from ...core.locks import new_lock
from ...ir.tiers import cache
from ...ir.transforms import exactness
from ...ir.xla import started_jax
from . import compiled

flags.define(
    "FLAGS_native_measure", False,
    "Time native CPU kernels beside XLA's for each new shape, and keep which is quicker.", "PROA_NATIVE_MEASURE",
)  # fmt: skip

Factory = Callable[[Callable[..., Any]], Callable[..., Any]]
# Alone, a kernel does not show what XLA fuses with its neighbours: the rule of thumb stands unless the other is this much
# quicker.
_MARGIN = 0.9
_LEAST_SECONDS = (
    100e-6  # below this, starting a program is most of what was timed, and says nothing about a part of one
)
_MOST_BYTES = 1 << 29  # of a call's arguments; larger ones are left to the rule
_LEAST_RUNS, _MOST_RUNS, _SECONDS = 3, 30, 0.3
_PATIENCE = 10.0  # seconds for another process that writes the table


class _Thread(threading.local):
    forced = False  # native code is wanted whatever the size
    measuring = False


_THREAD = _Thread()


def enough(work: int, threshold: int) -> bool:
    """Whether there is enough work for native code: by its threshold, or because a measurement said so."""
    return _THREAD.forced or bool(exactness.wanted()) or work >= threshold


def chosen(factory: Factory | None = None, *, donates: bool = False) -> Any:
    """Marks a factory `native_x(fallback)`: its kernels ask the table first.

    With `donates` a call's operands are memory that it may write into, as it has when parameters are updated.
    """
    if factory is None:
        return functools.partial(chosen, donates=donates)
    name = f"{factory.__module__.rpartition('.')[2]}.{factory.__name__.removeprefix('native_')}"

    @functools.wraps(factory)
    def native(fallback: Callable[..., Any]) -> Callable[..., Any]:
        kernel = factory(fallback)  # type: ignore[misc]

        def choose(xp: Any, *arguments: Any) -> Any:
            if xp is np or _THREAD.measuring or exactness.wanted():
                return kernel(xp, *arguments)
            verdict = _verdict(name, kernel, fallback, arguments, donates)
            if verdict is None:
                return kernel(xp, *arguments)
            if not verdict:
                return fallback(xp, *arguments)
            before, _THREAD.forced = _THREAD.forced, True
            try:
                return kernel(xp, *arguments)
            finally:
                _THREAD.forced = before

        return choose

    return native


# ---- the table -----------------------------------------------------------------------------------

Row = dict[str, Any]


class Table:
    """Measured seconds by call, in one JSON file that any number of processes read and extend."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.rows: dict[str, Row] = {}
        self.lock = new_lock()
        self._read()

    def _read(self) -> None:
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
            if not all(_is_row(row) for row in found.values()):
                raise ValueError("a row is not what it should be")
        except OSError:  # there is none, or it cannot be read: the rule of thumb is always there
            return
        except (ValueError, AttributeError, RecursionError) as error:
            print(f"proa: the damaged table of kernels {self.path} is removed ({error}).", file=sys.stderr, flush=True)
            with suppress(OSError):
                self.path.unlink()
            return
        self.rows.update(found)

    def add(self, key: str, row: Row) -> None:
        """Keeps a row, together with what other processes wrote in the meantime."""
        import filelock

        with self.lock:
            self.rows[key] = row
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with filelock.FileLock(self.path.with_suffix(".lock"), timeout=_PATIENCE):
                    self._read()
                    self.rows[key] = row
                    cache.write(self.path, json.dumps(self.rows, indent=0, sort_keys=True).encode())
            except filelock.Timeout:  # its holder sleeps: this process goes on with what it has
                pass
            except OSError as error:
                cache.tell_unusable(self.path.parent, error, "measured kernels are not kept for the next run")


def _is_row(row: Any) -> bool:
    try:
        return row["native"] > 0 and row["xla"] > 0 and row["rule"] in ("native", "xla")
    except (TypeError, KeyError):
        return False


@functools.cache
def table() -> Table:
    """The table of this machine and version."""
    import importlib.metadata

    about, kind = compiled.processor(), compiled.variant()
    identity = hashlib.sha256(f"{about.get('model name')} {about.get('flags')} {kind.name if kind else ''}".encode())
    identity.update(f"{importlib.metadata.version('jaxlib')} {compiled.num_cores()}".encode())
    for source in compiled.source_files():
        identity.update(source.read_bytes())
    return Table(compiled.folder() / f"choices_{identity.hexdigest()[:16]}.json")


def winner(row: Row) -> str:
    """`native` or `xla`."""
    other = "xla" if row["rule"] == "native" else "native"
    if row[row["rule"]] < _LEAST_SECONDS:
        return row["rule"]
    return other if row[other] < _MARGIN * row[row["rule"]] else row["rule"]


def _verdict(name: str, kernel: Any, fallback: Any, arguments: tuple[Any, ...], donates: bool) -> bool | None:
    """Whether native code is quicker for these arguments; None where nothing was measured."""
    if not flags.get("FLAGS_native_kernels"):
        return None
    rows = table().rows
    measure = flags.get("FLAGS_native_measure")
    if not rows and not measure:
        return None
    key = f"{name}({', '.join(_described(a) for a in arguments)})"
    row = rows.get(key)
    if row is None and measure and key not in _UNMEASURED:
        row = _measured(key, kernel, fallback, arguments, donates)
    return None if row is None else winner(row) == "native"


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")


def _described(value: Any) -> str:
    if _is_array(value):
        return f"{value.dtype}[{','.join(map(str, value.shape))}]"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_described(v) for v in value)}]"
    return repr(value)


# ---- measuring -----------------------------------------------------------------------------------

_UNMEASURED: set[str] = set()  # calls of which there is nothing to measure


def _measured(key: str, kernel: Any, fallback: Any, arguments: tuple[Any, ...], donates: bool) -> Row | None:
    """Times a call both ways and keeps the result."""
    from concurrent.futures import ThreadPoolExecutor

    if _THREAD.forced:  # a part of a kernel that was chosen as a whole
        return None
    with ThreadPoolExecutor(1) as pool:  # a thread of its own: this one is in the middle of tracing a program
        try:
            row = pool.submit(_time_both, kernel, fallback, arguments, donates).result()
        except Exception as error:  # too little memory, say; the rule of thumb is always there
            print(f"proa could not measure {key}: {str(error).strip().splitlines()[:1]}", file=sys.stderr, flush=True)
            row = None
    if row is None:
        _UNMEASURED.add(key)
        return None
    table().add(key, row)
    return row


def _time_both(kernel: Any, fallback: Any, arguments: tuple[Any, ...], donates: bool) -> Row | None:
    _THREAD.measuring = True
    leaves: list[Any] = []
    template = _take_arrays(arguments, leaves)
    if not all(a.size for a in leaves):
        return None
    if any(a.ndim and a.dtype.kind not in "fb" for a in leaves):
        return None  # what indices and lengths hold decides the time, and is not known here
    if sum(a.size * a.dtype.itemsize for a in leaves) > _MOST_BYTES:
        return None
    generator = np.random.default_rng(0)
    data = [_example(generator, a) for a in leaves]
    by_rule = "native" if _calls_native(_compiled(kernel, template, data, donates, False)[0]) else "xla"
    text, native = _compiled(kernel, template, data, donates, True)
    if not _calls_native(text):
        return None  # another dtype, say
    runs = {"native": native, "xla": _compiled(fallback, template, data, donates, False)[1]}
    seconds = _race(runs, data, donates)
    return {"native": seconds["native"], "xla": seconds["xla"], "rule": by_rule}


def _take_arrays(value: Any, leaves: list[Any]) -> Any:
    """The arguments with numbers of `leaves` in the place of arrays."""
    if _is_array(value):
        leaves.append(value)
        return _Place(len(leaves) - 1)
    if isinstance(value, (list, tuple)):
        return type(value)([_take_arrays(v, leaves) for v in value])
    return value


class _Place(int):
    """Where an array belongs."""


def _put_arrays(value: Any, leaves: Any) -> Any:
    if isinstance(value, _Place):
        return leaves[value]
    if isinstance(value, (list, tuple)):
        return type(value)([_put_arrays(v, leaves) for v in value])
    return value


def _example(generator: np.random.Generator, like: Any) -> Any:
    return (generator.random(like.shape) * 0.9 + 0.1).astype(like.dtype)


def _calls_native(text: str) -> bool:
    return "custom_call @proa" in text


def _compiled(kernel: Any, template: Any, data: list[Any], donates: bool, forced: bool) -> tuple[str, Any]:
    """A call compiled alone: what XLA was given, and what runs it."""
    jax = started_jax()

    def run(*leaves: Any) -> Any:
        return kernel(jax.numpy, *_put_arrays(template, leaves))

    _THREAD.forced = forced
    try:
        donated = tuple(range(len(data))) if donates else ()
        lowered = jax.jit(run, donate_argnums=donated).lower(*data)
    finally:
        _THREAD.forced = False
    return lowered.as_text(), lowered.compile()


def _race(runs: dict[str, Any], data: list[Any], donates: bool) -> dict[str, float]:
    """The best time of each, taken in turns."""
    jax = started_jax()
    best = dict.fromkeys(runs, float("inf"))
    ready = [jax.device_put(a) for a in data]
    started = time.perf_counter()
    for number in range(_MOST_RUNS):
        for name, run in runs.items():
            given = jax.block_until_ready([jax.numpy.array(a, copy=True) for a in ready]) if donates else ready
            begun = time.perf_counter()
            jax.block_until_ready(run(*given))
            if number:  # the first one warms up
                best[name] = min(best[name], time.perf_counter() - begun)
        if number >= _LEAST_RUNS and time.perf_counter() - started > _SECONDS:
            break
    return best
