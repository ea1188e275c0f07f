"""How this process records: the flags, mirrored where the hot path finds them without asking."""

from __future__ import annotations

from ...core import flags
from ...core.errors import message

# The window of a segment that is not cut, however long it gets (see `recorder.one_segment`).
WHOLE = 1 << 40
# That of a segment which is not compiled, however heavy (see `recorder.apart`).
ONCE = WHOLE + 1


class Mode:
    """Process-wide recording mode, mirrored from the flags."""

    immediate = False
    check_nan = False
    window = 20000
    threshold = 0  # how often a path is seen before it is compiled; 0: what it costs decides
    threads = 0  # that have recorded something
    threaded = False  # more than one has
    pending = 1 << 27  # bytes that only a segment may refer to
    pending_size = 1 << 25  # how many new elements it may get before they are looked at
    deterministic = False  # nothing that was learned changes what is compiled
    buckets = "auto"  # whether paths of changing sizes are compiled together (see families.py)
    sharded = False  # some tensor holds an array that spans devices


def read_flags(_name: str = "") -> None:
    mode = flags.get("FLAGS_eager_mode")
    if mode not in ("auto", "immediate"):
        raise ValueError(message("PROA_EAGER", "the eager mode is 'auto' or 'immediate'", repr(mode)))
    Mode.immediate = mode == "immediate"
    Mode.check_nan = flags.get("FLAGS_check_nan_inf")
    Mode.window = max(1, flags.get("FLAGS_window"))
    Mode.deterministic = flags.get("FLAGS_cpu_deterministic")
    Mode.buckets = flags.get("FLAGS_size_buckets")
    if Mode.buckets not in ("auto", "always", "never"):
        raise ValueError(
            message("FLAGS_size_buckets", "expected 'auto', 'always' or 'never'", repr(Mode.buckets))
        )  # fmt: skip
    Mode.threshold = 1 if Mode.deterministic else max(0, flags.get("FLAGS_hot_threshold"))
    Mode.pending = max(1, flags.get("FLAGS_pending_mb")) << 20
    Mode.pending_size = Mode.pending >> 2


def note_sharded() -> None:
    """From now on inputs are also told apart by how they are laid out over devices."""
    Mode.sharded = True


read_flags()
