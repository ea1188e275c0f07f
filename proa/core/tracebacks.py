"""Tracebacks that end at the user's line: the package's own frames are taken out.

An error is trimmed where it leaves the package: the functions that users call end in

    except Exception as error:
        trim(error)
        raise

A `try` costs nothing until something is raised, and a bare `raise` does not add its own frame again, so the next entry
is the caller's. `install` does the same for whatever left by another door, just before it is shown: in a script, in a
thread, in IPython and Jupyter, in pytest. `FLAGS_full_traceback` leaves everything as it is.

Only frames of the package are hidden, and those of Python's, NumPy's, SciPy's and JAX's own code that the package called.
What the user wrote and the package calls back (hooks, datasets, PyLayers, functions given to `to_static`) always stays.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Any, TypeVar, cast

from . import flags
from .elsewhere import from_elsewhere
from .errors import is_own

HINT = "proa's own frames are left out of this traceback; FLAGS_full_traceback=1 (or PROA_FULL_TRACEBACK=1) shows them."
_SUPPORT = ("numpy", "scipy", "jax", "jaxlib", "ml_dtypes")
_STANDARD_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep

Function = TypeVar("Function", bound=Callable[..., Any])


def trim(error: BaseException) -> None:
    """Takes the package's frames out of the traceback of an error, and out of those that it is chained to."""
    if flags.get("FLAGS_full_traceback"):
        return
    if "_pytest" in sys.modules:
        _mark_for_pytest()
    for each in _chain(error):
        before = each.__traceback__
        after = _without_own_frames(before)
        # By the base class: an exception may forbid its attributes to be set (a frozen dataclass does).
        BaseException.with_traceback(each, after)
        BaseException.__setattr__(each, "__context__", _visible_context(each))
        if each is error and _last(before) is not _last(after):
            _explain(each)


def _visible_context(error: BaseException) -> BaseException | None:
    """What was being handled when an error was raised, less what was raised and handled inside the package (a way to look
    twice at arguments): that is nobody's business, what the user was handling at the time is."""
    seen = {id(error)}
    context = error.__context__
    while context is not None and id(context) not in seen:
        if context.__traceback__ is None or _without_own_frames(context.__traceback__) is not None:
            return context
        seen.add(id(context))
        context = context.__context__
    return None


def boundary(function: Function) -> Function:
    """Trims the errors of a function that users call now and then; what is called often has a `try` of its own.

    Examples:
        >>> @paddle.distributed.sharding.boundary
        ... def half(x):
        ...     return x / 2
        >>> half(3)
        1.5
    """

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except Exception as error:
            trim(error)
            raise

    return call  # type: ignore[return-value]


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and all that it shows: causes, contexts, members of groups; contexts as they are when it is their turn."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        waiting += [each.__cause__, each.__context__]
        if isinstance(each, BaseExceptionGroup):
            waiting += cast("BaseExceptionGroup[BaseException]", each).exceptions


def _without_own_frames(traceback: TracebackType | None) -> TracebackType | None:
    kept: list[TracebackType] = []
    inside = False
    while traceback is not None:
        filename = traceback.tb_frame.f_code.co_filename
        if is_own(filename):
            inside = True
        elif not (inside and is_support(filename)):
            inside = False
            kept.append(traceback)
        traceback = traceback.tb_next
    result: TracebackType | None = None
    for entry in reversed(kept):
        result = TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result


def _last(traceback: TracebackType | None) -> Any:
    """The frame in which an error was raised."""
    if traceback is None:
        return None
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback.tb_frame


def is_support(filename: str) -> bool:
    """Whether a file belongs to Python or to a library that the package is built on."""
    if filename.startswith("<frozen "):
        return True
    if filename.startswith(_STANDARD_LIBRARY):
        return not filename[len(_STANDARD_LIBRARY) :].startswith(("site-packages", "dist-packages")) or _of_library(
            filename
        )
    return _of_library(filename)


def _of_library(filename: str) -> bool:
    for name in _SUPPORT:
        found = getattr(sys.modules.get(from_elsewhere(name)), "__file__", None)
        if found and filename.startswith(os.path.dirname(found) + os.sep):
            return True
    return False


def _explain(error: BaseException) -> None:
    """Says that frames were left out, where they may be wanted: of an error that nobody worded for the user."""
    if not isinstance(error, Exception) or HINT in getattr(error, "__notes__", ()):
        return
    with suppress(Exception):  # an error of the user's own may not have words
        if not str(error).startswith("("):
            error.add_note(HINT)


# ---- just before an error is shown ------------------------------------------------------------------------------


def trim_to_show(error: BaseException | None) -> None:
    """`trim` for who is about to print: never raises, and leaves an error alone that the package has to itself."""
    with suppress(Exception):
        if error is not None and _without_own_frames(error.__traceback__) is not None:
            trim(error)


def install() -> None:
    """Trims what reaches the top of a script, a thread or a cell, whoever prints it then."""
    sys.excepthook = _trimming_hook(sys.excepthook)
    threading.excepthook = _trimming_thread_hook(threading.excepthook)
    if "IPython" in sys.modules:
        _install_in_ipython(sys.modules["IPython"].get_ipython())
    if "_pytest" in sys.modules:
        _mark_for_pytest()


def _trimming_hook(shown_by: Callable[..., Any]) -> Callable[..., Any]:
    def show(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        trim_to_show(error)
        if getattr(sys, "last_traceback", None) is traceback:
            sys.last_traceback = error.__traceback__  # where `pdb.pm()` begins
        shown_by(kind, error, error.__traceback__)

    return show


def _trimming_thread_hook(shown_by: Callable[..., Any]) -> Callable[..., Any]:
    def show(arguments: Any) -> None:
        error = arguments.exc_value
        trim_to_show(error)
        traceback = arguments.exc_traceback if error is None else error.__traceback__
        shown_by(threading.ExceptHookArgs((arguments.exc_type, error, traceback, arguments.thread)))

    return show


def _install_in_ipython(shell: Any) -> None:
    if shell is None or shell.custom_exceptions:  # the user has a way of their own
        return

    def show(shell: Any, kind: Any, error: BaseException, traceback: Any, tb_offset: int | None = None) -> None:
        trim_to_show(error)
        shell.showtraceback((kind, error, error.__traceback__), tb_offset=tb_offset, running_compiled_code=True)

    shell.set_custom_exc((Exception, KeyboardInterrupt), show)


def _mark_for_pytest() -> None:
    """Lets pytest leave out the frames that are still to come on an error's way up."""
    for name, module in list(sys.modules.items()):
        if name.startswith("proa."):
            getattr(module, "__dict__", {}).setdefault("__tracebackhide__", _hides)  # None stands for a refused import


def _hides(_excinfo: Any = None) -> bool:
    return not flags.get("FLAGS_full_traceback")
