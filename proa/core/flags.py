"""Run-time switches: `FLAGS_…` by `set_flags`, each with an environment variable of the same name.

`PROA_EAGER`, `PROA_CACHE_DIR` and `PROA_CACHE_SIZE_MB` are read here too, so that the whole list is in one place.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

from .errors import type_error, value_error


@dataclass
class _Flag:
    value: Any
    kind: type[Any]
    about: str
    environment: str = ""


_FLAGS: dict[str, _Flag] = {}
_LISTENERS: list[Callable[[str], None]] = []


def _convert(name: str, kind: type[Any], value: Any) -> Any:
    try:
        if kind is bool and isinstance(value, str):
            lowered = value.strip().lower()
            if lowered in ("1", "true", "yes", "on"):
                return True
            if lowered in ("0", "false", "no", "off", ""):
                return False
            raise ValueError(value)
        return kind(value)
    except (TypeError, ValueError):
        raise value_error("set_flags", f"{name} takes a {kind.__name__}", f"{value!r}") from None


def define(name: str, default: Any, about: str, environment: str | None = None) -> None:
    kind = cast("type[Any]", type(default))
    text = os.environ.get(environment or name)
    _FLAGS[name] = _Flag(default if text is None else _convert(name, kind, text), kind, about, environment or name)


define("FLAGS_check_nan_inf", False, "Raise when an operation gives NaN or infinity; names the operation and line.")
define(
    "FLAGS_eager_mode", "auto", "auto: hot code compiles itself; immediate: every operation runs at once.", "PROA_EAGER"
)
define("FLAGS_window", 20000, "How many operations may wait before they are run.", "PROA_WINDOW")
define(
    "FLAGS_hot_threshold", 0,
    "How often a segment must be seen before it is compiled; 0: when the work spent on it exceeds what compiling costs.",
    "PROA_HOT_THRESHOLD",
)  # fmt: skip
define(
    "FLAGS_pending_mb", 128,
    "Memory that only waiting operations refer to, from which on they are run although nobody has looked.",
    "PROA_PENDING_MB",
)  # fmt: skip
define(
    "FLAGS_size_buckets", "auto",
    "Whether code whose sizes keep changing is compiled for buckets of sizes: auto (where that saves work), always, never.",
    "PROA_SIZE_BUCKETS",
)  # fmt: skip
define(
    "FLAGS_cpu_deterministic", False,
    "A program that is started again gives the same bits: segments are compiled when first seen and cut where the code "
    "says, not where it was learned.",
)  # fmt: skip
define(
    "FLAGS_cudnn_deterministic", False,
    "Convolutions that run op by op on an NVIDIA GPU take only algorithms of cuDNN's that give the same bits every time.",
)  # fmt: skip
define(
    "FLAGS_allow_objects", False, "Let paddle.load read objects, which can run any code: for files that you trust.",
    "PROA_ALLOW_OBJECTS",
)  # fmt: skip
define("FLAGS_full_traceback", False, "Show proa's own frames in tracebacks.", "PROA_FULL_TRACEBACK")
define("FLAGS_max_programs", 512, "How many compiled programs are kept; the least recently used one goes first.")
define("FLAGS_cache_dir", "", "Folder of XLA's persistent compilation cache.", "PROA_CACHE_DIR")
define("FLAGS_cache_size_mb", 2048, "Size limit of that folder.", "PROA_CACHE_SIZE_MB")

# Flags of Paddle's that programs ask for, with its values on a CPU. They mean nothing here.
_UNUSED: dict[str, Any] = {
    "FLAGS_allocator_strategy": "auto_growth", "FLAGS_auto_growth_chunk_size_in_mb": 0, "FLAGS_benchmark": False,
    "FLAGS_call_stack_level": 1, "FLAGS_check_nan_inf_level": 0,
    "FLAGS_cudnn_exhaustive_search": False, "FLAGS_eager_delete_tensor_gb": 0.0, "FLAGS_embedding_deterministic": 0,
    "FLAGS_enable_pir_api": True, "FLAGS_enable_pir_in_executor": True, "FLAGS_fast_eager_deletion_mode": True,
    "FLAGS_fraction_of_cpu_memory_to_use": 1.0, "FLAGS_fraction_of_cuda_pinned_memory_to_use": 0.5,
    "FLAGS_fraction_of_gpu_memory_to_use": 0.92, "FLAGS_gpu_memory_limit_mb": 0, "FLAGS_initial_cpu_memory_in_mb": 500,
    "FLAGS_initial_gpu_memory_in_mb": 0, "FLAGS_low_precision_op_list": 0, "FLAGS_max_inplace_grad_add": 0,
    "FLAGS_memory_fraction_of_eager_deletion": 1.0, "FLAGS_new_executor_serial_run": False,
    "FLAGS_paddle_num_threads": 1, "FLAGS_print_ir": False, "FLAGS_reallocate_gpu_memory_in_mb": 0,
    "FLAGS_set_to_1d": False, "FLAGS_sort_sum_gradient": False, "FLAGS_use_autotune": False,
    "FLAGS_use_cinn": False, "FLAGS_use_mkldnn": False, "FLAGS_use_pinned_memory": True, "FLAGS_use_stride_kernel": True,
    "FLAGS_use_system_allocator": False,
}  # fmt: skip


def get(name: str) -> Any:
    return _FLAGS[name].value


def get_flags(flags: str | Iterable[str]) -> dict[str, Any]:
    """The values of some flags.

    Args:
        flags: a name, or several.

    Returns:
        A dictionary by name.

    Raises:
        TypeError: neither a name nor a list of names.
        ValueError: there is no such flag.

    Examples:
        >>> paddle.get_flags("FLAGS_check_nan_inf")
        {'FLAGS_check_nan_inf': False}
    """
    if not isinstance(flags, (str, list, tuple)):
        raise type_error("get_flags", "a name or a list of names is wanted", type(flags).__name__)
    names = [flags] if isinstance(flags, str) else list(flags)
    for name in names:
        if name not in _FLAGS and name not in _UNUSED:
            raise value_error("get_flags", f"there is no flag {name!r}", fix=f"known: {', '.join(sorted(_FLAGS))}")
    return {name: _FLAGS[name].value if name in _FLAGS else _UNUSED[name] for name in names}


def set_flags(flags: dict[str, Any]) -> None:
    """Sets flags. A flag of Paddle's that means nothing here is remembered and ignored.

    Args:
        flags: values by name.

    Raises:
        TypeError: no dictionary.
        ValueError: a name does not begin with `FLAGS_`.

    Examples:
        >>> paddle.set_flags({"FLAGS_check_nan_inf": False})
        >>> paddle.get_flags(["FLAGS_check_nan_inf"])
        {'FLAGS_check_nan_inf': False}
    """
    given: Any = flags  # whatever the annotation says
    if not isinstance(given, dict):
        raise type_error("set_flags", "a dictionary of flags is wanted", type(given).__name__)
    for name, value in flags.items():
        if name in _FLAGS:
            _FLAGS[name].value = _convert(name, _FLAGS[name].kind, value)
        elif name.startswith("FLAGS_"):
            _FLAGS[name] = _Flag(
                value, cast("type[Any]", type(value)), "Not used by proa; kept for programs that set it."
            )
        else:
            raise value_error("set_flags", f"there is no flag {name!r}", fix="flags begin with FLAGS_")
        for listener in _LISTENERS:
            listener(name)


def environment_names() -> list[str]:
    """The environment variables that set flags."""
    return sorted(flag.environment for flag in _FLAGS.values() if flag.environment)


def on_change(listener: Callable[[str], None]) -> None:
    """Calls `listener(name)` after every change of a flag."""
    _LISTENERS.append(listener)
