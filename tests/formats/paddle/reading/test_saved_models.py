"""Models that real Paddle saved, in both of its formats, give here what they gave there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import proa as paddle
from proa.formats.paddle.files import read_model
from proa.formats.paddle.reading import LoadedModel, read_graph

FIXTURES = Path(__file__).parent / "fixtures"
SAVED = [(kind, path.stem) for kind in ("json", "pdmodel") for path in sorted((FIXTURES / kind).glob("*.npz"))]


def load(kind: str, name: str) -> tuple[LoadedModel, list[tuple[np.ndarray, list[np.ndarray]]]]:
    """The model, and what Paddle gave for each input."""
    with np.load(FIXTURES / kind / f"{name}.npz") as kept:
        count = sum(key.startswith("in_") for key in kept.files)
        cases = [
            (kept[f"in_{n}"], [kept[key] for key in sorted(kept.files) if key.startswith(f"out_{n}_")])
            for n in range(count)
        ]
    return LoadedModel(read_model(FIXTURES / kind / name)), cases


@pytest.mark.parametrize(("kind", "name"), SAVED)
def test_results_are_paddles(kind: str, name: str) -> None:
    model, cases = load(kind, name)
    for given, wanted in cases:
        found = model(given)
        assert [tuple(f.shape) for f in found] == [w.shape for w in wanted]
        for mine, theirs in zip(found, wanted, strict=True):
            np.testing.assert_allclose(mine.numpy(), theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("kind", "name"), SAVED)
def test_running_directly_gives_the_same(kind: str, name: str) -> None:
    model, [(given, wanted), *_] = load(kind, name)
    for mine, theirs in zip(model.run_directly([paddle.to_tensor(given)]), wanted, strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["picture", "sequence", "loop"])
def test_one_graph_for_all_sizes(name: str) -> None:
    model, cases = load("json", name)
    graph = read_graph(model.model, model.parameters)
    assert -1 in graph.inputs[0].shape
    for given, wanted in cases:
        for mine, theirs in zip(graph(paddle.to_tensor(given)), wanted, strict=True):
            np.testing.assert_allclose(mine.numpy(), theirs, rtol=1e-5, atol=1e-5)


def test_a_result_of_unknown_size_is_run_directly() -> None:
    model, [(given, wanted)] = load("json", "chosen")
    found = model(given)
    assert model.reason is not None
    assert "value" in str(model.reason)
    np.testing.assert_array_equal(found[0].numpy(), wanted[0])


def test_parameters_have_their_names_and_statistics_get_no_gradient() -> None:
    model, _ = load("json", "picture")
    assert {"conv2d_0.w_0", "batch_norm2d_0.w_1", "linear_0.b_0"} <= set(model.parameters)
    assert all(parameter.name == name for name, parameter in model.parameters.items())
    assert not model.parameters["conv2d_0.w_0"].stop_gradient
    assert model.parameters["batch_norm2d_0.w_1"].stop_gradient  # the running mean


def test_a_changed_parameter_changes_the_result() -> None:
    model, [(given, wanted), *_] = load("json", "picture")
    model(given)
    model.parameters["linear_0.b_0"].set_value(model.parameters["linear_0.b_0"] + 1.0)
    np.testing.assert_allclose(model(given)[0].numpy(), wanted[0] + 1, rtol=1e-5, atol=1e-5)


def test_gradients_flow_through_a_loaded_graph() -> None:
    from proa.graph.replay import replay

    model, [(given, _), *_] = load("json", "sequence")
    x = paddle.to_tensor(given, stop_gradient=False)
    graph = model.graph_for([x])
    assert graph is not None
    replay(graph, [x])[0].sum().backward()
    assert x.grad is not None
    assert float(x.grad.abs().sum()) > 0
    assert model.parameters["lstm_cell_0.w_0"].grad is not None


def test_wrong_inputs_are_named() -> None:
    model, _ = load("json", "picture")
    with pytest.raises(ValueError, match=r"the input x must have the shape \[-1, 3, -1, -1\].*float32\[1, 4, 5, 5\]"):
        model(np.zeros((1, 4, 5, 5), np.float32))
    with pytest.raises(TypeError, match=r"the input x must be float32.*int64"):
        model(np.zeros((1, 3, 5, 5), np.int64))
    with pytest.raises(ValueError, match=r"1 inputs are needed \(x\); received 2"):
        model(np.zeros((1, 3, 5, 5), np.float32), np.zeros(1))


def test_a_wrong_shape_inside_the_model_says_which_operation() -> None:
    model, _ = load("json", "loop")
    model.model.block.ops.insert(0, type(model.model.block.ops[0])("matmul", [model.model.inputs[0]] * 2, {}, []))
    with pytest.raises(ValueError, match="matmul") as caught:
        model(np.zeros((3, 4), np.float32))
    assert any("operation 1 of the model was translated: matmul" in note for note in caught.value.__notes__)
