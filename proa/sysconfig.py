"""`paddle.sysconfig`: where the headers for custom operations are."""

from __future__ import annotations

import importlib.util
import os

from .core.errors import runtime_error

__all__ = ["get_include", "get_lib"]


def _jaxlib_folder(where: str) -> str:
    found = importlib.util.find_spec("jaxlib")
    if found is None or found.origin is None:
        raise runtime_error(where, "jaxlib is not installed")
    return os.path.dirname(found.origin)


def get_include() -> str:
    """The folder with the headers of XLA's interface for custom operations.

    Examples:
        >>> import os
        >>> os.path.exists(os.path.join(paddle.sysconfig.get_include(), "xla", "ffi", "api", "ffi.h"))
        True
    """
    return os.path.join(_jaxlib_folder("sysconfig.get_include"), "include")


def get_lib() -> str:
    """The folder of the compiled libraries. Custom operations need not link against any of them.

    Examples:
        >>> import os
        >>> os.path.isdir(paddle.sysconfig.get_lib())
        True
    """
    return _jaxlib_folder("sysconfig.get_lib")
