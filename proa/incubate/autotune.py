"""`paddle.incubate.autotune`: what is tuned at run time. Kernels and layouts are chosen by XLA and by measured tables."""

from __future__ import annotations

import json
import os
from typing import Any

from ..core.errors import message, type_error, value_error

__all__ = ["set_config"]

_KNOWN = ("kernel", "layout", "dataloader")
_settings: dict[str, dict[str, Any]] = {name: {"enable": False} for name in _KNOWN}


def set_config(config: dict[str, Any] | str | os.PathLike[str] | None = None) -> None:
    """Keeps settings of automatic tuning. They change no result.

    Args:
        config: a dictionary, or a JSON file with one; None for everything on.

    Raises:
        FileNotFoundError: there is no such file.
        TypeError: the configuration, or a part of it, is no dictionary, or "enable" no bool.
        ValueError: the file holds no JSON, or there is no such part.

    Examples:
        >>> paddle.incubate.autotune.set_config({"kernel": {"enable": True}})
        >>> paddle.incubate.autotune.set_config("missing.json")
        Traceback (most recent call last):
            ...
        FileNotFoundError: (autotune.set_config) config must be the path of a JSON file; received 'missing.json', ...
    """
    if config is None:
        given: Any = {name: {"enable": True} for name in _KNOWN}
    elif isinstance(config, dict):
        given = config
    elif isinstance(config, (str, os.PathLike)):
        given = _read(config)
    else:
        raise type_error(
            "autotune.set_config", "config must be a dictionary or the path of a file", type(config).__name__
        )
    if not isinstance(given, dict):
        raise type_error("autotune.set_config", "the file must hold an object of settings", type(given).__name__)
    for name, settings in given.items():
        if name not in _KNOWN:
            raise value_error("autotune.set_config", f"there is no {name!r}", f"{sorted(given)}", f"use {list(_KNOWN)}")
        if not isinstance(settings, dict) or not isinstance(settings.get("enable", False), bool):
            raise type_error(
                "autotune.set_config", f"{name!r} must be a dictionary whose 'enable' is True or False", f"{settings!r}"
            )
    _settings.update({name: dict(settings) for name, settings in given.items()})


def _read(path: str | os.PathLike[str]) -> Any:
    where, wanted = "autotune.set_config", "config must be the path of a JSON file"
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        raise FileNotFoundError(message(where, wanted, f"{os.fspath(path)!r}, which is not there")) from None
    except ValueError as error:
        raise value_error(where, wanted, f"{os.fspath(path)!r}: {error}") from None
