"""The memory of executables is kept from run to run, instead of being given back to the system and cleared anew each time.

See `native/memory.cpp`. Kept and used memory together never exceed what was used at once before; `FLAGS_keep_memory`
(environment: PROA_KEEP_MEMORY) switches it off, and what is kept is given back.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from ...core import flags
from ...ir import lowering

flags.define("FLAGS_keep_memory", True, "Whether XLA's large blocks are kept for its next run.", "PROA_KEEP_MEMORY")

_LIBRARY = b"libjax_common.so"  # which XLA is a part of


@functools.cache
def _keeper(path: str) -> Any:
    library = ctypes.CDLL(path)
    library.proa_kept_memory.restype = ctypes.c_int64
    library.proa_keep_memory.argtypes = [ctypes.c_char_p]
    return library


class _State:
    keeper: Any = None  # once memory is kept


def keep(path: str) -> bool:
    """Begins to keep what XLA frees, by the compiled `memory.cpp`; whether it could."""
    if not flags.get("FLAGS_keep_memory"):
        return False
    keeper = _keeper(path)
    if not keeper.proa_keep_memory(_LIBRARY):
        return False
    _State.keeper = keeper
    if give_back not in lowering.KEEPERS:
        lowering.KEEPERS.append(give_back)
    return True


def give_back() -> None:
    """Lets the system have everything that is kept."""
    if _State.keeper is not None:
        _State.keeper.proa_release_memory(0)


def kept() -> dict[str, int]:
    """Bytes that are kept, that XLA uses in large blocks, and the most that it has used."""
    if _State.keeper is None:
        return {"kept": 0, "used": 0, "most": 0}
    return {name: _State.keeper.proa_kept_memory(which) for which, name in enumerate(("kept", "used", "most"))}


def _flags_changed(name: str) -> None:
    if _State.keeper is None or name != "FLAGS_keep_memory":
        return
    if flags.get("FLAGS_keep_memory"):
        _State.keeper.proa_keep_memory(_LIBRARY)
    else:
        _State.keeper.proa_release_memory(1)


flags.on_change(_flags_changed)
