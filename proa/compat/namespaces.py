"""Names that Paddle also keeps elsewhere: `paddle.functional`, `paddle.special`, `paddle.random`."""

from __future__ import annotations

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
