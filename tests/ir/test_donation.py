"""What an executable is given that may write over its inputs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from proa.ir.transforms import donation


def executable(*donated: int) -> Any:
    return SimpleNamespace(donated=donated, copies=0)


def test_arrays_of_numpy_that_nobody_else_needs_make_room_for_their_copies() -> None:
    inputs: list[Any] = [np.full(3, float(i)) for i in range(3)]
    compiled = executable(0, 2)
    given = donation.protect(inputs, compiled)
    assert given is inputs
    assert [isinstance(value, np.ndarray) for value in inputs] == [False, True, False]
    assert [float(value[0]) for value in given] == [0.0, 1.0, 2.0]
    assert compiled.copies == 2


def test_what_others_refer_to_is_copied_and_the_list_keeps_it() -> None:
    import jax.numpy as jnp

    of_numpy, of_jax = np.ones(3), jnp.ones(3)
    inputs: list[Any] = [of_numpy, of_jax, jnp.full(3, 5.0)]
    alone = id(inputs[2])
    compiled = executable(0, 1, 2)
    given = donation.protect(inputs, compiled)
    assert inputs[0] is of_numpy
    assert inputs[1] is of_jax
    assert given[0] is not of_numpy
    assert given[1] is not of_jax
    assert id(given[2]) == alone  # nobody else refers to it: it is not copied because others were
    assert compiled.copies == 2


def test_without_donation_nothing_is_touched() -> None:
    inputs: list[Any] = [np.ones(3)]
    assert donation.protect(inputs, executable()) is inputs
    assert isinstance(inputs[0], np.ndarray)
