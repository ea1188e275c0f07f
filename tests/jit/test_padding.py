"""Padding rules: with garbage behind its data, a program computes what it computes without (forward and backward)."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import proa as paddle
import proa.nn.functional as F
from proa.ir.operation import all_operations
from proa.ir.padding.analysis import rule_of
from proa.ir.padding.growth import grows
from proa.ir.tiers.interpreter import Problem
from tests.jit.padding_cases import CASES, PARAMETERS, TABLE
from tests.jit.padding_harness import Padded, with_gradients

SIZES = ((3, 7), (2, 5), (4, 11))
EXAMPLES = {"b": 3, "t": 7, "s": 5, "h": 9, "w": 11}
BUCKET = {"b": 5, "t": 12, "s": 14, "h": 17, "w": 16}
COMPILED = (
    "next word",
    "batch norm",
    "mean pool",
    "lstm both ways",
    "dropout",
    "joined",
    "in reverse",
    "negative numbers",
)


def captured(name: str) -> tuple[Padded, str]:
    function, inputs = CASES[name]
    letters = "".join(sorted({letter for shape, _ in inputs for letter in shape if letter.isalpha()}))
    return Padded(with_gradients(function, *PARAMETERS), inputs, EXAMPLES), letters


def check(name: str, compiled: bool) -> None:
    program, letters = captured(name)
    assert program.plan.reasons == []
    assert program.padded == letters
    for seed, (batch, length) in enumerate(SIZES[1:2] if compiled else SIZES):
        sizes = {"b": batch, "t": length, "s": length + 1, "h": length + 3, "w": length + 2}
        program.check(sizes, BUCKET, seed, compiled)


@pytest.mark.parametrize("name", CASES)
def test_what_lies_behind_the_data_changes_nothing(name: str) -> None:
    check(name, compiled=False)


@pytest.mark.parametrize("name", COMPILED)
def test_nor_does_it_in_an_executable(name: str) -> None:
    check(name, compiled=True)


@pytest.mark.parametrize("name", ["product", "sorted", "extremes", "next word", "rest set"])
def test_a_bucket_of_exactly_the_size_and_a_batch_of_one(name: str) -> None:
    program, _ = captured(name)
    program.check({"b": 5, "t": 12}, BUCKET)
    program.check({"b": 1, "t": 2}, BUCKET)


def test_values_that_are_no_numbers_stay_where_they_were() -> None:
    """NaN and infinities among the data are not mistaken for what is behind it."""
    program = Padded(
        lambda x: [x.sort(axis=1), x.argsort(axis=1), x.max(axis=1), x.argmin(axis=1)], [("bt", "p")], EXAMPLES
    )
    rng = np.random.default_rng(0)
    program._data = lambda _rng, _kind, shape: rng.choice(  # type: ignore[method-assign]
        np.array([np.nan, np.inf, -np.inf, 1.0, 2.0], np.float32), shape
    )
    program.check({"b": 4, "t": 9}, BUCKET)


# What padded programs are made of; derived gradients; calls between programs; operations of users; what converted
# code prints and asserts, which happens to the values as they are; exchanges between processes, which run alone.
_APART = (
    "proa.ir.padding", "proa.eager.backward.derived", "proa.static", "proa.graph.deferred", "proa.utils",
    "proa.jit.conversion", "proa.distributed",
)  # fmt: skip


def test_every_operation_has_a_rule_or_a_reason() -> None:
    """But for those that have no place in a padded program, and operations of other tests."""
    without = [
        name
        for name, operation in all_operations().items()
        if rule_of(operation) is None
        and operation.kernel.__module__.startswith("proa.")
        and not operation.kernel.__module__.startswith(_APART)
    ]
    assert without == []


REFUSED: dict[str, tuple[Any, str]] = {
    "transform": (
        lambda x: paddle.fft.rfft(x, axis=1).abs(),
        r"fft_r2c \(axis 1 of x, x0.shape\[1\]\): a transform of more",
    ),
    "median": (
        lambda x: x.median(axis=1),
        r"order_statistic \(axis 1 of x, x0.shape\[1\]\): a rank depends on how much",
    ),
    "inverse": (
        lambda x: (x @ x.transpose([0, 2, 1]) + paddle.eye(x.shape[1]) * 9).inverse(),
        r"inverse \(.*x0.shape\[1\]\): it checks its matrices",
    ),
    "numbering": (
        lambda x: x.flatten() * paddle.arange(x.shape[0] * x.shape[1] * 6).astype("float32"),
        r"multiply \(axis 0 of x, 6 \* x0.shape\[0\] \* x0.shape\[1\].*\): the operands are padded differently",
    ),
    "permutation": (lambda x: x[:, paddle.randperm(x.shape[1])], r"randperm .*: (how many numbers|it computes with)"),
    "rank": (
        lambda x: paddle.kthvalue(TABLE.tile([3, 1]), x.shape[1], axis=0)[0],
        r"kthvalue \(.*x0.shape\[1\].*\): a rank depends on another padded size",
    ),
    "windows that lie otherwise": (
        lambda x: F.fold(x[:, :, :4].transpose([2, 1, 0]).reshape([1, 4, -1]), [x.shape[0] + 1, x.shape[1] + 1], 2),
        r"fold \(.*\): a reshape takes data",
    ),
    "torn apart": (
        lambda x: x.reshape([x.shape[1], x.shape[0], 6]).sum(axis=0),
        r"reshape \(.*\): a reshape takes data",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_names_operation_axis_and_reason(name: str) -> None:
    function, pattern = REFUSED[name]
    program = Padded(function, [("bt6", "p")], EXAMPLES)
    assert len(program.plan.reasons) >= 1
    assert any(re.search(pattern, reason) for reason in program.plan.reasons), program.plan.reasons
    for batch, length in SIZES:
        program.check({"b": batch, "t": length}, BUCKET, compiled=False)


def test_an_index_behind_the_data_is_an_error() -> None:
    """The axis is longer than the data, but an index there is as wrong as without padding."""
    program = Padded(lambda x, i: x[i + 2], [("t6", "p"), ("4", 2)], EXAMPLES)
    rows = np.arange(18, dtype=np.float32).reshape(3, 6)
    (found,) = program.run([rows, np.array([0, -1, -4, 0])], {"t": 3}, BUCKET)
    np.testing.assert_array_equal(found, rows[[2, 1, -2, 2]])
    for bad in (1, -6):
        with pytest.raises(Problem) as raised:
            program.run([rows, np.array([0, bad, 0, 0])], {"t": 3}, BUCKET)
        assert "out of range" in str(raised.value.error)


def test_sizes_that_shrink_are_not_padded() -> None:
    program = Padded(lambda x: x[:, : 20 - x.shape[1]], [("bt6", "p")], EXAMPLES)
    assert program.padded == "b"
    (reason,) = program.plan.reasons
    assert "a larger size may make this one smaller" in reason


def test_which_expressions_grow() -> None:
    graph = Padded(lambda x: x * 1, [("bt6", "p")], EXAMPLES).graph
    batch, length = graph.inputs[0].aval.shape[:2]
    growing = [length, length - 1, 2 * length, (length + 1) // 2, batch * length, length - length // 2, 3 * length // 4]
    shrinking = [-length, 5 - length, length // 2 - length, length % 3, batch - length]
    assert all(grows(size.expression) for size in growing)
    assert not any(grows(size.expression) for size in shrinking)
    for size in growing:  # the same by trying
        symbols = [batch.expression.symbol, length.expression.symbol]
        values = [size.expression.value(dict(zip(symbols, (4, n), strict=True))) for n in range(1, 40)]
        assert values == sorted(values)
