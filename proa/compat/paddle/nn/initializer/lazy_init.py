"""Inner names of `paddle.nn.initializer.lazy_init`."""

from .....nn.base.lazy_init import LazyGuard, is_lazy


class LazyInitHelper:
    """A switch for parameters that get their numbers late; `paddle.LazyGuard` is the same as a context.

    Examples:
        >>> from proa.nn.initializer.lazy_init import LazyInitHelper
        >>> LazyInitHelper().state
        False
    """

    def __init__(self) -> None:
        self._guard = LazyGuard()

    @property
    def state(self) -> bool:
        """Whether parameters get their numbers late now.

        Examples:
            >>> from proa.nn.initializer.lazy_init import LazyInitHelper
            >>> with paddle.LazyGuard():
            ...     LazyInitHelper().state
            True
        """
        return is_lazy()

    def enable(self) -> None:
        """Parameters that are made from now on get their numbers at first use.

        Examples:
            >>> from proa.nn.initializer.lazy_init import LazyInitHelper
            >>> helper = LazyInitHelper()
            >>> helper.enable()
            >>> helper.state
            True
            >>> helper.disable()
        """
        if not is_lazy():
            self._guard.__enter__()

    def disable(self) -> None:
        """Parameters that are made from now on get their numbers at once.

        Examples:
            >>> from proa.nn.initializer.lazy_init import LazyInitHelper
            >>> helper = LazyInitHelper()
            >>> helper.enable()
            >>> helper.disable()
            >>> helper.state
            False
        """
        if is_lazy():
            self._guard.__exit__()


_helper = LazyInitHelper()


def lazy_init_helper() -> LazyInitHelper:
    """The switch that the whole program shares.

    Examples:
        >>> from proa.nn.initializer.lazy_init import lazy_init_helper
        >>> lazy_init_helper().state
        False
    """
    return _helper
