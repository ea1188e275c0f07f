"""Names that Paddle also keeps elsewhere: `paddle.functional`, `paddle.special`, `paddle.random`.

`paddle.utils.try_import` stands here as well: it imports whatever the user names, so it is above everything.
"""

from __future__ import annotations

import importlib
from typing import Any

from ..core.generator import default_generator
from ..eager.declare import PUBLIC, public

_ELSEWHERE = {
    "functional": "atleast_1d atleast_2d atleast_3d broadcast_shapes einsum meshgrid norm unique_consecutive",
    "special": "expm1 logsumexp",
}

# `functional.split` and `special.softmax` are PyTorch's: declared with their kin in this package.
for _module, _names in _ELSEWHERE.items():
    for _name in _names.split():
        if _name in PUBLIC:
            PUBLIC[f"{_module}.{_name}"] = PUBLIC[_name]


@public(module="random")
def initial_seed() -> int:
    """The seed that random numbers are made from.

    Examples:
        >>> _ = paddle.seed(42)
        >>> paddle.random.initial_seed()
        42
    """
    return default_generator.initial_seed()


@public(module="utils")
def try_import(module_name: str, err_msg: str | None = None) -> Any:
    """Imports a module; ImportError with `err_msg`, or with a hint to install it, where there is none.

    Examples:
        >>> paddle.utils.try_import("math").sqrt(4)
        2.0
        >>> paddle.utils.try_import("no_such_module", "install it first")
        Traceback (most recent call last):
            ...
        ImportError: install it first
    """
    try:
        return importlib.import_module(module_name)
    except ImportError as error:
        missing = module_name.partition(".")[0]
        text = err_msg or (
            f"(try_import) cannot import {module_name}: {error}; it is needed for this feature and not among the "
            f"package's own requirements: install it, for instance with `pip install {missing}`."
        )
        raise ImportError(text) from None
