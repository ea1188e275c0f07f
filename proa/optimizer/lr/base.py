"""LRScheduler: what all schedules share."""

from __future__ import annotations

from typing import Any

from ...core.errors import failed_check, runtime_error, type_error, value_error


class LRScheduler:
    """The base class of learning-rate schedules.

    A subclass defines `get_lr()` from `self.last_epoch` and `self.base_lr`. An optimiser takes a schedule as its learning
    rate; `step()` goes on by one, calling the schedule gives the current rate.

    Args:
        learning_rate: the rate at the start.
        last_epoch: the epoch to go on from; -1 starts afresh.
        verbose: prints the rate at every step.

    Raises:
        TypeError: the rate is no number.
        ValueError: it is negative.

    Examples:
        >>> class Halved(paddle.optimizer.lr.LRScheduler):
        ...     def get_lr(self):
        ...         return self.base_lr / 2 ** self.last_epoch
        >>> schedule = Halved(0.8)
        >>> schedule.step()
        >>> schedule()
        0.4
    """

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
        """Goes on by one, or to an epoch.

        Args:
            epoch: the epoch; the next one if left out.

        Examples:
            >>> schedule = paddle.optimizer.lr.ExponentialDecay(1.0, gamma=0.5)
            >>> schedule.step()
            >>> schedule()
            0.5
            >>> schedule.step(3)
            >>> schedule()
            0.125
        """
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self.last_lr = float(self.get_lr())
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {type(self).__name__} set learning rate to {self.last_lr}.")

    def get_lr(self) -> float:
        """The rate of the present epoch; subclasses define it.

        Raises:
            NotImplementedError: the subclass defines none.

        Examples:
            >>> paddle.optimizer.lr.ExponentialDecay(0.5, gamma=0.1).get_lr()
            0.5
        """
        raise NotImplementedError(f"({type(self).__name__}) a schedule defines get_lr().")

    def state_keys(self) -> None:
        """Names the attributes that `state_dict` saves, as `self.keys`; subclasses with more state define it.

        Examples:
            >>> schedule = paddle.optimizer.lr.ExponentialDecay(0.5, gamma=0.1)
            >>> schedule.state_keys()
            >>> schedule.keys
            ['last_epoch', 'last_lr']
        """
        self.keys = ["last_epoch", "last_lr"]

    def state_dict(self) -> dict[str, Any]:
        """Where the schedule is, to be saved.

        Examples:
            >>> paddle.optimizer.lr.ExponentialDecay(0.5, gamma=0.1).state_dict()
            {'last_epoch': 0, 'last_lr': 0.5}
        """
        self.state_keys()
        return {key: self.__dict__[key] for key in self.keys if key in self.__dict__}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from where a saved schedule was.

        Args:
            state_dict: what `state_dict` gave.

        Raises:
            RuntimeError: something is missing.

        Examples:
            >>> schedule = paddle.optimizer.lr.ExponentialDecay(1.0, gamma=0.5)
            >>> schedule.set_state_dict({"last_epoch": 2, "last_lr": 0.25})
            >>> schedule.step()
            >>> schedule()
            0.125
        """
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
