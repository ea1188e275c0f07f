"""The state of random numbers by device: there is one state for all of them (see core/generator.py)."""

from __future__ import annotations

from ..core.errors import type_error
from ..core.generator import Generator, GeneratorState, default_generator
from ..eager.annotations import DeviceLike
from ..eager.declare import PUBLIC


def _seeded(seed: int) -> Generator:
    """Makes everything random from here on repeatable, on every device."""
    return PUBLIC["seed"](seed)


def manual_seed(seed: int) -> None:
    """Makes everything random from here on repeatable.

    Examples:
        >>> paddle.device.manual_seed(7)
        >>> first = paddle.rand([3])
        >>> paddle.device.manual_seed(7)
        >>> bool((paddle.rand([3]) == first).all())
        True
    """
    _seeded(seed)


def manual_seed_all(seed: int) -> None:
    """Makes everything random from here on repeatable, on every device.

    Examples:
        >>> paddle.device.manual_seed_all(7)
        >>> first = paddle.rand([3])
        >>> paddle.device.manual_seed_all(7)
        >>> bool((paddle.rand([3]) == first).all())
        True
    """
    _seeded(seed)


def get_rng_state(device: DeviceLike | None = None) -> GeneratorState:
    """The state of the random numbers; `set_rng_state` continues from it.

    Examples:
        >>> state = paddle.device.get_rng_state()
        >>> first = paddle.rand([3])
        >>> paddle.device.set_rng_state(state)
        >>> bool((paddle.rand([3]) == first).all())
        True
    """
    return default_generator.get_state()


def set_rng_state(new_state: GeneratorState, device: DeviceLike | None = None) -> None:
    """Continues from a state that `get_rng_state` gave.

    Raises:
        TypeError: the state is not one that `get_rng_state` gave.

    Examples:
        >>> state = paddle.device.get_rng_state()
        >>> first = paddle.rand([3])
        >>> paddle.device.set_rng_state(state)
        >>> bool((paddle.rand([3]) == first).all())
        True
    """
    if not isinstance(new_state, tuple) or len(new_state) != 2:
        raise type_error("set_rng_state", "the state must be one that get_rng_state gave", type(new_state).__name__)
    default_generator.set_state(new_state)


def _top_level_manual_seed(seed: int) -> Generator:
    """Makes everything random from here on repeatable; `seed` by PyTorch's name.

    Args:
        seed: an integer.

    Returns:
        The default generator.

    Examples:
        >>> _ = paddle.manual_seed(7)
        >>> first = paddle.rand([3])
        >>> _ = paddle.manual_seed(7)
        >>> paddle.equal_all(first, paddle.rand([3])).item()
        True
    """
    return _seeded(seed)


_top_level_manual_seed.__name__ = _top_level_manual_seed.__qualname__ = "manual_seed"
PUBLIC["manual_seed"] = _top_level_manual_seed
