"""The logger that distributed programs write to."""

from __future__ import annotations

import logging
from typing import Any

logger = logging.getLogger("paddle.distributed")
if not logger.handlers:
    _handler = logging.StreamHandler()
    _handler.setFormatter(logging.Formatter("[%(asctime)s] [%(levelname)8s] %(filename)s:%(lineno)d - %(message)s"))
    logger.addHandler(_handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False


def set_log_level(level: Any) -> None:
    """By number or name."""
    logger.setLevel(level if isinstance(level, int) else str(level).upper())


def get_log_level_code() -> int:
    return logger.getEffectiveLevel()


def get_log_level_name() -> str:
    return logging.getLevelName(get_log_level_code())


def layer_to_str(base: str, *args: Any, **kwargs: Any) -> str:
    """How a layer with these arguments is written."""
    given = [*map(str, args), *(f"{name}={value}" for name, value in kwargs.items())]
    return f"{base}({', '.join(given)})"


def check_memory_usage(msg: str = "") -> None:
    """Memory is asked for with paddle.device.cuda.memory_allocated()."""
