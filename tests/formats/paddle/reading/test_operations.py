"""Single operations of Paddle's against NumPy: read as a graph, and run directly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.formats.paddle.model import Block, Model, Op, Value
from proa.formats.paddle.reading import READERS, LoadedModel, reads

X = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
IDS = np.array([[2, 0], [1, 1]])


def constant(name: str, values: Any, dtype: str = "int64") -> tuple[Op, Value]:
    """An operation that gives a constant, as Paddle writes shapes and axes."""
    array = np.asarray(values)
    value = Value(name, dtype, array.shape)
    if dtype == "int64" and array.ndim == 1:
        return Op("full_int_array", [], {"value": array.tolist(), "dtype": dtype}, [value]), value
    return Op(
        "full", [], {"shape": list(array.shape), "value": array.reshape(-1)[0].item(), "dtype": dtype}, [value]
    ), value


def model_of(
    name: str, arrays: list[Any], attributes: dict[str, Any], results: int = 1
) -> tuple[Model, list[np.ndarray]]:
    """One operation. An array is an input of the model, a list of arrays one operand, a tuple a constant."""
    ops: list[Op] = []
    inputs: list[Value] = []
    given: list[np.ndarray] = []

    def value_of(array: Any) -> Any:
        if array is None:
            return None
        if isinstance(array, list):
            return [value_of(part) for part in array]
        if isinstance(array, tuple):
            op, value = constant(f"c{len(ops)}", *array)
            ops.append(op)
            return value
        value = Value(f"x{len(inputs)}", array.dtype.name, (-1,) * array.ndim)
        inputs.append(value)
        given.append(array)
        return value

    operands = [value_of(array) for array in arrays]
    outputs = [Value(f"out{n}") for n in range(results)]
    ops.append(Op(name, operands, attributes, list(outputs)))
    return Model(inputs, {}, {}, Block(ops), outputs), given


def run(name: str, arrays: list[Any], attributes: dict[str, Any] | None = None, results: int = 1) -> list[np.ndarray]:
    model, given = model_of(name, arrays, attributes or {}, results)
    loaded = LoadedModel(model)
    first = [t.numpy() for t in loaded(*given)]
    from proa.eager.tensor import tensor_from_data

    second = [t.numpy() for t in loaded.run_directly([tensor_from_data(a) for a in given])]
    for one, other in zip(first, second, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
    return first


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


CASES: list[tuple[str, list[Any], dict[str, Any], np.ndarray]] = [
    ("relu", [X], {}, np.maximum(X, 0)),
    ("relu_", [X], {}, np.maximum(X, 0)),
    ("hardsigmoid", [X], {"slope": 0.25, "offset": 0.5}, np.clip(X * 0.25 + 0.5, 0, 1)),
    ("leaky_relu", [X], {"negative_slope": 0.1}, np.where(X > 0, X, 0.1 * X)),
    ("softmax", [X], {"axis": 1}, softmax(X, 1)),
    ("scale", [X, ([2.0], "float32")], {"bias": 1.0, "bias_after_scale": False}, (X + 1) * 2),
    ("scale", [IDS, ([3.0], "float32")], {"bias": 1.0, "bias_after_scale": True}, IDS * 3 + 1),
    ("divide", [np.array([7, -7]), np.array([2, 2])], {}, np.array([3, -3])),
    ("clip", [X, ([-0.5], "float32"), ([0.5], "float32")], {}, np.clip(X, -0.5, 0.5)),
    ("cast", [X], {"dtype": "int32"}, X.astype(np.int32)),
    ("pow", [X], {"y": 2.0}, X**2),
    ("sum", [X, ([0, 2],)], {"dtype": "undefined", "keepdim": True}, X.sum((0, 2), keepdims=True)),
    ("sum", [X, ([],)], {"dtype": "undefined", "keepdim": False}, X.sum()),
    ("mean", [X, ([1],)], {"keepdim": False}, X.mean(1)),
    ("max", [X, ([-1],)], {"keepdim": False}, X.max(-1)),
    ("argmax", [X, (2,)], {"keepdims": True, "flatten": False, "dtype": "int64"}, X.argmax(2)[..., None]),
    ("cumsum", [X, (1,)], {"exclusive": True, "reverse": False, "flatten": False}, np.cumsum(X, 1) - X),
    ("cumsum", [X, (1,)], {"exclusive": False, "reverse": True, "flatten": False}, np.cumsum(X[:, ::-1], 1)[:, ::-1]),
    ("reshape", [X, ([0, -1],)], {}, X.reshape(2, -1)),
    ("squeeze", [X[None], ([0],)], {}, X),
    ("unsqueeze", [X, ([0, 2],)], {}, X[None][:, :, None]),
    ("transpose", [X], {"perm": [2, 0, 1]}, X.transpose(2, 0, 1)),
    ("flatten", [X], {"start_axis": 1, "stop_axis": 2}, X.reshape(2, 12)),
    ("concat", [[X, X], (1,)], {}, np.concatenate([X, X], 1)),
    ("stack", [[X, X]], {"axis": -1}, np.stack([X, X], -1)),
    ("expand", [X[:, :1], ([2, 3, -1],)], {}, np.broadcast_to(X[:, :1], X.shape)),
    ("tile", [X, ([1, 2, 1],)], {}, np.tile(X, (1, 2, 1))),
    ("slice", [X, ([0, 1],), ([1, 9],)], {"axes": [0, 2], "decrease_axis": [0]}, X[0, :, 1:]),
    ("slice", [X, ([-1],), ([0],)], {"axes": [1], "decrease_axis": [1]}, X[:, -1]),
    ("strided_slice", [X, ([3],), ([0],), ([-2],)], {"axes": [2]}, X[:, :, 3:0:-2]),
    ("gather", [X, np.array([1, 0]), (2,)], {}, X[:, :, [1, 0]]),
    ("gather_nd", [X, np.array([[1, 2], [0, 0]])], {}, X[[1, 0], [2, 0]]),
    ("where", [X > 0, X, -X], {}, np.abs(X)),
    ("roll", [X, ([1, -1],)], {"axis": [0, 2]}, np.roll(X, (1, -1), (0, 2))),
    ("pad", [X, ([0.0], "float32")], {"paddings": [0, 0, 1, 0, 0, 2]}, np.pad(X, ((0, 0), (1, 0), (0, 2)))),
    ("one_hot", [np.array([1, 0]), (3,)], {}, np.eye(3, dtype=np.float32)[[1, 0]]),
    ("tril", [X], {"diagonal": 0}, np.tril(X)),
    ("set_value_with_tensor_", [X, np.float32(5).reshape(1), ([1],), ([2],), ([1],)],
     {"axes": [1], "decrease_axes": [1], "none_axes": []}, np.where(np.arange(3)[None, :, None] == 1, np.float32(5), X)),
    ("matmul", [X, X], {"transpose_x": False, "transpose_y": True}, X @ X.transpose(0, 2, 1)),
    ("matmul_with_flatten", [X, X[0].reshape(12, 1)], {"x_num_col_dims": 1, "y_num_col_dims": 1},
     X.reshape(2, 12) @ X[0].reshape(12, 1)),
    ("embedding", [IDS, X[0]], {"padding_idx": 0}, np.where((IDS == 0)[..., None], 0, X[0][IDS])),
    ("embedding", [IDS, X[0]], {"padding_idx": -1}, X[0][IDS]),
    ("layer_norm", [X, None, None], {"epsilon": 0.0, "begin_norm_axis": 1},
     (X - X.mean((1, 2), keepdims=True)) / X.std((1, 2), keepdims=True)),
    ("dropout", [X, None, ([0.5], "float32")], {"is_test": True, "mode": "downscale_in_infer"}, X * 0.5),
    ("full_like", [X, ([2.0], "float32")], {"dtype": "int64"}, np.full(X.shape, 2)),
    ("p_norm", [X], {"porder": 2.0, "axis": 1, "keepdim": False, "asvector": False}, np.sqrt((X**2).sum(1))),
    ("quantize_linear", [X, np.float32([2.0]), None], {"quant_axis": -1, "bit_length": 8},
     np.clip(np.round(X / 2 * 127), -128, 127)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[f"{number}-{case[0]}" for number, case in enumerate(CASES)])
def test_against_numpy(case: Any) -> None:
    name, arrays, attributes, wanted = case
    [found] = run(name, arrays, attributes)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-5)


def test_lists_of_results() -> None:
    model, given = model_of("split", [X, ([1, 2],), (1,)], {})
    parts = [Value("a"), Value("b")]
    model.block.ops[-1].outputs = [parts]
    model.outputs = list(parts)
    first, second = LoadedModel(model)(*given)
    np.testing.assert_array_equal(first.numpy(), X[:, :1])
    np.testing.assert_array_equal(second.numpy(), X[:, 1:])


def test_top_two() -> None:
    values, places = run("topk", [X, ([2],)], {"axis": -1, "largest": True, "sorted": True}, 2)
    np.testing.assert_array_equal(places, np.argsort(-X, -1)[..., :2])
    np.testing.assert_array_equal(values, np.take_along_axis(X, places, -1))


def test_suppression_of_boxes_by_class() -> None:
    boxes = np.array([[[0, 0, 4, 4], [0, 0, 4, 5], [6, 6, 9, 9]]], np.float32)
    scores = np.array([[[0.9, 0.8, 0.1], [0.3, 0.6, 0.7]]], np.float32)
    attributes = {
        "score_threshold": 0.2, "nms_top_k": 10, "keep_top_k": 2, "nms_threshold": 0.5, "normalized": True,
        "nms_eta": 1.0, "background_label": -1,
    }  # fmt: skip
    rows, places, counts = run("multiclass_nms3", [boxes, scores, None], attributes, 3)
    np.testing.assert_allclose(rows, [[0, 0.9, 0, 0, 4, 4], [1, 0.7, 6, 6, 9, 9]], rtol=1e-6)
    assert places.tolist() == [[0], [2]]
    assert counts.tolist() == [2]


def test_an_absurd_size_is_not_made_while_reading() -> None:
    out, total = Value("out", "float32", (1,)), Value("total")  # the declared shape lies
    ops = [
        Op("full", [], {"shape": [10**6, 10**6], "value": 1.0, "dtype": "float32"}, [out]),
        Op("add", [Value("x", "float32", (1,)), out], {}, [total]),
    ]
    model = Model([ops[1].inputs[0]], {}, {}, Block(ops), [total])
    graph = LoadedModel(model).graph_for([paddle.ones([1])])
    assert graph is not None
    assert [tuple(aval.shape) for aval in graph.output_avals] == [(10**6, 10**6)]


def test_an_unknown_operation_is_named_when_the_model_is_loaded() -> None:
    model, _ = model_of("frobnicate", [X], {})
    with pytest.raises(NotImplementedError, match=r"operation 1 of the model is 'frobnicate'.*@reads\('frobnicate'\)"):
        LoadedModel(model)


def test_users_can_add_a_translator() -> None:
    @reads("test_only_twice")
    def twice(x: Any, *, factor: float = 2.0) -> Any:
        return x * factor

    try:
        [found] = run("test_only_twice", [X], {"factor": 3.0, "not_asked_for": 1})
        np.testing.assert_allclose(found, X * 3, rtol=1e-6)
    finally:
        del READERS["test_only_twice"]


def test_a_missing_attribute_is_named() -> None:
    with pytest.raises(ValueError, match="transpose lacks its attribute perm"):
        run("transpose", [X], {})


def test_a_value_that_inference_does_not_compute_is_named() -> None:
    model, given = model_of("layer_norm", [X, None, None], {"epsilon": 1e-5, "begin_norm_axis": 1}, 2)
    with pytest.raises(NotImplementedError, match="'out1', a result that inference does not compute"):
        LoadedModel(model)(*given)


def test_many_operations_have_translators() -> None:
    assert len(READERS) > 400
