"""Shapes that programs compute with tensors become numbers; what cannot be found again for other sizes does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.formats.paddle.model import Block, Model, Op, Value
from proa.formats.paddle.reading import LoadedModel, read_graph
from proa.formats.paddle.reading.known import Known, NotKnown


def ints(*values: int) -> Op:
    return Op("full_int_array", [], {"value": list(values), "dtype": "int64"}, [Value("ints", "int64", (len(values),))])


def reshaping(arithmetic: Any) -> Model:
    """x [-1, -1] reshaped to [n, -1], where n is computed from the shape of x by `arithmetic(size) -> (ops, value)`."""
    x, shape, size = Value("x", "float32", (-1, -1)), Value("s", "int32", (2,)), Value("n", "int32", ())
    begin, end, rest = ints(0), ints(1), ints(-1)
    ops = [
        Op("shape", [x], {}, [shape]), begin, end, rest,
        Op("slice", [shape, begin.outputs[0], end.outputs[0]], {"axes": [0], "decrease_axis": [0]}, [size]),
    ]  # fmt: skip
    more, wanted = arithmetic(size)
    last = Value("last", "int32", ())
    out, sizes = Value("out"), Value("sizes", "int32", (2,))
    minus = Op("full", [], {"shape": [], "value": -1, "dtype": "int32"}, [last])
    ops += [*more, minus, Op("stack", [[wanted, last]], {"axis": 0}, [sizes]), Op("reshape", [x, sizes], {}, [out])]
    return Model([x], {}, {}, Block(ops), [out])


def scaled(factor: float, bias: float) -> Any:
    def build(size: Value) -> Any:
        number, result = Value("f", "float32", (1,)), Value("r", "int32", ())
        return [
            Op("full", [], {"shape": [1], "value": factor, "dtype": "float32"}, [number]),
            Op("scale", [size, number], {"bias": bias, "bias_after_scale": True}, [result]),
        ], result  # fmt: skip

    return build


def rounded_up(size: Value) -> Any:
    """(n + 1) // 2: for an even size this looks like n // 2."""
    ops, plus = scaled(1.0, 1.0)(size)
    two, result = Value("two", "int32", ()), Value("half", "int32", ())
    ops += [
        Op("full", [], {"shape": [], "value": 2, "dtype": "int32"}, [two]),
        Op("floor_divide", [plus, two], {}, [result]),
    ]
    return ops, result


def at_most_four(size: Value) -> Any:
    four, result = Value("four", "int32", ()), Value("least", "int32", ())
    return [
        Op("full", [], {"shape": [], "value": 4, "dtype": "int32"}, [four]),
        Op("minimum", [size, four], {}, [result]),
    ], result  # fmt: skip


def test_a_multiple_of_a_size_is_found_for_every_size() -> None:
    graph = read_graph(reshaping(scaled(2.0, 0.0)))
    for rows, columns in ((3, 4), (5, 2)):
        found = graph(paddle.ones([rows, columns]))[0]
        assert found.shape == [2 * rows, columns // 2]


def squared_root(size: Value) -> Any:
    """Nothing that is computed with integers."""
    wide, root, result = Value("w", "float32", ()), Value("q", "float32", ()), Value("i", "int32", ())
    return [
        Op("cast", [size], {"dtype": "float32"}, [wide]), Op("sqrt", [wide], {}, [root]),
        Op("cast", [root], {"dtype": "int32"}, [result]),
    ], result  # fmt: skip


@pytest.mark.parametrize("arithmetic", [rounded_up, at_most_four])
def test_integer_arithmetic_is_right_for_all_sizes_and_for_each(arithmetic: Any) -> None:
    model = reshaping(arithmetic)
    graph, loaded = read_graph(model), LoadedModel(model)
    for rows, columns in ((3, 4), (5, 6), (2, 2), (8, 4)):
        wanted = (rows + 1) // 2 if arithmetic is rounded_up else min(rows, 4)
        if rows * columns % wanted == 0:
            array = np.ones((rows, columns), np.float32)
            assert loaded(array)[0].shape[0] == wanted
            assert graph(paddle.to_tensor(array))[0].shape[0] == wanted
    assert loaded.reason is None


def test_other_arithmetic_is_refused_for_all_sizes_and_right_for_each() -> None:
    model = reshaping(squared_root)
    with pytest.raises(NotKnown, match="computed from the values of tensors"):
        read_graph(model)
    loaded = LoadedModel(model)
    assert [loaded(np.ones((rows, 6), np.float32))[0].shape for rows in (4, 9)] == [[2, 12], [3, 18]]
    assert loaded.reason is None


def test_sizes_are_not_cut_to_32_bits() -> None:
    size = Known(np.array([1_000_000], np.int32), "int32")
    assert size.array.dtype == np.int64
    assert not size.has_sizes, "a plain number is a literal"


def test_two_inputs_may_have_different_lengths() -> None:
    first, second, out = Value("a", "float32", (-1, -1)), Value("b", "float32", (-1, -1)), Value("out")
    axis = Op("full", [], {"shape": [1], "value": 1, "dtype": "int32"}, [Value("axis", "int32", (1,))])
    model = Model(
        [first, second], {}, {}, Block([axis, Op("concat", [[first, second], axis.outputs[0]], {}, [out])]), [out]
    )
    found = LoadedModel(model)(np.ones((2, 3), np.float32), np.ones((2, 5), np.float32))
    assert found[0].shape == [2, 8]
