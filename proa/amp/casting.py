"""`auto_cast` (`amp_guard`, `paddle.autocast`), and the questions what holds at the moment.

The state belongs to the calling thread: it is the scope of what the thread records (see `scope.py`).
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import warnings
from collections.abc import Callable, Iterable
from typing import Any, cast

from ..core.dtype import name_of, to_numpy_dtype
from ..core.errors import type_error, value_error
from ..core.place import CPU, Place, parse_place
from ..eager.annotations import DeviceLike, DTypeLike
from ..eager.declare import PUBLIC
from ..ir.recorder import LOCAL, set_scope
from .amp_lists import black_list, canonical, white_list
from .scope import AmpScope, Autocast, autocast_of, scope_of

_LEVELS = ("O0", "OD", "O1", "O2")
_DEFAULT_DTYPE = "float16"


class AmpState:
    """What outlives an `auto_cast` block: the type used last, by which a loss scaler knows whether it is needed."""

    last_dtype = "float32"


def current() -> Autocast | None:
    """The settings that hold for this thread now; None when nothing is cast."""
    scope = LOCAL.scope
    return scope.autocast if isinstance(scope, AmpScope) else None


def supports(dtype: str, place: Place) -> bool:
    """Whether a device computes in a low type well enough to be asked to."""
    return dtype == "bfloat16" or place is not CPU


class _Casting(contextlib.ContextDecorator):
    """The context manager; every entry puts the thread into the scope, every exit back where it was."""

    def __init__(self, settings: Autocast | None) -> None:
        self._settings = settings
        self._before: list[Autocast | None] = []  # a stack: one object may be entered again inside itself

    def __enter__(self) -> None:
        scope = LOCAL.scope
        if self._settings is not None:
            AmpState.last_dtype = self._settings.dtype
        self._before.append(current())
        set_scope(scope_of(self._settings, None if scope is None else scope.observe))

    def __exit__(self, *error: Any) -> None:
        scope = LOCAL.scope  # whoever began to watch inside the block watches on
        set_scope(scope_of(self._before.pop(), None if scope is None else scope.observe))

    def __call__(self, func: Any) -> Any:
        if inspect.isgeneratorfunction(func) or inspect.iscoroutinefunction(func):
            raise type_error(
                "auto_cast", "a generator or coroutine function cannot be decorated", getattr(func, "__name__", "?"),
                "open the block inside the function",
            )  # fmt: skip
        settings = self._settings

        @functools.wraps(func)
        def call(*arguments: Any, **options: Any) -> Any:
            with _Casting(settings):
                return func(*arguments, **options)

        return call


def auto_cast(
    enable: bool = True,
    custom_white_list: Iterable[str] | None = None,
    custom_black_list: Iterable[str] | None = None,
    level: str = "O1",
    dtype: DTypeLike = "float16",
    use_promote: bool = True,
) -> Any:
    """Mixed precision inside a `with` block (or a decorated function): operands are cast before each operation.

    O1: operators of the white list compute in `dtype`, those of the black list in float32, all others in the widest
    type among their operands. O2: the same with a much shorter black list; with `use_promote=False` all others compute
    in `dtype` too. OD: the white list in `dtype`, everything else in float32. O0: nothing is cast.

    Float16 is not for a CPU: there the block has no effect, and says so; bfloat16 works on every device.

    Args:
        enable: False casts nothing.
        custom_white_list: further operators for the white list, by Paddle's names (`conv2d`, `matmul_v2`, …).
        custom_black_list: further operators for the black list.
        level: 'O0', 'OD', 'O1' or 'O2'.
        dtype: 'float16' or 'bfloat16'.
        use_promote: at O2, lets operators on no list compute in the widest type among their operands.

    Raises:
        ValueError: an option is unknown, or the custom lists overlap.
        TypeError: a list holds something else than names.

    Examples:
        >>> with paddle.amp.auto_cast(dtype="bfloat16"):
        ...     product = paddle.ones([2, 2]) @ paddle.ones([2, 2])
        >>> product.dtype
        paddle.bfloat16
    """
    return _Casting(_settings("auto_cast", enable, custom_white_list, custom_black_list, level, dtype, use_promote))


amp_guard = auto_cast


def _settings(
    where: str,
    enable: Any,
    custom_white_list: Iterable[str] | None,
    custom_black_list: Iterable[str] | None,
    level: str,
    dtype: Any,
    use_promote: bool,
) -> Autocast | None:
    if not isinstance(level, str) or level.upper() not in _LEVELS:
        raise value_error(where, "level should be O0, OD, O1 or O2", repr(level))
    level = level.upper()
    if not enable or level == "O0":
        return None
    name = low_dtype(where, dtype)
    added_white = _custom_list(where, "custom_white_list", custom_white_list)
    added_black = _custom_list(where, "custom_black_list", custom_black_list)
    both = sorted(added_white & added_black)
    if both:
        raise value_error(where, "the custom white list and the custom black list overlap", ", ".join(both))
    if not supports(name, LOCAL.place):
        warnings.warn(
            f"({where}) {name} is not for the device {LOCAL.place}, so mixed precision has no effect; "
            "use dtype='bfloat16' to have it on a CPU.",
            stacklevel=3,
        )
        return None
    white, black = _lists(name, level)
    if added_white or added_black:
        white, black = (white | added_white) - added_black, (black | added_black) - added_white
    return autocast_of(name, level, bool(use_promote), white, black)


@functools.cache
def _lists(dtype: str, level: str) -> tuple[frozenset[str], frozenset[str]]:
    white, black = (
        frozenset(canonical(name) for name in lists[dtype][level]) for lists in (white_list(), black_list())
    )
    return white, black


def low_dtype(where: str, dtype: Any) -> str:
    """'float16' or 'bfloat16' for any way to write them; ValueError for other types."""
    if dtype in ("float16", "bfloat16"):
        return dtype
    try:
        name = name_of(to_numpy_dtype(dtype))
    except (TypeError, ValueError):
        name = repr(dtype)
    if name not in ("float16", "bfloat16"):
        raise value_error(where, "dtype should be 'float16' or 'bfloat16'", name)
    return name


def _custom_list(where: str, what: str, given: Iterable[str] | None) -> frozenset[str]:
    if given is None:
        return frozenset()
    if not isinstance(given, (list, tuple, set, frozenset)) or not all(isinstance(name, str) for name in given):
        raise type_error(where, f"{what} must be a set or list of operator names", repr(given))
    return frozenset(map(canonical, cast("Iterable[str]", given)))


def autocast(device_type: str, dtype: DTypeLike = "float16", enabled: bool = True, cache_enabled: bool = True) -> Any:
    """Mixed precision for a block, called as in PyTorch: `amp.auto_cast` at level O1.

    Args:
        device_type: accepted; the device of the tensors decides.
        dtype: the low type, "float16" or "bfloat16".
        enabled: False changes nothing.
        cache_enabled: accepted.

    Examples:
        >>> with paddle.autocast("cpu", dtype="bfloat16"):
        ...     y = paddle.ones([2, 2]) @ paddle.ones([2, 2])
        >>> y.dtype
        paddle.bfloat16
    """
    return auto_cast(enable=enabled, dtype=dtype)


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether mixed precision is in force, in this thread.

    Args:
        device_type: accepted.

    Examples:
        >>> paddle.is_autocast_enabled()
        False
        >>> with paddle.autocast("cpu", dtype="bfloat16"):
        ...     paddle.is_autocast_enabled()
        True
    """
    return current() is not None


def get_autocast_dtype(device_type: str | None = None) -> str:
    """The low type that mixed precision uses now, or would use by default.

    Args:
        device_type: accepted.

    Examples:
        >>> with paddle.autocast("cpu", dtype="bfloat16"):
        ...     paddle.get_autocast_dtype()
        'bfloat16'
    """
    settings = current()
    return _DEFAULT_DTYPE if settings is None else settings.dtype


def get_autocast_cpu_dtype(device_type: str | None = None) -> str:
    """The low type that mixed precision uses now; the same as `get_autocast_dtype`.

    Args:
        device_type: accepted.

    Examples:
        >>> paddle.get_autocast_cpu_dtype()
        'float16'
    """
    return get_autocast_dtype(device_type)


def get_autocast_gpu_dtype(device_type: str | None = None) -> str:
    """The low type that mixed precision uses now; the same as `get_autocast_dtype`.

    Args:
        device_type: accepted.

    Examples:
        >>> paddle.get_autocast_gpu_dtype()
        'float16'
    """
    return get_autocast_dtype(device_type)


def is_float16_supported(device: DeviceLike | None = None) -> bool:
    """Whether mixed precision in float16 works on a device.

    Args:
        device: the device; the current one if left out.

    Examples:
        >>> paddle.amp.is_float16_supported("cpu")
        False
    """
    return supports("float16", _place("is_float16_supported", device))


def is_bfloat16_supported(device: DeviceLike | None = None) -> bool:
    """Whether mixed precision in bfloat16 works on a device.

    Args:
        device: the device; the current one if left out.

    Examples:
        >>> paddle.amp.is_bfloat16_supported("cpu")
        True
    """
    return supports("bfloat16", _place("is_bfloat16_supported", device))


def _place(where: str, device: Any) -> Place:
    return LOCAL.place if device is None else parse_place(device)


_TOP_LEVEL: tuple[Callable[..., Any], ...] = (
    autocast, is_autocast_enabled, get_autocast_dtype, get_autocast_cpu_dtype, get_autocast_gpu_dtype,
)  # fmt: skip
for _function in _TOP_LEVEL:
    PUBLIC[_function.__name__] = _function
