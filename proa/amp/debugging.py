"""`paddle.amp.debugging`: which operations ran in which type, and where numbers went wrong.

Operations are counted by an observer in the scope (see `scope.py`). Values are checked by the recorder under
`FLAGS_check_nan_inf`; where a config asks for more than an error at the first bad value (statistics, chosen operators, a
file), operations run one by one and `numerics.py` looks at each result.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

from ..core.errors import runtime_error, type_error
from ..core.flags import get, set_flags
from ..eager.tensor import Tensor
from ..ir.program import Instruction
from ..ir.recorder import flush_current, set_scope, verify_values
from .amp_lists import dtype_of, name_of
from .casting import current
from .comparison import compare_accuracy
from .numerics import DebugMode, TensorCheckerConfig, check_numerics
from .scope import scope_of

__all__ = [
    "DebugMode",
    "TensorCheckerConfig",
    "check_layer_numerics",
    "check_numerics",
    "collect_operator_stats",
    "compare_accuracy",
    "disable_operator_stats_collection",
    "disable_tensor_checker",
    "enable_operator_stats_collection",
    "enable_tensor_checker",
]

# ---- operator statistics -------------------------------------------------------------------------

_COLUMNS = ("float16", "bfloat16", "float32")
_WIDTH = 120


class _Counts(threading.local):
    """By operator: calls in float16, bfloat16, float32 and anything else; None while nobody counts."""

    calls: dict[str, list[int]] | None = None


_COUNTS = _Counts()


def _count(instruction: Instruction) -> None:
    # One function for all collections: it is part of the scope, which is a place in the trace tree.
    calls = _COUNTS.calls
    if calls is None:
        return
    name = name_of(instruction.operation, instruction.kinds, instruction.attributes)
    dtype = dtype_of(instruction.kinds)
    row = calls.setdefault(name, [0, 0, 0, 0])
    row[_COLUMNS.index(dtype) if dtype in _COLUMNS else 3] += 1


def enable_operator_stats_collection() -> None:
    """Begins to count the operations that this thread calls, by operator and data type (not those of backward).

    Examples:
        >>> import contextlib, io
        >>> printed = io.StringIO()
        >>> paddle.amp.debugging.enable_operator_stats_collection()
        >>> _ = paddle.ones([2]) + paddle.ones([2])
        >>> with contextlib.redirect_stdout(printed):
        ...     paddle.amp.debugging.disable_operator_stats_collection()
        >>> "elementwise_add" in printed.getvalue()
        True
    """
    _COUNTS.calls = {}
    set_scope(scope_of(current(), _count))


def disable_operator_stats_collection() -> None:
    """Ends counting and prints the table; nothing when nobody counts.

    Examples:
        >>> paddle.amp.debugging.disable_operator_stats_collection()
    """
    calls, _COUNTS.calls = _COUNTS.calls, None
    set_scope(scope_of(current(), None))
    if calls is not None:
        _print_table(calls)


@contextlib.contextmanager
def collect_operator_stats() -> Iterator[None]:
    """Counts operations by operator and data type inside a `with` block and prints the table at its end.

    Examples:
        >>> import contextlib, io
        >>> printed = io.StringIO()
        >>> with contextlib.redirect_stdout(printed), paddle.amp.debugging.collect_operator_stats():
        ...     _ = paddle.ones([2, 2]) @ paddle.ones([2, 2])
        >>> "op count: 2" in printed.getvalue()
        True
    """
    enable_operator_stats_collection()
    try:
        yield
    finally:
        disable_operator_stats_collection()


def _print_table(calls: dict[str, list[int]]) -> None:
    titles = (("Op Name", 40), ("FP16 Calls", 17), ("BF16 Calls", 17), ("FP32 Calls", 17), ("Other Calls", 17))
    heads = [f" {title} ".center(width, "-") for title, width in titles]
    print(f"<{' op list '.center(_WIDTH, '-')}>")
    print(f"<{' | '.join(heads)}>")
    for name, row in sorted(calls.items()):
        print(f"  {name:<40}" + "|".join(["", *(f"  {count:<17}" for count in row)]))
    print(f"<{f' op count: {len(calls)} '.center(_WIDTH, '-')}>\n")


# ---- checking values -----------------------------------------------------------------------------


def enable_tensor_checker(checker_config: TensorCheckerConfig) -> None:
    """Checks every floating result from now on as the config says; to be called once for each step.

    Args:
        checker_config: a `TensorCheckerConfig`.

    Raises:
        TypeError: it is none.

    Examples:
        >>> from proa.amp import debugging
        >>> debugging.enable_tensor_checker(debugging.TensorCheckerConfig(True))
        >>> paddle.log(paddle.to_tensor([0.0])).numpy()
        Traceback (most recent call last):
            ...
        proa.ir.watch.NonFiniteError: (log) the result float32[1] has NaN or infinite elements; ...
        >>> debugging.disable_tensor_checker()
    """
    if not isinstance(checker_config, TensorCheckerConfig):
        raise type_error("enable_tensor_checker", "a TensorCheckerConfig is needed", type(checker_config).__name__)
    if checker_config.update_and_check_step_id():
        checker_config.start_check_nan_inf()
    else:
        checker_config.stop_check_nan_inf()


def disable_tensor_checker() -> None:
    """Ends the checks of `enable_tensor_checker`.

    Examples:
        >>> from proa.amp import debugging
        >>> debugging.enable_tensor_checker(debugging.TensorCheckerConfig(True))
        >>> debugging.disable_tensor_checker()
        >>> paddle.log(paddle.to_tensor([0.0])).tolist()
        [-inf]
    """
    TensorCheckerConfig.restore_flags()


def check_layer_numerics(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a layer's `forward`: its inputs and everything computed in it must be finite.

    Args:
        func: the `forward`.

    Raises:
        TypeError: it cannot be called.

    Examples:
        >>> class Log(paddle.nn.Layer):
        ...     @paddle.amp.debugging.check_layer_numerics
        ...     def forward(self, x):
        ...         return x.log()
        >>> Log()(paddle.to_tensor([1.0])).tolist()
        [0.0]
        >>> Log()(paddle.to_tensor([float("nan")]))
        Traceback (most recent call last):
            ...
        proa.ir.watch.NonFiniteError: (Log.forward) the result has NaN or infinite elements; ...
    """
    if not callable(func):
        raise type_error("check_layer_numerics", "a function is needed", type(func).__name__)

    @functools.wraps(func)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not args:
            raise runtime_error(
                f"{type(self).__name__}.forward", "there is no input to check", fix="pass the input by position"
            )
        for position, value in enumerate(args):
            if isinstance(value, Tensor) and value._aval.dtype.kind not in "biu":
                check_numerics(value, f"{type(self).__name__}.forward", f"args[{position}]")
        before = get("FLAGS_check_nan_inf")
        set_flags({"FLAGS_check_nan_inf": True})
        try:
            result = func(self, *args, **kwargs)
            flush_current()
            verify_values()  # what ran compiled is judged here and not at the first read
        finally:
            set_flags({"FLAGS_check_nan_inf": before})
        return result

    return wrapper
