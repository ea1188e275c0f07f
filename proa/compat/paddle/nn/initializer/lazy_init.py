"""Inner names of `paddle.nn.initializer.lazy_init`."""

from .....nn.base.lazy_init import LazyGuard, is_lazy


class LazyInitHelper:
    """Whether parameters get their numbers late, and the switch for it."""

    def __init__(self) -> None:
        self._guard = LazyGuard()

    @property
    def state(self) -> bool:
        return is_lazy()

    def enable(self) -> None:
        if not is_lazy():
            self._guard.__enter__()

    def disable(self) -> None:
        if is_lazy():
            self._guard.__exit__()


_helper = LazyInitHelper()


def lazy_init_helper() -> LazyInitHelper:
    return _helper
