"""Where a loader is: what it takes to go on after the batch that was handed out last."""

from __future__ import annotations

from typing import Any

from ..core.errors import type_error, value_error
from .seeding import Seeds, draw_epoch_seeds, set_stream_states, stream_states

_VERSION = 1


class Progress:
    """One epoch: how it began, and how many of its batches the user has received."""

    def __init__(self, batch_sampler: Any, seeds: Seeds | None = None) -> None:
        self.start = stream_states()
        self.sampler = _sampler_state(batch_sampler)
        self.seeds = draw_epoch_seeds() if seeds is None else seeds
        self.position = 0
        self.finished = False


def save_state(progress: Progress | None, num_epochs: int, length: int | None) -> dict[str, Any]:
    """Plain numbers, text, lists and dicts."""
    state: dict[str, Any] = {"version": _VERSION, "epoch": num_epochs, "now": stream_states(), "length": length}
    if progress is not None and not progress.finished:
        state["position"] = progress.position
        state["seeds"] = dict(progress.seeds)
        state["start"] = progress.start
        state["sampler"] = progress.sampler
    return state


def check_state(state: Any, length: int | None) -> dict[str, Any]:
    """The state, if it is one and fits the loader."""
    where = "DataLoader.load_state_dict"
    if not isinstance(state, dict) or "version" not in state or "now" not in state:
        raise type_error(where, "not a loader's state", type(state).__name__, "give what state_dict() returned")
    if state["version"] != _VERSION:
        raise value_error(where, f"only version {_VERSION} of a loader's state is known", f"version {state['version']}")
    if state.get("length") != length:
        raise value_error(
            where, "the state is of a loader with another number of batches", f"{state.get('length')} for {length}",
            "use the same dataset, batch size and sampler",
        )  # fmt: skip
    return state


def resume(state: dict[str, Any], batch_sampler: Any) -> Progress:
    """The epoch that was interrupted, with all random streams as they were when it began. The caller puts them back."""
    set_stream_states(state["start"])
    _set_sampler_state(batch_sampler, state["sampler"])
    progress = Progress(batch_sampler, state["seeds"])
    progress.position = state["position"]
    return progress


def _sampler_state(sampler: Any) -> Any:
    """What a sampler remembers between epochs: by `state_dict` where it has one, else its epoch."""
    if hasattr(sampler, "state_dict"):
        return {"state_dict": sampler.state_dict()}
    epoch = getattr(sampler, "epoch", None)
    return {"epoch": epoch} if isinstance(epoch, int) else None


def _set_sampler_state(sampler: Any, state: Any) -> None:
    if state is None:
        return
    if "state_dict" in state:
        sampler.load_state_dict(state["state_dict"])
    elif "epoch" in state:
        sampler.epoch = state["epoch"]
