"""What an executable is given that may write over its inputs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from proa.core.aval import Aval
from proa.core.place import CPU
from proa.ir.program import Program
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


def program_of(*outputs: Any) -> Program:
    """A program with such results."""
    avals = tuple(Aval(output.shape, output.dtype, CPU) for output in outputs)
    instruction = SimpleNamespace(made=range(len(avals)), outputs=avals)
    return cast(Program, SimpleNamespace(outputs=tuple(range(len(avals))), instructions=[instruction]))


def parts_of_one_piece() -> list[Any]:
    piece = np.zeros((3, 4))
    return [np.ones(4), piece[1], np.ones(4), piece[2]]


def test_parts_of_a_larger_array_are_given_only_where_nothing_else_fits() -> None:
    assert donation.choose(parts_of_one_piece(), program_of(np.ones(4), np.ones(4))) == (0, 2)
    assert donation.choose(parts_of_one_piece(), program_of(*[np.ones(4)] * 3)) == (0, 1, 2)
    assert donation.choose(parts_of_one_piece(), program_of(*[np.ones(4)] * 9)) == (0, 1, 2, 3)
    # Results of another shape or dtype make no room for them.
    assert donation.choose(parts_of_one_piece(), program_of(*[np.ones(5)] * 9)) == (0, 2)
    assert donation.choose(parts_of_one_piece(), program_of(*[np.ones(4, np.float32)] * 9)) == (0, 2)


def test_an_array_in_another_shape_is_no_part() -> None:
    inputs: list[Any] = [np.zeros(6).reshape(2, 3), np.zeros((3, 2)).T, np.array(2.0)]
    assert donation.choose(inputs, program_of()) == (0, 1, 2)


def test_parts_that_others_refer_to_are_never_given() -> None:
    inputs = parts_of_one_piece()
    held = inputs[1]
    assert donation.choose(inputs, program_of(*[np.ones(4)] * 9)) == (0, 2, 3)
    assert held is inputs[1]
