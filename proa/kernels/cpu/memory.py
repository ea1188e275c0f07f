"""The memory of executables is kept from run to run, instead of being given back to the system and cleared anew each time.

See `native/memory.cpp`. Kept and used memory together exceed what was used at once within the last seconds by a quarter at
most, and what nobody wants for some seconds goes back; `FLAGS_keep_memory` (environment: PROA_KEEP_MEMORY) switches it off.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from ...core import flags
from ...ir.tiers import lowering

flags.define("FLAGS_keep_memory", True, "Whether XLA's large blocks are kept for its next run.", "PROA_KEEP_MEMORY")

_LIBRARY = b"libjax_common.so"  # which XLA is a part of


@functools.cache
def _keeper(path: str) -> Any:
    library = ctypes.CDLL(path)
    library.proa_kept_memory.restype = ctypes.c_int64
    library.proa_keep_memory.argtypes = [ctypes.c_char_p]
    library.proa_keep_memory.restype = ctypes.c_char_p
    library.proa_keep_memory_for.argtypes = [ctypes.c_double]
    return library


class _State:
    keeper: Any = None  # once memory is kept
    refusal = "no native kernel was needed yet"


def keep(path: str) -> bool:
    """Begins to keep what XLA frees, by the compiled `memory.cpp`; whether it could (`why_not` says what was in the way)."""
    if not flags.get("FLAGS_keep_memory"):
        _State.refusal = "switched off (PROA_KEEP_MEMORY or FLAGS_keep_memory)"
        return False
    keeper = _keeper(path)
    refusal = keeper.proa_keep_memory(_LIBRARY)
    _State.refusal = refusal.decode(errors="replace") if refusal else ""
    if refusal:
        return False
    _State.keeper = keeper
    if give_back not in lowering.KEEPERS:
        lowering.KEEPERS.append(give_back)
    return True


def why_not() -> str:
    """Why memory is not kept, in words; an empty text where it is."""
    if _State.keeper is not None and not _State.refusal and not _State.keeper.proa_kept_memory(4):
        return "another library took the place over, or this process was forked"
    return _State.refusal


def give_back() -> None:
    """Lets the system have everything that is kept."""
    if _State.keeper is not None:
        _State.keeper.proa_release_memory(0)


def kept() -> dict[str, int]:
    """Bytes that are kept, that XLA uses in large blocks, the most that it used lately; requests that got a kept block."""
    names = ("kept", "used", "most", "reused")
    return {name: _State.keeper.proa_kept_memory(n) if _State.keeper else 0 for n, name in enumerate(names)}


def _flags_changed(name: str) -> None:
    if _State.keeper is None or name != "FLAGS_keep_memory":
        return
    if flags.get("FLAGS_keep_memory"):
        refusal = _State.keeper.proa_keep_memory(_LIBRARY)
        _State.refusal = refusal.decode(errors="replace") if refusal else ""
    else:
        _State.keeper.proa_release_memory(1)
        _State.refusal = "switched off (PROA_KEEP_MEMORY or FLAGS_keep_memory)"


flags.on_change(_flags_changed)
