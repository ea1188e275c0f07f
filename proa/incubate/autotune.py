"""`paddle.incubate.autotune`: what is tuned at run time. Kernels and layouts are chosen by XLA and by measured tables."""

from __future__ import annotations

import json
import os
from typing import Any

from ..core.errors import type_error, value_error

_KNOWN = ("kernel", "layout", "dataloader")
_settings: dict[str, dict[str, Any]] = {name: {"enable": False} for name in _KNOWN}


def set_config(config: dict[str, Any] | str | os.PathLike[str] | None = None) -> None:
    """Keeps settings of automatic tuning. They change no result.

    Args:
        config: a dictionary, or a JSON file with one; None for everything on.

    Examples:
        >>> paddle.incubate.autotune.set_config({"kernel": {"enable": True}})
        >>> paddle.incubate.autotune.set_config("missing.json")
        Traceback (most recent call last):
            ...
        FileNotFoundError: [Errno 2] No such file or directory: 'missing.json'
    """
    if config is None:
        given: Any = {name: {"enable": True} for name in _KNOWN}
    elif isinstance(config, dict):
        given = config
    elif isinstance(config, (str, os.PathLike)):
        with open(config, encoding="utf-8") as file:
            given = json.load(file)
    else:
        raise type_error(
            "autotune.set_config", "config must be a dictionary or the path of a file", type(config).__name__
        )
    for name, settings in given.items():
        if name not in _KNOWN:
            raise value_error("autotune.set_config", f"there is no {name!r}", f"{sorted(given)}", f"use {list(_KNOWN)}")
        if not isinstance(settings.get("enable", False), bool):
            raise type_error("autotune.set_config", "'enable' must be True or False", f"{settings!r}")
        _settings[name] = dict(settings)
