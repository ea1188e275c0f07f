"""`paddle.utils.unique_name`: names that are counted up, and a counting of one's own for a while.

Layers and parameters are counted by the same generator (`eager/naming.py`), so that a model built inside `guard()` gets
the same names every time.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from ..core.errors import type_error
from ..eager import naming
from ..eager.naming import UniqueNameGenerator

__all__ = ["generate", "guard", "switch"]


def generate(key: str) -> str:
    """`key_0` at first, then `key_1` …

    Examples:
        >>> with paddle.utils.unique_name.guard():
        ...     print(paddle.utils.unique_name.generate("fc"), paddle.utils.unique_name.generate("fc"))
        fc_0 fc_1
    """
    return naming.unique_name(key)


def switch(new_generator: Any = None, new_para_name_checker: Any = None) -> tuple[UniqueNameGenerator, Any]:
    """Counts with another generator (a fresh one by default) from now on; gives the one used so far.

    The second of the pair is what Paddle checks parameters' names with; there is nothing to check here.

    Args:
        new_generator: a generator; None: a fresh one.
        new_para_name_checker: taken, and given back.

    Examples:
        >>> before, checker = paddle.utils.unique_name.switch()
        >>> paddle.utils.unique_name.generate("fc")
        'fc_0'
        >>> generator, checker = paddle.utils.unique_name.switch(before)
    """
    return naming.switch(_generator("unique_name.switch", new_generator)), new_para_name_checker


def guard(new_generator: Any = None) -> AbstractContextManager[None]:
    """Counts from 0 inside, with a prefix if a string is given, and goes on as before outside.

    Args:
        new_generator: a prefix, a generator, or None.

    Examples:
        >>> with paddle.utils.unique_name.guard("net/"):
        ...     print(paddle.utils.unique_name.generate("fc"))
        net/fc_0
    """
    if isinstance(new_generator, bytes):
        new_generator = new_generator.decode()
    if isinstance(new_generator, str):
        new_generator = UniqueNameGenerator(new_generator)
    return naming.guard(_generator("unique_name.guard", new_generator))


def _generator(where: str, given: Any) -> UniqueNameGenerator | None:
    if given is None or isinstance(given, UniqueNameGenerator):
        return given
    raise type_error(where, "a generator comes from switch() or guard()", type(given).__name__)
