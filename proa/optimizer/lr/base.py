"""LRScheduler: what all schedules share."""

from __future__ import annotations

from typing import Any

from ...core.errors import failed_check, runtime_error, type_error, value_error


class LRScheduler:
    """Base: subclasses define `get_lr()` from `self.last_epoch` and `self.base_lr`."""

    def __init__(self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False) -> None:
        name = type(self).__name__
        if isinstance(learning_rate, bool) or not isinstance(learning_rate, (float, int)):
            raise type_error(name, "the learning rate must be a number", type(learning_rate).__name__)
        if learning_rate < 0:
            raise value_error(name, "the learning rate cannot be negative", str(learning_rate))
        self.base_lr = float(learning_rate)
        self.last_lr = self.base_lr
        self.last_epoch = last_epoch
        self.verbose = verbose
        self.step()

    def __call__(self) -> float:
        """The current learning rate."""
        return self.last_lr

    def step(self, epoch: int | None = None) -> None:
        """Goes on by one, or to `epoch`."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self.last_lr = float(self.get_lr())
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {type(self).__name__} sets the learning rate to {self.last_lr}.")

    def get_lr(self) -> float:
        raise NotImplementedError(f"({type(self).__name__}) a schedule defines get_lr().")

    def state_keys(self) -> None:
        """Names the attributes that `state_dict` saves, as `self.keys`."""
        self.keys = ["last_epoch", "last_lr"]

    def state_dict(self) -> dict[str, Any]:
        self.state_keys()
        return {key: self.__dict__[key] for key in self.keys if key in self.__dict__}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.state_keys()
        for key in self.keys:
            if key not in state_dict:
                raise runtime_error(
                    type(self).__name__,
                    f"there is no {key!r} in the state dictionary",
                    f"{list(state_dict)}",
                )
        for key in self.keys:
            self.__dict__[key] = state_dict[key]

    set_dict = set_state_dict


def need(condition: bool, where: str, what: str, received: Any, error: Any = failed_check) -> None:
    """Raises unless the condition holds."""
    if not condition:
        raise error(where, what, repr(received))
