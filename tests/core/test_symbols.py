"""Sizes that know where they come from: arithmetic, comparisons, what loses the expression."""

from __future__ import annotations

import copy
import math
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from proa.core.aval import make_aval
from proa.core.symbols import evaluate, is_symbolic, maximum, minimum, plain, same_size, size_from, whole, whole_part
from proa.ir.sizes.assumptions import Assumptions
from proa.ir.sizes.dimensions import Known, UnknownDimension, UnknownSize, specialise, symbols_in


def two(n: int = 12, m: int = 5) -> tuple[Assumptions, Any, Any]:
    assumptions = Assumptions()
    return assumptions, assumptions.symbol("n", n), assumptions.symbol("m", m)


def known(n: Any, m: Any, real_n: int, real_m: int) -> Known:
    return Known(dict(zip([*symbols_in(n), *symbols_in(m)], (real_n, real_m), strict=True)))


INTEGERS: list[Callable[[Any, Any], Any]] = [
    lambda n, m: n + 1, lambda n, m: 3 - n, lambda n, m: n * m - m, lambda n, m: n // 3, lambda n, m: -(-n // 4),
    lambda n, m: n % 5, lambda n, m: 100 // n, lambda n, m: 7 % m, lambda n, m: -n, lambda n, m: n**2, lambda n, m: n << 2,
    lambda n, m: n >> 1, lambda n, m: divmod(n, 5)[1], lambda n, m: minimum(n, m), lambda n, m: maximum(n - m, 0),
    lambda n, m: math.ceil(n / 2), lambda n, m: math.floor(n / m), lambda n, m: round(n * 0.7),
    lambda n, m: whole_part(n * 0.5), lambda n, m: math.prod((n, 3, m)), lambda n, m: sum((n, m, 1)),
    lambda n, m: np.int64(3) * n, lambda n, m: n * np.int32(2),
    lambda n, m: (n * m * 6) // (3 * m), lambda n, m: (n + 7) // 2 + (n + 7) % 2,
]  # fmt: skip
FLOATS: list[Callable[[Any, Any], Any]] = [
    lambda n, m: 1 / n, lambda n, m: n / m, lambda n, m: n * 0.37, lambda n, m: (n / 2) ** 0.5, lambda n, m: 1.0 / (n / m),
    lambda n, m: 3 / (n * m * 7), lambda n, m: n**0.5, lambda n, m: (n - 1) / (n + 1), lambda n, m: -(n / 3),
]  # fmt: skip


@pytest.mark.parametrize("function", [*INTEGERS, *FLOATS])
def test_what_is_computed_follows_the_sizes(function: Callable[[Any, Any], Any]) -> None:
    _, n, m = two()
    result = function(n, m)
    assert is_symbolic(result)
    assert result == function(12, 5)
    for real in ((1, 1), (7, 3), (64, 9), (13, 100)):
        assert evaluate(result, known(n, m, *real)) == function(*real)
    assert isinstance(result, int) == isinstance(function(12, 5), (int, np.integer))


def test_arithmetic_leaves_no_guard() -> None:
    assumptions, n, m = two()
    for function in INTEGERS:
        function(n, m)
    for function in FLOATS:
        function(n, m)
    assert not assumptions.guards


def test_random_expressions_agree_with_plain_integers() -> None:
    draw = random.Random(0)

    def build(depth: int) -> Any:
        if depth == 0:
            return draw.choice(["n", "m", draw.randint(-9, 9)])
        return draw.choice("+-*/%<"), build(depth - 1), build(depth - 1)

    def run(tree: Any, values: dict[str, Any]) -> Any:
        if not isinstance(tree, tuple):
            return values.get(tree, tree)
        sign, a, b = tree[0], run(tree[1], values), run(tree[2], values)
        if sign == "<":
            return minimum(a, b)
        return (
            {"+": a.__add__, "-": a.__sub__, "*": a.__mul__, "/": a.__floordiv__, "%": a.__mod__}[sign](b)
            if not (is_symbolic(b) and not is_symbolic(a))
            else {"+": b.__radd__, "-": b.__rsub__, "*": b.__rmul__, "/": b.__rfloordiv__, "%": b.__rmod__}[sign](a)
        )

    compared = 0
    for _ in range(3000):
        tree = build(draw.randint(1, 4))
        _, n, m = two(draw.randint(1, 20), draw.randint(1, 20))
        real = draw.randint(1, 20), draw.randint(1, 20)
        try:
            result = run(tree, {"n": n, "m": m})
            wanted = run(tree, {"n": real[0], "m": real[1]})
        except ZeroDivisionError:
            continue
        compared += 1
        assert evaluate(result, known(n, m, *real)) == wanted, tree
    assert compared > 2000


def test_equal_expressions_are_found_equal() -> None:
    _, n, m = two(6, 6)
    assert same_size((n - 1) + 1, n)
    assert same_size(n * m * 6 // (3 * m), 2 * n)
    assert (n - n).__class__ is int
    assert not same_size(n, 6), "a plain number is a literal"
    assert not same_size(n, m), "though both are 6"
    assert n == 6
    assert hash(n) == hash(6)
    assert {6: "six"}[n] == "six"
    assert f"{n} {n!r} {n:3d}" == "6 6   6"


@pytest.mark.parametrize(
    ("ask", "holds_for", "fails_for"),
    [
        (lambda n: n > 8, 9, 8), (lambda n: n <= 12, 3, 13), (lambda n: n == 12, 12, 11), (lambda n: n != 3, 4, 3),
        (lambda n: n % 2 == 0, 4, 5), (lambda n: bool(n - 3), 5, 3), (lambda n: int(n), 12, 1), (lambda n: float(n), 12, 1),
        (lambda n: np.asarray(n), 12, 1), (lambda n: np.prod((n, 3)), 12, 1), (lambda n: [0] * n, 12, 1),
        (lambda n: n & 4, 12, 1),
        (lambda n: int(n / 2), 13, 14), (lambda n: n / 2 > 3.0, 12, 13),
    ],
)  # fmt: skip
def test_a_question_leaves_a_guard(ask: Callable[[Any], Any], holds_for: int, fails_for: int) -> None:
    assumptions, n, _ = two()
    ask(n)
    assert len(assumptions.guards) == 1
    (symbol,) = symbols_in(n)
    assert assumptions.broken(Known({symbol: holds_for})) is None
    broken = assumptions.broken(Known({symbol: fails_for}))
    assert broken is not None
    assert ".py:" in str(broken), "the line that asked"


def test_what_is_certain_leaves_no_guard() -> None:
    assumptions, n, m = two()
    assert n >= 0
    assert n != -1
    assert n + 1 > 0
    assert n < n + m + 1
    assert n == n + m - m
    assert not assumptions.guards
    assumptions.is_open = False
    assert n > 3
    assert not assumptions.guards, "the capture is over"


def test_copies_and_conversions() -> None:
    _, n, _ = two()
    assert type(pickle.loads(pickle.dumps(n))) is int
    assert copy.deepcopy(n) is n
    assert whole(n) is n
    assert whole(3.0) == 3
    assert type(plain(n)) is int
    with pytest.raises(ZeroDivisionError):
        _ = n // 0


def test_an_abstract_value_keeps_its_expressions() -> None:
    _, n, m = two(6, 6)
    kind = np.dtype("float32")
    plain_aval, first, second = make_aval((6, 2), kind), make_aval((n, 2), kind), make_aval((m, 2), kind)
    assert len({id(plain_aval), id(first), id(second)}) == 3
    assert make_aval((n + 0, 2), kind) is first
    assert first.symbolic
    assert not plain_aval.symbolic
    assert first.with_shape((6, 2)) is plain_aval


def test_an_unknown_dimension_looks_like_minus_one_and_computes_with_its_size() -> None:
    _, n, _ = two()
    size = size_from(n.expression, plain(n), UnknownDimension)
    assert size == -1
    assert size != 3
    assert size < 0
    assert not size > 0
    assert f"{size} {size!r} {size:3d}" == "-1 -1  -1"
    assert size * 2 == 24
    assert same_size(whole(size), n)
    assert list(range(size)) == []
    for compute in (lambda: 1 / size, lambda: size / 2, lambda: float(size)):
        with pytest.raises(UnknownSize, match="unknown dimension"):
            compute()


def test_a_shape_that_is_not_what_its_expression_says_is_an_error() -> None:
    from proa.graph import capture
    from proa.static import InputSpec

    graph = capture(lambda x: x[:, : x.shape[0]], [InputSpec([None, 4])])
    kind = np.dtype("float32")
    program, sizes = specialise(graph.program, [make_aval((3, 4), kind)])
    assert program.instructions[-1].outputs[0].shape == (3, 3)
    assert list(sizes.values()) == [3]
    with pytest.raises(UnknownSize, match="took it to be"):
        specialise(graph.program, [make_aval((3, 5), kind)])


ON_ARRAYS: list[Callable[[np.ndarray, Any], Any]] = [
    lambda a, n: a + n, lambda a, n: n - a, lambda a, n: a * n, lambda a, n: n * a, lambda a, n: a // n,
    lambda a, n: divmod(a, n), lambda a, n: n % (a + 1), lambda a, n: a / n, lambda a, n: a == n, lambda a, n: n != a,
    lambda a, n: a < n, lambda a, n: n <= a, lambda a, n: a * (n / 8), lambda a, n: a > n / 8, lambda a, n: (n / 8) == a,
]  # fmt: skip


@pytest.mark.parametrize("function", ON_ARRAYS)
def test_an_array_takes_the_value_and_holds_for_it_alone(function: Callable[[np.ndarray, Any], Any]) -> None:
    array = np.arange(20)
    assumptions, n, _ = two()
    found, wanted = function(array, n), function(array, 12)
    assert type(found) is type(wanted)
    np.testing.assert_array_equal(found, wanted)
    (symbol,) = symbols_in(n)
    assert assumptions.broken({symbol: 12}) is None
    assert assumptions.broken({symbol: 13}) is not None
