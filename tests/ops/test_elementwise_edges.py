"""Elementwise operations beyond their samples: zero divisors, dtypes, ties, in-place forms, errors.

Expected values are those of Python and NumPy, or were observed in Paddle 3.3.1 where there is a
choice (gradients at ties and corners, result types).
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest

import proa as paddle
import proa.nn.functional as F
from proa.jit import eager_mode, explain

NAN, INF = math.nan, math.inf
CORNERS = [-2.5, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 1e5, NAN, INF, -INF]


def tensor(values: Any, dtype: str = "float32", gradient: bool = False) -> paddle.Tensor:
    return paddle.to_tensor(values, dtype=dtype, stop_gradient=not gradient)


def in_both_tiers(function: Any) -> list[np.ndarray]:
    """The result of one immediate call and of one that was compiled (the third of its kind is)."""
    with eager_mode("immediate"):
        immediate = function().numpy()
    for _ in range(3):
        compiled = function()
        array = compiled.numpy()
    return [immediate, array]


def words(text: str) -> list[str]:
    return text.split()


def gradients(function: Any, *values: Any) -> list[list[float]]:
    inputs = [tensor(value, gradient=True) for value in values]
    return [g.tolist() for g in paddle.grad([function(*inputs)], inputs)]


def same(actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=1e-6, atol=1e-7)


# ---- division ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_integer_division_rounds_down_and_the_remainder_has_the_divisors_sign(dtype: str) -> None:
    dividends, divisors = [7, -7, 7, -7, 0, 6, -6], [2, 2, -2, -2, 5, 3, 3]
    x, y = tensor(dividends, dtype), tensor(divisors, dtype)
    for result in in_both_tiers(lambda: x // y):
        assert result.tolist() == [a // b for a, b in zip(dividends, divisors)]
        assert result.dtype == dtype
    for result in in_both_tiers(lambda: x % y):
        assert result.tolist() == [a % b for a, b in zip(dividends, divisors)]


@pytest.mark.parametrize("divide", [operator.floordiv, operator.mod, paddle.floor_mod])
@pytest.mark.parametrize("mode", ["auto", "immediate"])
def test_integer_division_by_zero_raises(divide: Any, mode: str) -> None:
    x, zeros = tensor([1, 2], "int64"), tensor([3, 0], "int64")
    with eager_mode(mode):
        with pytest.raises(ZeroDivisionError, match="integer division by zero"):
            divide(x, zeros).numpy()
        with pytest.raises(ZeroDivisionError, match="integer division by zero"):
            divide(x, 0)
        with pytest.raises(ZeroDivisionError):
            divide(5, zeros).numpy()
        assert divide(x, 2).tolist() == divide(np.array([1, 2]), 2).tolist()


@pytest.mark.parametrize("divide", [operator.floordiv, operator.mod])
def test_a_zero_divisor_that_is_computed_raises_when_compiled(divide: Any) -> None:
    def run(shift: int) -> list[int]:
        return divide(tensor([7, 8], "int64"), tensor([1, 2], "int64") - shift).tolist()

    for _ in range(4):
        assert run(3) == divide(np.array([7, 8]), np.array([-2, -1])).tolist()
    with pytest.raises(ZeroDivisionError):
        run(2)
    assert run(3) == divide(np.array([7, 8]), np.array([-2, -1])).tolist()


def test_the_smallest_integer_divided_by_minus_one_wraps() -> None:
    for dtype, smallest in (("int32", -(2**31)), ("int64", -(2**63))):
        x, y = tensor([smallest], dtype), tensor([-1], dtype)
        assert [r.tolist() for r in in_both_tiers(lambda x=x, y=y: x // y)] == [[smallest]] * 2
        assert [r.tolist() for r in in_both_tiers(lambda x=x, y=y: x % y)] == [[0], [0]]


def test_floating_division_by_zero_gives_infinity_or_nan() -> None:
    x, zero = tensor([1.0, 0.0, -1.0]), tensor([0.0, 0.0, 0.0])
    for function in (lambda: x / zero, lambda: x // zero, lambda: x / 0, lambda: x // 0.0):
        for result in in_both_tiers(function):
            same(result, [INF, NAN, -INF])
    for result in in_both_tiers(lambda: x % zero):
        assert np.isnan(result).all()


def test_floating_floor_division_and_remainder_agree_with_python() -> None:
    pairs = [(a, b) for a in (7.0, -7.0, 0.3, -0.3, 5.5) for b in (2.0, -2.0, 0.1, 3.0)]
    x, y = (tensor(list(column), "float64") for column in zip(*pairs))
    for result in in_both_tiers(lambda: x // y):
        assert result.tolist() == [a // b for a, b in pairs]
    for result in in_both_tiers(lambda: x % y):
        same(result, [a % b for a, b in pairs])


def test_true_division_of_integers_is_float32() -> None:
    x = tensor([7, -7], "int64")
    for result in (x / x, x / 2, 2 / x, paddle.divide(x, tensor([2, 2], "int64")), x.divide_(x)):
        assert result.dtype == paddle.float32
    assert (tensor([7], "int32") / 2).tolist() == [3.5]
    same((tensor([7, 0], "int64") / tensor([0, 0], "int64")).numpy(), [INF, NAN])


def test_rounding_mode() -> None:
    x, y = tensor([7, -7, 6], "int64"), tensor([2, 2, -3], "int64")
    assert paddle.divide(x, y, rounding_mode="floor").tolist() == [3, -4, -2]
    assert paddle.divide(x, y, rounding_mode="trunc").tolist() == [3, -3, -2]
    halves = paddle.divide(tensor([7.0, -7.0]), 2.0, rounding_mode="trunc")
    assert halves.tolist() == [3.0, -3.0]
    with pytest.raises(ValueError, match="rounding_mode"):
        paddle.divide(x, y, rounding_mode="up")


# ---- powers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [-3, -1, 0, 1, 2, 3, 7, 8, 9, 20, 0.5, -1.5, 2.0])
def test_powers_of_floats(exponent: float) -> None:
    base = np.array([0.5, 1.0, 2.0, 3.5])
    x = tensor(base, "float64")
    for result in in_both_tiers(lambda: x**exponent):
        np.testing.assert_allclose(result, base**exponent, rtol=1e-12)


def test_an_integer_exponent_keeps_the_type_and_wraps() -> None:
    for result in in_both_tiers(lambda: tensor([3, -3], "int32") ** 2):
        assert result.tolist() == [9, 9]
        assert result.dtype == np.int32
    for result in in_both_tiers(lambda: tensor([3], "int64") ** 100):
        assert result.tolist() == [(3**100 + 2**63) % 2**64 - 2**63]
    assert (tensor([True, False], "bool") ** 2).tolist() == [1, 0]
    assert (tensor([3], "int64") ** 2.0).dtype == paddle.float32


def test_integers_to_negative_powers() -> None:
    with pytest.raises(ValueError, match="negative power"):
        tensor([2], "int64") ** -1
    bases, exponents = (
        tensor([3, -3, 1, -1, -1, 2, 0], "int64"),
        tensor([-1, -1, -5, -2, -3, 3, -1], "int64"),
    )
    for result in in_both_tiers(lambda: bases**exponents):
        assert result.tolist() == [0, 0, 1, 1, -1, 8, 0]
    assert (2 ** tensor([3, -3], "int64")).tolist() == [8, 0]


def test_gradients_of_powers_at_corners() -> None:
    bases, exponents = [0.0, 0.0, 2.0, 0.0], [0.0, 2.0, 3.0, 0.5]
    in_base, in_exponent = gradients(paddle.pow, bases, exponents)
    same(in_base, [0.0, 0.0, 12.0, INF])
    same(in_exponent, [0.0, 0.0, 8 * math.log(2), 0.0])
    same(gradients(lambda x: x**2, [0.0, -1.0]), [[0.0, -2.0]])
    same(gradients(lambda x: x**0, [0.0, -1.0]), [[0.0, 0.0]])
    same(gradients(lambda x: x**0.5, [0.0, 4.0]), [[INF, 0.25]])
    same(gradients(lambda x: 0.0**x, [0.0, 1.0, -1.0]), [[0.0, 0.0, -INF]])


def test_a_changing_number_does_not_compile_again() -> None:
    def run(number: float) -> float:
        x = tensor([0.5, 2.0, 3.0])
        y = (x**number + number) * number - F.leaky_relu(x, number)
        return float((paddle.clip(y, -number, number) / number).sum())

    for step in range(4):
        run(1.5 + step)
    before = explain().compiles
    for step in range(5):
        expected_x = np.array([0.5, 2.0, 3.0])
        number = 2.25 + step / 7
        y = (expected_x**number + number) * number - expected_x
        assert run(number) == pytest.approx(float((np.clip(y, -number, number) / number).sum()), rel=1e-5)
    assert explain().compiles == before


# ---- operators -----------------------------------------------------------------------------------

_ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv]
_ARITHMETIC += [operator.mod, operator.pow]


@pytest.mark.parametrize("apply", _ARITHMETIC)
@pytest.mark.parametrize("number", [2, 2.5, np.float64(1.5), np.int64(3)])
def test_numbers_on_either_side(apply: Any, number: Any) -> None:
    values = np.array([1.0, 2.0, 3.5], "float32")
    x = paddle.to_tensor(values)
    same(apply(x, number).numpy(), apply(values, float(number)))
    same(apply(number, x).numpy(), apply(float(number), values))
    assert apply(x, number).dtype == paddle.float32


@pytest.mark.parametrize("apply", [operator.add, operator.mul, operator.sub, operator.truediv])
def test_arrays_on_either_side(apply: Any) -> None:
    values, other = np.array([1.0, 2.0], "float32"), np.array([3.0, 4.0], "float32")
    x = paddle.to_tensor(values)
    for result, expected in (
        (apply(x, other), apply(values, other)),
        (apply(other, x), apply(other, values)),
    ):
        assert isinstance(result, paddle.Tensor)
        same(result.numpy(), expected)


@pytest.mark.parametrize("apply", [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift])
def test_bit_operators(apply: Any) -> None:
    values = np.array([5, 12, -3])
    x = paddle.to_tensor(values)
    assert apply(x, 2).tolist() == apply(values, 2).tolist()
    assert apply(2, abs(x)).tolist() == apply(2, abs(values)).tolist()
    assert (~x).tolist() == (~values).tolist()


def test_shifts_by_more_than_the_bits() -> None:
    x = tensor([1, 1, -8, -8], "int64")
    y = tensor([64, -1, 64, -1], "int64")
    for result in in_both_tiers(lambda: x << y):
        assert result.tolist() == [0, 0, 0, 0]
    for result in in_both_tiers(lambda: x >> y):
        assert result.tolist() == [0, 0, -1, -1]
    for result in in_both_tiers(lambda: paddle.bitwise_right_shift(x, y, is_arithmetic=False)):
        assert result.tolist() == [0, 0, 0, 0]
    small = tensor([-8, -8], "int32")
    logical = paddle.bitwise_right_shift(small, tensor([1, 33], "int32"), False)
    assert logical.tolist() == [2147483644, 0]


def test_comparison_with_what_is_no_number() -> None:
    x = tensor([1.0, 2.0])
    assert (x == None) is False  # noqa: E711
    assert (x != None) is True  # noqa: E711
    assert (x == "text") is False
    assert (x != object()) is True
    with pytest.raises(TypeError):
        x < None  # noqa: B015
    assert (x == [1.0, 3.0]).tolist() == [True, False]
    assert (x == np.array([1.0, 3.0], "float32")).tolist() == [True, False]
    assert len({x, x}) == 1


def test_comparisons_with_nan_and_reflected_numbers() -> None:
    x = tensor([1.0, NAN, 3.0])
    assert operator.gt(2, x).tolist() == [True, False, False]
    assert (x != x).tolist() == [False, True, False]
    assert (x >= 3).tolist() == [False, False, True]
    assert (x < 2).stop_gradient
    leaf = tensor([1.0], gradient=True)
    assert (leaf == leaf).stop_gradient
    assert (leaf > 0).stop_gradient


def test_closeness() -> None:
    x, y = tensor([INF, INF, 1.0, NAN]), tensor([INF, -INF, INF, NAN])
    assert paddle.isclose(x, y).tolist() == [True, False, False, False]
    assert paddle.isclose(x, y, equal_nan=True).tolist() == [True, False, False, True]
    assert paddle.allclose(tensor([1.0]), tensor([1.0 + 1e-6])).item() is True
    assert paddle.allclose(tensor([1.0]), tensor([1.1])).item() is False
    assert paddle.equal_all(tensor([1.0]), tensor([1.0, 1.0])).item() is False
    assert paddle.equal_all(tensor([1.0]), tensor([1.0])).shape == []


# ---- dtypes --------------------------------------------------------------------------------------

_REAL_FUNCTIONS = words(
    "exp expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin acos atan sinh "
    "cosh tanh asinh acosh atanh erf erfinv sigmoid lgamma digamma logit"
)


@pytest.mark.parametrize("name", _REAL_FUNCTIONS)
def test_integers_enter_real_functions_as_float32(name: str) -> None:
    function = getattr(paddle, name)
    expected = function(tensor([1.0, 0.0])).numpy()
    paddle.set_default_dtype("float64")
    try:
        for dtype in ("uint8", "int8", "int32", "int64"):
            result = function(tensor([1, 0], dtype))
            assert result.dtype == paddle.float32
            same(result.numpy(), expected)
    finally:
        paddle.set_default_dtype("float32")


@pytest.mark.parametrize("name", ["neg", "abs", "sign", "square", "floor", "ceil", "round", "trunc", "frac"])
def test_functions_that_keep_integers(name: str) -> None:
    result = getattr(paddle, name)(tensor([2**62 + 1, -3], "int64"))
    assert result.dtype == paddle.int64
    if name in ("floor", "ceil", "round", "trunc"):
        assert result.tolist() == [2**62 + 1, -3]


def test_result_types() -> None:
    whole = tensor([1, 2], "int32")
    assert paddle.atan2(whole, whole).dtype == paddle.float64
    assert paddle.abs(tensor([3 + 4j], "complex64")).dtype == paddle.float32
    assert paddle.angle(tensor([1j], "complex128")).dtype == paddle.float64
    assert paddle.complex(tensor([1.0], "float64"), tensor([2.0], "float64")).dtype == paddle.complex128
    assert paddle.clip(whole, 0.5, 1.5).dtype == paddle.float32
    assert paddle.clip(whole, 0, 1).dtype == paddle.int32
    assert paddle.scale(whole, 2.5, 1.6).tolist() == [3, 5]
    assert (whole + 1.5).dtype == paddle.float32
    assert (whole * 1j).dtype == paddle.complex64
    assert (tensor([True], "bool") + 1).dtype == paddle.int64
    assert (tensor([1.0], "float16") * 2.0).dtype == paddle.float16
    assert F.gelu(tensor([1.0], "bfloat16")).dtype == paddle.bfloat16


_REFUSED = [
    (lambda: tensor([True], "bool") - tensor([True], "bool"), "subtract"),
    (lambda: -tensor([True], "bool"), "neg"),
    (lambda: ~tensor([1.0]), "bitwise_not"),
    (lambda: tensor([1.0]) & tensor([1.0]), "bitwise_and"),
    (lambda: tensor([1.0]) << tensor([1.0]), "bitwise_left_shift"),
    (lambda: tensor([1], "int64") & 1.5, "bitwise_and"),
    (lambda: paddle.maximum(tensor([1j], "complex64"), tensor([1j], "complex64")), "maximum"),
    (lambda: paddle.erf(tensor([1j], "complex64")), "erf"),
    (lambda: paddle.floor(tensor([1j], "complex64")), "floor"),
    (lambda: paddle.real(tensor([1.0])), "real"),
    (lambda: paddle.complex(tensor([1], "int64"), tensor([1], "int64")), "complex"),
    (lambda: F.relu(tensor([1], "int64")), "relu"),
    (lambda: F.gelu(tensor([1], "int64")), "gelu"),
    (lambda: paddle.nan_to_num(tensor([1], "int64")), "nan_to_num"),
    (lambda: tensor([1.0]) + None, "add"),
    (lambda: tensor([1.0]) * "a", "multiply"),
    (lambda: tensor([1], "int64") + tensor([1.0]), "add"),
    (lambda: tensor([1.0]).fill_(tensor(3.0)), "fill_"),
    (lambda: paddle.where(tensor([True], "bool"), tensor([1], "int64"), 0.5), "where"),
]


@pytest.mark.parametrize(("call", "name"), _REFUSED, ids=[f"{n}{i}" for i, (_, n) in enumerate(_REFUSED)])
def test_wrong_types_raise_type_error_and_name_the_operation(call: Any, name: str) -> None:
    with pytest.raises(TypeError, match=rf"\({name}\)"):
        call()


@pytest.mark.parametrize("apply", [*_ARITHMETIC, operator.lt, operator.eq, paddle.maximum, paddle.atan2])
def test_shapes_that_do_not_fit_raise_value_error(apply: Any) -> None:
    with pytest.raises(ValueError, match=r"\[3\].*\[2\]"):
        apply(tensor([1.0, 2.0, 3.0]), tensor([1.0, 2.0]))


# ---- values at corners: both tiers agree ---------------------------------------------------------

_ONE = words(
    "abs sign sqrt rsqrt square reciprocal exp expm1 log log1p log2 log10 sin cos atan sinh "
    "cosh tanh asinh acosh atanh asin acos erf erfinv lgamma digamma sigmoid floor ceil round "
    "trunc isnan isinf isfinite nan_to_num angle logical_not"
)
_ACTIVATIONS = words(
    "relu relu6 leaky_relu elu selu celu hardswish hardsigmoid hardtanh hardshrink softplus "
    "softshrink softsign tanhshrink mish log_sigmoid thresholded_relu silu swish gelu"
)


_PAIRS = words("add subtract multiply divide floor_divide remainder pow maximum minimum fmax fmin atan2")


@pytest.mark.parametrize("name", _ONE + _ACTIVATIONS)
def test_both_tiers_agree_at_corners(name: str) -> None:
    function = getattr(paddle, name, None) or getattr(F, name)
    x = tensor([v for v in CORNERS if not (name in ("sin", "cos") and v == 1e5)])
    immediate, compiled = in_both_tiers(lambda: function(x))
    np.testing.assert_allclose(compiled, immediate, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("name", _PAIRS)
def test_both_tiers_agree_at_pairs_of_corners(name: str) -> None:
    grid = np.stack(np.meshgrid(CORNERS, CORNERS)).reshape(2, -1).astype("float32")
    x, y = paddle.to_tensor(grid[0]), paddle.to_tensor(grid[1])
    immediate, compiled = in_both_tiers(lambda: getattr(paddle, name)(x, y))
    np.testing.assert_allclose(compiled, immediate, rtol=2e-6)


@pytest.mark.parametrize("name", _ACTIVATIONS)
def test_activations_keep_nan(name: str) -> None:
    assert math.isnan(getattr(F, name)(tensor([NAN])).item())


# ---- gradients at ties and corners ---------------------------------------------------------------

_PAIR_GRADIENTS = [
    (paddle.maximum, [1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [0.5, 0.0, 1.0], [0.5, 1.0, 0.0]),
    (paddle.minimum, [1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [0.5, 1.0, 0.0], [0.5, 0.0, 1.0]),
    (
        paddle.fmax,
        [1.0, 2.0, NAN, 1.0, NAN],
        [1.0, 3.0, 1.0, NAN, NAN],
        [1, 0, 0, 1, 1],
        [0, 1, 1, 0, 0],
    ),
    (paddle.fmin, [1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]),
    (paddle.remainder, [7.0, -7.0], [2.0, 2.0], [1.0, 1.0], [-3.0, 4.0]),
    (paddle.divide, [1.0, -1.0], [0.5, 2.0], [2.0, 0.5], [-4.0, 0.25]),
]


@pytest.mark.parametrize(("function", "x", "y", "in_x", "in_y"), _PAIR_GRADIENTS)
def test_gradients_of_pairs(function: Any, x: Any, y: Any, in_x: Any, in_y: Any) -> None:
    same(gradients(function, x, y), [in_x, in_y])


_CORNER_GRADIENTS = [
    (paddle.abs, [-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]),
    (paddle.sqrt, [0.0, 4.0], [INF, 0.25]),
    (paddle.floor, [-1.5, 0.5], [0.0, 0.0]),
    (paddle.round, [0.5, 1.2], [0.0, 0.0]),
    (paddle.sign, [0.0, 2.0], [0.0, 0.0]),
    (paddle.frac, [-1.5, 0.5], [1.0, 1.0]),
    (lambda x: paddle.clip(x, -1.0, 1.0), [-2.0, -1.0, 0.0, 1.0, 2.0, NAN], [0, 1, 1, 1, 0, 0]),
    (paddle.nan_to_num, [NAN, INF, -INF, 1.0], [0.0, 0.0, 0.0, 1.0]),
    (lambda x: paddle.logit(x, 0.2), [-0.1, 0.5, 1.1], [0.0, 4.0, 0.0]),
    (F.relu, [-1.0, 0.0, 1.0], [0.0, 0.0, 1.0]),
    (F.relu6, [-1.0, 0.0, 3.0, 6.0, 7.0], [0.0, 0.0, 1.0, 0.0, 0.0]),
    (F.leaky_relu, [-1.0, 0.0, 1.0], [0.01, 1.0, 1.0]),
    (F.hardtanh, [-2.0, -1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]),
    (F.hardswish, [-INF, -4.0, -3.0, 0.0, 3.0, INF], [0.0, 0.0, 0.0, 0.5, 1.0, 1.0]),
    (F.hardshrink, [-0.5, 0.0, 0.5], [1.0, 0.0, 1.0]),
    (F.softshrink, [-1.0, -0.5, 0.5, 1.0], [1.0, 0.0, 0.0, 1.0]),
    (F.thresholded_relu, [0.5, 1.0, 1.5], [0.0, 0.0, 1.0]),
    (F.elu, [-INF, 0.0, 90.0], [0.0, 1.0, 1.0]),
    (F.softplus, [-90.0, 0.0, 90.0], [0.0, 0.5, 1.0]),
    (F.sigmoid, [-100.0, 0.0, 100.0], [0.0, 0.25, 0.0]),
]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_relu_lets_no_bad_gradient_through_where_it_gave_nothing(dtype: str) -> None:
    x = tensor([-1.0, 0.0, NAN, 2.0, 3.0, 4.0, -1.0], dtype, gradient=True)
    outer = tensor([INF, NAN, 1.0, -2.0, INF, NAN, -0.0], dtype)
    for found in in_both_tiers(lambda: paddle.grad(F.relu(x), x, outer)[0]):
        np.testing.assert_array_equal(found.astype("float64"), [0.0, 0.0, 0.0, -2.0, INF, NAN, 0.0])


@pytest.mark.parametrize(("function", "x", "expected"), _CORNER_GRADIENTS)
def test_gradients_at_corners(function: Any, x: Any, expected: Any) -> None:
    same(gradients(function, x), [expected])


def test_complex_gradients_follow_the_conjugate_convention() -> None:
    def gradient(function: Any) -> complex:
        x = tensor([1 + 2j], "complex64", gradient=True)
        return paddle.grad([function(x)], [x])[0].item()

    expected = {
        "exp": -1.1312044 - 2.4717267j, "log": 0.2 + 0.4j, "sqrt": 0.28443223 + 0.17578879j,
        "square": 2 - 4j,
        "tanh": -0.30200148 - 0.568103j, "sigmoid": 0.14088872 + 0.42071843j, "angle": -0.4 + 0.2j,
        "sgn": 0.35777086 - 0.17888543j, "imag": 1j, "abs": 0.4472136 + 0.8944272j,
    }  # fmt: skip
    for name, value in expected.items():
        assert gradient(getattr(paddle, name)) == pytest.approx(value, rel=1e-5), name
    assert gradient(F.silu) == pytest.approx(2.003741 - 0.264498j, rel=1e-5)


# ---- in place ------------------------------------------------------------------------------------

_IN_PLACE = words(
    "add_ subtract_ sub_ multiply_ mul_ divide_ div_ floor_divide_ remainder_ mod_ floor_mod_ "
    "pow_ equal_ not_equal_ less_than_ less_ less_equal_ greater_than_ greater_equal_ "
    "logical_and_ logical_or_ logical_xor_ abs_ acos_ acosh_ asin_ asinh_ atan_ atanh_ ceil_ "
    "cos_ cosh_ digamma_ erfinv_ exp_ expm1_ floor_ frac_ lgamma_ gammaln_ log_ log10_ log1p_ "
    "log2_ logit_ neg_ nan_to_num_ reciprocal_ round_ rsqrt_ sigmoid_ sin_ sinh_ sqrt_ "
    "square_ tan_ tanh_ trunc_ logical_not_ scale_ clip_ clamp_"
)
_WITH_OPERAND = _IN_PLACE.index("abs_")


@pytest.mark.parametrize("name", _IN_PLACE)
def test_in_place_forms(name: str) -> None:
    values = [0.3, 0.6]
    arguments = [tensor([0.5, 0.6])] if name in _IN_PLACE[:_WITH_OPERAND] else []
    x = tensor(values)
    result = getattr(x, name)(*arguments)
    expected = getattr(paddle, name[:-1])(tensor(values), *arguments)
    assert result is x
    assert x.inplace_version == 1
    assert x.dtype == expected.dtype
    np.testing.assert_array_equal(x.numpy(), expected.numpy())
    leaf = tensor(values, gradient=True)
    with pytest.raises(ValueError, match="leaf"):
        getattr(leaf, name)(*arguments)
    assert leaf.numpy().tolist() == pytest.approx(values)


def test_in_place_bit_operations() -> None:
    x = tensor([6, 5], "int64")
    assert x.bitwise_and_(tensor([3, 4], "int64")).tolist() == [2, 4]
    assert x.bitwise_left_shift_(tensor([1, 1], "int64")).tolist() == [4, 8]
    assert x.bitwise_invert_().tolist() == [-5, -9]
    assert x.inplace_version == 3


def test_an_in_place_result_must_fit() -> None:
    x = tensor([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"\[2, 3\]"):
        x.add_(tensor([[1.0], [2.0]]))
    assert x.tolist() == [1.0, 2.0, 3.0]
    assert x.inplace_version == 0


def test_where_in_place_changes_x() -> None:
    x = tensor([1.0, 2.0])
    result = paddle.where_(tensor([True, False], "bool"), x, tensor([3.0, 4.0]))
    assert result is x
    assert x.tolist() == [1.0, 4.0]


def test_fill_and_zero() -> None:
    x = tensor([1.0, 2.0])
    assert x.fill_(3) is x
    assert x.tolist() == [3.0, 3.0]
    assert x.zero_().tolist() == [0.0, 0.0]
    assert x.inplace_version == 2
    assert tensor([1, 2], "int64").fill_(3.7).tolist() == [3, 3]
    assert tensor([True, False], "bool").fill_(0.5).tolist() == [True, True]
    with pytest.raises(ValueError, match="inf"):
        tensor([1], "int64").fill_(INF)
    leaf = tensor([1.0, 2.0], gradient=True)
    inner = leaf * 2
    inner.fill_(5.0)
    assert not inner.stop_gradient
    same(paddle.grad([(inner * 3).sum()], [leaf])[0].numpy(), [0.0, 0.0])


def test_in_place_on_a_result_changes_its_gradient() -> None:
    x = tensor([1.0, 2.0], gradient=True)
    y = x * 2
    y.scale_(3.0)
    y.add_(x)
    y.sum().backward()
    same(x.grad.numpy(), [7.0, 7.0])


def test_out_receives_the_result() -> None:
    out = tensor([0.0, 0.0])
    result = paddle.add(tensor([1.0, 2.0]), tensor([3.0, 4.0]), alpha=2, out=out)
    assert result is out
    assert out.tolist() == [7.0, 10.0]


def test_real_and_imag_are_views() -> None:
    z = tensor([1 + 2j, 3 + 4j], "complex64")
    z.real().fill_(9.0)
    assert z.tolist() == [9 + 2j, 9 + 4j]
    z.imag().zero_()
    assert z.tolist() == [9 + 0j, 9 + 0j]


# ---- choices -------------------------------------------------------------------------------------


def test_clip_limits() -> None:
    x = tensor([-2.0, 0.5, 2.0])
    assert paddle.clip(x, tensor(-1.0), tensor([1.0])).tolist() == [-1.0, 0.5, 1.0]
    assert paddle.clip(x, tensor([0.0, 1.0, 1.0])).tolist() == [0.0, 1.0, 2.0]
    assert paddle.clip(x).tolist() == x.tolist()
    assert paddle.clip(tensor([200, 3], "uint8"), max=100).tolist() == [100, 3]
    with pytest.raises(ValueError, match="min must not be above max"):
        paddle.clip(x, 1.0, -1.0)
    with pytest.raises(ValueError, match="broadcasts to x"):
        paddle.clip(x, tensor([[0.0], [1.0]]))


def test_where_and_its_errors() -> None:
    condition = tensor([True, False], "bool")
    assert paddle.where(condition, 1.0, 2.0).dtype == paddle.float32
    assert paddle.where(condition, 1, 2).tolist() == [1, 2]
    assert paddle.where(condition, tensor([1.0, 2.0]), 0).tolist() == [1.0, 0.0]
    assert paddle.where(condition, tensor([1.0, 2.0], "float64"), tensor([0.5, 0.5])).dtype == paddle.float64
    assert condition.where(tensor([1.0, 2.0]), tensor([3.0, 4.0])).tolist() == [1.0, 4.0]
    assert [t.tolist() for t in paddle.where(tensor([[True, False], [False, True]], "bool"))] == [[0, 1]] * 2
    with pytest.raises(ValueError, match="boolean"):
        paddle.where(tensor([1, 0], "int64"), tensor([1.0, 2.0]), tensor([3.0, 4.0]))
    with pytest.raises(ValueError, match="together"):
        paddle.where(condition, tensor([1.0, 2.0]))
    with pytest.raises(ValueError, match="broadcast"):
        paddle.where(condition, tensor([1.0, 2.0, 3.0]), tensor([3.0, 4.0]))


def test_where_stops_the_gradient_of_what_is_not_chosen() -> None:
    x = tensor([-1.0, 4.0], gradient=True)
    safe = paddle.where(x > 0, paddle.sqrt(paddle.where(x > 0, x, 1.0)), 0.0)
    same(paddle.grad([safe], [x])[0].numpy(), [0.0, 0.25])


def test_masked_fill_values() -> None:
    mask = tensor([True, False], "bool")
    assert paddle.masked_fill(tensor([1, 2], "int64"), mask, 5.7).tolist() == [5, 2]
    assert paddle.masked_fill(tensor([1.0, 2.0]), mask, -INF).tolist() == [-INF, 2.0]
    assert paddle.masked_fill(tensor([1.0, 2.0]), tensor([1, 0], "int64"), 5).tolist() == [5.0, 2.0]
    with pytest.raises(ValueError, match="inf"):
        paddle.masked_fill(tensor([1, 2], "int64"), mask, -INF)
    with pytest.raises(ValueError, match="one element"):
        paddle.masked_fill(tensor([1.0, 2.0]), mask, tensor([1.0, 2.0]))
    x, value = tensor([1.0, 2.0], gradient=True), tensor(5.0, gradient=True)
    in_x, in_value = paddle.grad([paddle.masked_fill(x, mask, value)], [x, value])
    assert in_x.tolist() == [0.0, 1.0]
    assert in_value.item() == 1.0


def test_activation_arguments_are_checked() -> None:
    x = tensor([[-1.0, 2.0, 3.0]])
    for call in (
        lambda: F.glu(x), lambda: F.glu(x, axis=5), lambda: F.softshrink(x, -1.0),
        lambda: F.selu(x, 0.5), lambda: F.gelu(x, "sigmoid"),
        lambda: F.prelu(x, tensor([0.1, 0.2])), lambda: paddle.scale(x, act="none"),
        lambda: F.prelu(x, tensor([0.1]), data_format="CHW"), lambda: paddle.polygamma(x, -1),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"^\("):
            call()
    with pytest.raises(ZeroDivisionError, match="celu"):
        F.celu(x, 0.0)


def test_silu_in_place() -> None:
    x = tensor([1.0])
    assert F.silu(x, inplace=True) is x
    assert x.item() == pytest.approx(0.7310586)


def test_rounding_leaves_integers_as_they_are() -> None:
    np.testing.assert_array_equal(paddle.round(tensor([15], "int64"), decimals=-1).numpy(), [15])
