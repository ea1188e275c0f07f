"""Printing against strings that Paddle 3.3.1 printed (header and common indentation left out)."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, nan
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest

from proa.core import printing
from proa.core.printing import PARAMETER_PREFIX, PrintOptions, set_printoptions, tensor_to_string


class Case(NamedTuple):
    values: Any
    dtype: str
    options: dict[str, Any]
    expected: str


# fmt: off
CASES = [
    Case(1.5, "float32", {}, "1.50000000"),
    Case(2.0, "float32", {}, "2."),
    Case(nan, "float32", {}, "nan"),
    Case(-3, "int64", {}, "-3"),
    Case(True, "bool", {}, "True"),
    Case(1 + 2j, "complex64", {}, "(1.00000000+2.00000000j)"),
    Case([1.0, 2.0], "float32", {}, "[1., 2.]"),
    Case([1.5, 2.0], "float32", {}, "[1.50000000, 2.        ]"),
    Case([1.5, -2.0], "float32", {}, "[1.50000000, -2.       ]"),
    Case([-1.5, 2.0, 300.25], "float32", {}, "[-1.50000000 ,  2.         , 300.25000000]"),
    Case([0.0, -0.0], "float32", {}, "[0. , -0.]"),
    Case([-0.0, -5.0, 0.0, 7.0], "float32", {}, "[-0., -5.,  0.,  7.]"),
    Case([0.1, 1e-9, 1e10], "float32", {}, "[0.10000000  , 0.00000000  , 10000000000.]"),
    Case([1e20], "float32", {}, "[100000002004087734272.]"),
    Case([1e20], "float64", {}, "[100000000000000000000.]"),
    Case([inf, nan, -inf], "float32", {}, "[ inf.,  nan , -inf.]"),
    Case([nan, -1.0], "float32", {}, "[nan, -1.]"),
    Case([1 / 3, 2 / 3], "float64", {}, "[0.33333333, 0.66666667]"),
    Case([0.1, 65504.0], "float16", {}, "[0.09997559, 65504.    ]"),
    Case([0.1, 3.0, -1000.0], "bfloat16", {}, "[0.10009766,  3.       , -1000.    ]"),
    Case([0.1, -448.0], "float8_e4m3fn", {}, "[0.10156250, -448.     ]"),
    Case([0.1, 57344.0], "float8_e5m2", {}, "[0.09375000, 57344.    ]"),
    Case([1, -22, 333], "int32", {}, "[ 1 , -22, 333]"),
    Case([[255, 1], [0, 17]], "uint8", {},
         "[[255, 1  ],\n"
         " [0  , 17 ]]"),
    Case([2**62, -1], "int64", {}, "[4611686018427387904, -1                 ]"),
    Case([[True, False], [True, True]], "bool", {},
         "[[True , False],\n"
         " [True , True ]]"),
    Case([1 + 2j, 3.5 - 4j], "complex64", {},
         "[(1.00000000+2.00000000j), (3.50000000-4.00000000j)]"),
    Case([complex(nan, nan), complex(-1, inf)], "complex128", {},
         "[ (nannanj)        , (-1.00000000+infj)]"),
    Case([-1j, 1j, 10 + 0j], "complex64", {},
         "[(-0.00000000-1.00000000j),  (0.00000000+1.00000000j),\n"
         " (10.00000000+0.00000000j)]"),
    Case(np.arange(12).reshape(2, 3, 2), "int64", {},
         "[[[0 , 1 ],\n"
         "  [2 , 3 ],\n"
         "  [4 , 5 ]],\n"
         "\n"
         " [[6 , 7 ],\n"
         "  [8 , 9 ],\n"
         "  [10, 11]]]"),
    Case(np.arange(8).reshape(2, 2, 1, 2), "float32", {},
         "[[[[0., 1.]],\n"
         "\n"
         "  [[2., 3.]]],\n"
         "\n"
         "\n"
         " [[[4., 5.]],\n"
         "\n"
         "  [[6., 7.]]]]"),
    Case(np.zeros([0]), "float32", {}, "[]"),
    Case(np.zeros([2, 0]), "float32", {},
         "[[],\n"
         " []]"),
    Case(np.zeros([0, 3]), "int64", {}, "[]"),
    Case(np.zeros([2, 0, 3]), "float32", {},
         "[[],\n"
         "\n"
         " []]"),
    Case(np.zeros([2, 2, 0]), "bool", {},
         "[[[],\n"
         "  []],\n"
         "\n"
         " [[],\n"
         "  []]]"),
    Case(np.arange(20) * 1.5, "float32", {},
         "[0.         , 1.50000000 , 3.         , 4.50000000 , 6.         ,\n"
         " 7.50000000 , 9.         , 10.50000000, 12.        , 13.50000000,\n"
         " 15.        , 16.50000000, 18.        , 19.50000000, 21.        ,\n"
         " 22.50000000, 24.        , 25.50000000, 27.        , 28.50000000]"),
    Case([3e38, 1.5], "float32", {},
         "[300000000549775575777803994281145270272.,\n"
         " 1.50000000                              ]"),
    Case(np.arange(1001), "float32", {}, "[0.   , 1.   , 2.   , ..., 998. , 999. , 1000.]"),
    Case(np.arange(5000).reshape(100, 50), "int64", {},
         "[[0   , 1   , 2   , ..., 47  , 48  , 49  ],\n"
         " [50  , 51  , 52  , ..., 97  , 98  , 99  ],\n"
         " [100 , 101 , 102 , ..., 147 , 148 , 149 ],\n"
         " ...,\n"
         " [4850, 4851, 4852, ..., 4897, 4898, 4899],\n"
         " [4900, 4901, 4902, ..., 4947, 4948, 4949],\n"
         " [4950, 4951, 4952, ..., 4997, 4998, 4999]]"),
    Case(np.arange(1200).reshape(2, 8, 75), "int32", {},
         "[[[0   , 1   , 2   , ..., 72  , 73  , 74  ],\n"
         "  [75  , 76  , 77  , ..., 147 , 148 , 149 ],\n"
         "  [150 , 151 , 152 , ..., 222 , 223 , 224 ],\n"
         "  ...,\n"
         "  [375 , 376 , 377 , ..., 447 , 448 , 449 ],\n"
         "  [450 , 451 , 452 , ..., 522 , 523 , 524 ],\n"
         "  [525 , 526 , 527 , ..., 597 , 598 , 599 ]],\n"
         "\n"
         " [[600 , 601 , 602 , ..., 672 , 673 , 674 ],\n"
         "  [675 , 676 , 677 , ..., 747 , 748 , 749 ],\n"
         "  [750 , 751 , 752 , ..., 822 , 823 , 824 ],\n"
         "  ...,\n"
         "  [975 , 976 , 977 , ..., 1047, 1048, 1049],\n"
         "  [1050, 1051, 1052, ..., 1122, 1123, 1124],\n"
         "  [1125, 1126, 1127, ..., 1197, 1198, 1199]]]"),
    Case(np.arange(7) * -1.25, "float32", {"threshold": 5},
         "[ -0.       , -1.25000000, -2.50000000, ..., -5.        ,\n"
         " -6.25000000, -7.50000000]"),
    Case(np.arange(10) * 1000, "int64", {"edgeitems": 1},
         "[0   , 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000]"),
    Case(np.arange(9), "int64", {"threshold": 0, "edgeitems": 0}, "[...]"),
    Case([1 / 3, 2.0], "float32", {"precision": 3}, "[0.333, 2.   ]"),
    Case([0.5, 1.5], "float32", {"precision": 0}, "[0, 2]"),
    Case([1 / 3, -2000.0, nan], "float32", {"sci_mode": True},
         "[ 3.33333343e-01, -2.00000000e+03,  nan           ]"),
    Case([1e-10 + 1e10j], "complex64", {"sci_mode": True, "precision": 2},
         "[(1.00e-10+1.00e+10j)]"),
    Case(np.arange(12) / 8, "float32", {"linewidth": 40},
         "[0.        , 0.12500000,\n"
         " 0.25000000, 0.37500000,\n"
         " 0.50000000, 0.62500000,\n"
         " 0.75000000, 0.87500000,\n"
         " 1.        , 1.12500000,\n"
         " 1.25000000, 1.37500000]"),
]
# fmt: on


@pytest.fixture(autouse=True)
def default_options() -> Iterator[None]:
    """Every test starts and ends with Paddle's defaults."""

    def reset() -> None:
        for name in PrintOptions.__dataclass_fields__:
            setattr(printing.OPTIONS, name, getattr(PrintOptions(), name))

    reset()
    yield
    reset()


def to_array(values: Any, dtype: str) -> np.ndarray:
    return np.asarray(values).astype(getattr(ml_dtypes, dtype, dtype))


def to_text(array: np.ndarray, prefix: str = "Tensor", stop_gradient: bool = True) -> str:
    return tensor_to_string(
        array,
        shape=array.shape,
        dtype_name=array.dtype.name,
        place_text="Place(cpu)",
        stop_gradient=stop_gradient,
        prefix=prefix,
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.dtype} {case.expected[:30]}")
def test_numbers_print_as_paddle_prints_them(case: Case):
    array = to_array(case.values, case.dtype)
    set_printoptions(**case.options)
    header, numbers = to_text(array).split("\n", 1)
    assert header == (f"Tensor(shape={list(array.shape)}, dtype={case.dtype}, place=Place(cpu), stop_gradient=True,")
    indented = "\n".join(" " * 7 + line if line else "" for line in case.expected.split("\n"))
    assert numbers == indented + ")"


def test_whole_text():
    array = np.array([[1.0, 2.5]], np.float32)
    assert to_text(array, stop_gradient=False) == (
        "Tensor(shape=[1, 2], dtype=float32, place=Place(cpu), stop_gradient=False,\n       [[1.        , 2.50000000]])"
    )


def test_parameter_has_a_line_before_and_the_same_indentation():
    array = np.zeros(2, np.float32)
    assert to_text(array, PARAMETER_PREFIX, stop_gradient=False) == (
        "Parameter containing:\n"
        "Tensor(shape=[2], dtype=float32, place=Place(cpu), stop_gradient=False,\n"
        "       [0., 0.])"
    )


def test_width_is_measured_at_the_ends_even_if_all_is_shown():
    set_printoptions(edgeitems=1)
    text = to_text(np.array([[11, -12, 5], [1, -3, 3]]))
    assert text.endswith("\n       [[11, -12, 5 ],\n        [1 , -3, 3 ]])")


def test_a_summary_does_not_read_the_middle():
    huge = np.broadcast_to(np.float32(1.0), (10**6, 10**6))
    assert to_text(huge).count("1.") == 36


def test_options_not_given_stay():
    set_printoptions(precision=2, linewidth=100)
    set_printoptions(sci_mode=True)
    assert PrintOptions(precision=2, linewidth=100, sci_mode=True) == printing.OPTIONS
    assert to_text(np.array([0.5])).endswith("[5.00e-01])")


def test_options_take_numpy_integers():
    given: Any = {"precision": np.int64(1), "edgeitems": np.int32(2)}
    set_printoptions(**given)
    assert (printing.OPTIONS.precision, printing.OPTIONS.edgeitems) == (1, 2)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"precision": "a"}, TypeError, "precision must be an integer; received precision: 'a'"),
        ({"precision": 2.5}, TypeError, "precision must be an integer"),
        ({"edgeitems": True}, TypeError, "edgeitems must be an integer"),
        ({"linewidth": -1}, ValueError, "linewidth must not be negative"),
        ({"threshold": -1}, ValueError, "threshold must not be negative"),
        ({"sci_mode": "yes"}, TypeError, "sci_mode must be True or False"),
    ],
)
def test_bad_options_are_refused_and_change_nothing(options, error, text):
    with pytest.raises(error, match=text):
        set_printoptions(**{"threshold": 7, **options})
    assert PrintOptions() == printing.OPTIONS
