"""How proa words its errors: `(op) what is wrong; received …; what to do.`

Python's own exception types are used throughout. An error that is found later than the call that caused it
(a value that only exists once the recorded work has run) carries `proa_location`, the user's file and line.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Generator, Iterable
from types import FrameType

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

# Code of the package: its files, and the functions it generates.
_OWN = (_PACKAGE, "<binder of ", "<gradient of ")
# Where numbers are compared on behalf of whoever asks.
_NUMBERS = tuple(_PACKAGE + part + os.sep for part in ("core", os.path.join("jit", "conversion")))


class WrongType(TypeError, ValueError, RuntimeError):
    """An argument of the wrong type. Paddle raises a ValueError for what is no tensor, and a RuntimeError for a dtype
    without a kernel: whoever expects those catches this as well."""


class FailedCheck(ValueError, AssertionError):
    """A value that does not fit, where Paddle asserts that it does: an AssertionError says nothing to most users, but
    whoever expects it catches this as well."""


class FailedTypeCheck(FailedCheck, TypeError):
    """The same for a type, where Python's own exception is a TypeError."""


class IntegerTooLarge(OverflowError, ValueError):
    """An integer that int64 cannot hold: Python's own exception, and the one that Paddle raises."""


class AxisOutOfRange(ValueError, IndexError):
    """An axis that the tensor does not have. Paddle raises either."""


def message(where: str, what: str, received: str = "", fix: str = "") -> str:
    """The text of an error: where, what was expected, what was received, what to do.

    Examples:
        >>> from proa.core.errors import message
        >>> message("reshape", "6 elements do not fit [4]", "x: float32[2, 3]", "use [6]")
        '(reshape) 6 elements do not fit [4]; received x: float32[2, 3]; use [6].'
    """
    parts = [f"({where}) {what}"]
    if received:
        parts.append(f"received {received}")
    if fix:
        parts.append(fix)
    return "; ".join(parts) + "."


@contextlib.contextmanager
def naming(path: str) -> Generator[None]:
    """What is written here becomes the file `path`: an OSError that names none (the disk is full) names this one."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = path
        raise


def value_error(where: str, what: str, received: str = "", fix: str = "") -> ValueError:
    return ValueError(message(where, what, received, fix))


def type_error(where: str, what: str, received: str = "", fix: str = "") -> TypeError:
    return WrongType(message(where, what, received, fix))


def failed_check(where: str, what: str, received: str = "", fix: str = "") -> FailedCheck:
    return FailedCheck(message(where, what, received, fix))


def failed_type_check(where: str, what: str, received: str = "", fix: str = "") -> FailedTypeCheck:
    return FailedTypeCheck(message(where, what, received, fix))


def index_error(where: str, what: str, received: str = "", fix: str = "") -> IndexError:
    return IndexError(message(where, what, received, fix))


def runtime_error(where: str, what: str, received: str = "", fix: str = "") -> RuntimeError:
    return RuntimeError(message(where, what, received, fix))


def describe(named: Iterable[tuple[str, object]]) -> str:
    """`x: float32[2, 3], axis: 5` for anything with a printable form."""
    return ", ".join(f"{name}: {value}" for name, value in named)


def is_own(filename: str) -> bool:
    """Whether a frame's code is the package's."""
    return filename.startswith(_OWN)


def user_location(depth: int = 1) -> tuple[str, int]:
    """File and line of the innermost frame outside the package: the user's own code."""
    frame: FrameType | None = sys._getframe(depth)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        filename = frame.f_code.co_filename
        if not is_own(filename):
            return filename, frame.f_lineno
        frame = frame.f_back
    return "<unknown>", 0


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """A warning at the user's line, through however many frames of the package the call came.

    Examples:
        >>> import warnings
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     paddle.distributed.sharding.warn("(example) look here.")
        >>> str(caught[0].message)
        '(example) look here.'
    """
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    level = 2
    while frame is not None and is_own(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level if frame is not None else 2)


def asked_by_user(depth: int = 1, through: tuple[str, ...] = ()) -> bool:
    """Whether a number was asked for by the user's code, not by a function of this package; the files in `through` pass
    questions on."""
    frame: FrameType | None = sys._getframe(depth)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and (
        frame.f_code.co_filename.startswith(_NUMBERS) or frame.f_code.co_filename in through
    ):  # fmt: skip
        frame = frame.f_back
    return frame is not None and not frame.f_code.co_filename.startswith(_OWN)


def locate(error: BaseException, location: tuple[str, int] | None) -> BaseException:
    """Attaches the user's line to an error that is raised later than the call that caused it."""
    if location is not None and not hasattr(error, "proa_location"):
        setattr(error, "proa_location", location)  # noqa: B010 - exceptions of all classes take it
        import linecache

        source = linecache.getline(*location).strip()
        note = f'The operation was called earlier:\n  File "{location[0]}", line {location[1]}'
        error.add_note(f"{note}\n    {source}" if source else note)
    return error
