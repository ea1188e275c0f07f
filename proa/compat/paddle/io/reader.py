"""Inner names of `paddle.io.reader`."""

_state = {"pinned": True}


def use_pinned_memory(*args: bool) -> bool | None:
    """Whether batches are copied through pinned memory, which XLA decides: the setting is kept and given back."""
    if not args:
        return _state["pinned"]
    _state["pinned"] = bool(args[0])
    return None
