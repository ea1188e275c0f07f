"""Attributes as keys: programs are told apart by the type of an attribute and the sign of a zero."""

import dataclasses

import numpy as np
import pytest

import proa as paddle
from proa.ir import trace
from proa.ir.keys import attribute_key
from proa.utils import custom_op


def _shown(xp, value):
    """A number that tells the type and the sign of an attribute."""
    sign = np.copysign(1.0, value)
    return sign * (1 + 10 * isinstance(value, bool) + 100 * isinstance(value, float))


@custom_op
def show_attribute(xp, x, value):
    return x + xp.asarray(_shown(xp, value), x.dtype)


@custom_op
def show_nested(xp, x, values):
    return x + xp.asarray(sum(_shown(xp, value) * 1000**i for i, value in enumerate(values)), x.dtype)


@custom_op
def show_declared(xp, x, number: float, count: int, flag: bool):
    kinds = 1 * isinstance(number, float) + 10 * (type(count) is int) + 100 * (type(flag) is bool)
    return x + xp.asarray(kinds, x.dtype)


@custom_op
def show_sign(xp, x, number: float):
    return x + xp.asarray(np.copysign(1.0, number), x.dtype)


@custom_op(operands="x", outputs=2)
def show_twice(xp, x, value):
    return x + xp.asarray(_shown(xp, value), x.dtype), x


_EQUAL = [1, 1.0, True, 1.0, 1, True]
_ZEROS = [0.0, -0.0, 0, False, -0.0, 0.0]


def _zero():
    return paddle.to_tensor(0.0)


@pytest.mark.parametrize("values", [_EQUAL, _ZEROS], ids=["types", "zeros"])
@pytest.mark.parametrize("rounds", [1, 5], ids=["cold", "hot"])
def test_equal_attributes_of_other_types_are_other_programs(values, rounds):
    for _ in range(rounds):
        got = [float(show_attribute(_zero(), value)) for value in values]
        assert got == [_shown(np, value) for value in values]


def test_operations_with_several_results_tell_attributes_apart():
    got = [float(show_twice(_zero(), value)[0]) for value in _EQUAL + _ZEROS]
    assert got == [_shown(np, value) for value in _EQUAL + _ZEROS]


def test_attributes_inside_tuples_are_told_apart():
    values = [(1, 0.0), (1.0, 0.0), (True, -0.0), (1, -0.0), (1, 0.0)]
    got = [float(show_nested(_zero(), value)) for value in values]
    assert got == [sum(_shown(np, v) * 1000**i for i, v in enumerate(value)) for value in values]


def test_the_derived_gradient_tells_attributes_apart():
    @custom_op
    def scaled(xp, x, value):
        return x * xp.asarray(_shown(xp, value), x.dtype)

    for _ in range(4):
        for value in _EQUAL + _ZEROS:
            x = paddle.to_tensor(2.0, stop_gradient=False)
            scaled(x, value).backward()
            assert float(x.grad) == _shown(np, value)


@pytest.mark.parametrize("number", [2, 2.0, True, np.float32(2), np.int64(2)])
@pytest.mark.parametrize("count", [1, True, np.int32(1)])
@pytest.mark.parametrize("flag", [True, 1, 1.0, np.bool_(True)])
def test_declared_attributes_arrive_as_declared(number, count, flag):
    assert float(show_declared(_zero(), number, count, flag)) == 111


def test_a_float_where_an_integer_is_declared_is_refused_whatever_was_seen_before():
    show_declared(_zero(), 1.0, 3, True)
    with pytest.raises(TypeError, match=r"count must be an integer; received count: 3\.0"):
        show_declared(_zero(), 1.0, 3.0, True)
    with pytest.raises(TypeError, match="number must be a number; received number: 'a'"):
        show_declared(_zero(), "a", 3, True)


def test_the_sign_of_a_declared_zero_counts():
    for _ in range(4):
        assert [float(show_sign(_zero(), v)) for v in (0.0, -0.0, 0, -0.0)] == [1.0, -1.0, 1.0, -1.0]


@pytest.mark.parametrize("operation", [show_attribute, show_sign])
def test_nan_does_not_grow_the_tree(operation):
    operation(_zero(), float("nan")).numpy()
    before = trace._Count.nodes
    for _ in range(20):
        operation(_zero(), float("nan")).numpy()
    assert trace._Count.nodes == before


def test_keys_of_complex_numbers_and_numpy_scalars():
    keys = [
        attribute_key(v) for v in (0j, complex(-0.0, 0.0), complex(0.0, -0.0), 0.0, -0.0, np.float64(0.0), 0, False)
    ]
    assert len(set(keys)) == len(keys)
    assert attribute_key(complex("nan")) == attribute_key(complex("nan"))
    assert attribute_key((1, "a", None)) == (1, "a", None)


@pytest.mark.parametrize("values", [_EQUAL, _ZEROS], ids=["types", "zeros"])
def test_to_static_tells_arguments_apart(values):
    @paddle.jit.to_static
    def function(x, value):
        return show_attribute(x, value)

    for _ in range(2):
        assert [float(function(_zero(), value)) for value in values] == [_shown(np, value) for value in values]


def test_to_static_finds_nan_and_slices_again():
    @paddle.jit.to_static
    def function(x, value):
        return x[value] if isinstance(value, slice) else x * value

    x = paddle.to_tensor([1.0, 2.0, 3.0])
    for _ in range(3):
        assert np.isnan(function(x, float("nan")).numpy()).all()
        np.testing.assert_array_equal(function(x, slice(0, 2)).numpy(), [1.0, 2.0])
    assert sum(map(len, function._programs.values())) == 2


def test_to_static_looks_into_dataclasses_and_keys_of_dictionaries():
    @dataclasses.dataclass(frozen=True)
    class Settings:
        value: float

    @paddle.jit.to_static
    def function(x, settings):
        value = settings.value if isinstance(settings, Settings) else next(iter(settings))
        return show_attribute(x, value)

    for value in _EQUAL + _ZEROS:
        assert float(function(_zero(), Settings(value))) == _shown(np, value)
        assert float(function(_zero(), {value: 1})) == _shown(np, value)


def test_static_programs_tell_attributes_apart():
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            x = paddle.static.data("x", [], "float32")
            results = [show_attribute(x, value) for value in _EQUAL + _ZEROS]
        executor = paddle.static.Executor()
        got = executor.run(main, feed={"x": np.float32(0)}, fetch_list=results)
    finally:
        paddle.disable_static()
    assert [float(value) for value in got] == [_shown(np, value) for value in _EQUAL + _ZEROS]
