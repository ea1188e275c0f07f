"""Files of the real package, read: parameters against what its layers said, operations against what was written."""

from __future__ import annotations

import json
import pathlib
import shutil

import numpy as np
import pytest

from proa.formats.paddle.files import read_model
from proa.formats.paddle.model import Model, Op, Value

FIXTURES = pathlib.Path(__file__).parent.parent / "fixtures"
PROGRAMS = sorted([*FIXTURES.glob("*.json"), *FIXTURES.glob("*.pdmodel")])


def fixture(name: str) -> Model:
    return read_model(FIXTURES / name)


def operation(model: Model, name: str) -> Op:
    return next(op for op in model.block.ops if op.name == name)


def maker(model: Model, value: Value) -> Op:
    return next(op for op in model.block.ops if value in op.outputs)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_parameters_are_those_of_the_layer(path: pathlib.Path) -> None:
    model = read_model(path)
    state = FIXTURES / (path.stem + ".npz")
    expected = dict(np.load(state)) if state.exists() else {}
    found = {name: array for name, array in model.parameters.items() if not name.endswith("__non_persistable")}
    assert sorted(found) == sorted(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)
        assert model.parameter_values[name].shape == array.shape


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_every_value_is_made_before_it_is_used(path: pathlib.Path) -> None:
    model = read_model(path)
    seen: set[str] = set()

    def flat(items: list) -> list[Value]:
        return [v for item in items for v in (flat(item) if isinstance(item, list) else [item] if item else [])]

    def walk(block, known: set[int]) -> None:
        known = known | {id(value) for value in block.arguments}
        for op in block.ops:
            assert all(id(value) in known for value in flat(op.inputs)), op.name
            for inner in op.blocks:
                walk(inner, known)
            known |= {id(value) for value in flat(op.outputs)}
            for value in flat(op.outputs):
                assert value.name not in seen
                seen.add(value.name)
        assert all(id(value) in known for value in block.results)

    walk(model.block, {id(value) for value in [*model.inputs, *model.parameter_values.values()]})


def test_conv_of_the_newer_format() -> None:
    model = fixture("conv.json")
    assert [(v.name, v.dtype, v.shape) for v in model.inputs] == [("x", "float32", (-1, 3, 8, 8))]
    assert [(v.name, v.shape) for v in model.outputs] == [("fetch_name_0", (-1, 5)), ("fetch_name_1", (-1, 10))]
    conv = operation(model, "conv2d")
    assert conv.inputs == [model.inputs[0], model.parameter_values["conv2d_0.w_0"]]
    assert conv.attributes["paddings"] == [0, 0]
    assert conv.attributes["data_format"] == "NCHW"
    norm = operation(model, "batch_norm_")
    assert [v.name for v in norm.inputs[1:]] == [f"batch_norm2d_0.{part}" for part in ("w_1", "w_2", "w_0", "b_0")]
    assert len(norm.outputs) == 6
    assert norm.attributes["is_test"] is True
    concat = operation(model, "concat")
    assert isinstance(concat.inputs[0], list)
    assert len(concat.inputs[0]) == 2
    assert maker(model, concat.inputs[1]).attributes["value"] == 1.0


def test_both_formats_have_the_same_operations() -> None:
    new, old = fixture("conv.json"), fixture("conv_legacy.pdmodel")
    kinds = [[op.name for op in model.block.ops if not op.name.startswith("full")] for model in (new, old)]
    # The older version multiplies each result by one when it saves.
    assert kinds[0] == [name for name in kinds[1] if name != "scale"]
    assert kinds[1].count("scale") == 2
    for name in ("conv2d", "batch_norm_", "pool2d", "matmul", "dropout", "softmax"):
        first, second = dict(operation(new, name).attributes), dict(operation(old, name).attributes)
        assert first == second, name


def test_lists_of_tensors_and_absent_operands() -> None:
    for name in ("lstm.json", "lstm_legacy.pdmodel"):
        rnn = operation(fixture(name), "rnn")
        assert [len(rnn.inputs[position]) for position in (1, 2)] == [2, 4]
        assert rnn.inputs[3] is None
        assert rnn.attributes["mode"] == "LSTM"
        assert rnn.attributes["hidden_size"] == 3
        assert [len(item) if isinstance(item, list) else 1 for item in rnn.outputs] == [1, 1, 2, 1]


def test_a_state_that_no_file_keeps_is_zero() -> None:
    model = fixture("lstm.json")
    [name] = [name for name in model.parameters if name.endswith("__non_persistable")]
    assert model.parameters[name].dtype == np.uint8
    assert model.parameters[name].shape == ()
    assert not model.parameters[name]


@pytest.mark.parametrize("name", ["loop.json", "loop_legacy.pdmodel"])
def test_loops_have_arguments_and_results(name: str) -> None:
    model = fixture(name)
    loop = operation(model, "while")
    body = loop.blocks[0]
    assert len(loop.inputs) == len(body.results) == len(body.arguments) + 1 == len(loop.outputs) + 1
    assert body.results[0].dtype == "bool"
    for start, argument, result in zip(loop.inputs[1:], body.arguments, loop.outputs, strict=True):
        assert start.dtype == argument.dtype == result.dtype
    inner = [op.name for op in body.ops]
    assert inner.count("if") == 1
    assert inner.count("while") == 1
    condition = next(op for op in body.ops if op.name == "if")
    assert [len(block.results) for block in condition.blocks] == [len(condition.outputs)] * 2
    assert "matmul" in [op.name for op in condition.blocks[0].ops]


def test_arrays_of_tensors_in_loops() -> None:
    model = fixture("lists_legacy.pdmodel")
    start = operation(model, "create_array")
    assert start.outputs[0].dtype == "float32[]"
    loop = operation(model, "while")
    assert start.outputs[0] in loop.inputs
    assert operation(model, "array_to_tensor").attributes == {"axis": 0, "use_stack": True}
    assert operation(model, "array_to_tensor").inputs[0] in loop.outputs


@pytest.mark.parametrize("name", ["values.json", "values_legacy.pdmodel"])
def test_constants_and_values(name: str) -> None:
    model = fixture(name)

    def known(value: Value):
        return maker(model, value).attributes["value"]

    split = operation(model, "split")
    assert known(split.inputs[1]) == [1, 3]
    assert known(split.inputs[2]) == 1.0
    assert len(split.outputs[0]) == 2
    assert operation(model, "split_with_num").attributes == {"num": 2}
    clip = operation(model, "clip")
    assert [known(value) for value in clip.inputs[1:]] == [0.25, 0.75]
    part = next(op for op in model.block.ops if op.name in ("set_value", "set_value_"))
    assert part.attributes["values"] == [7.0]
    assert [known(value) for value in part.inputs[1:]] == [[0, 1], [1, 2], [1, 1]]
    constant = next(op for op in model.block.ops if op.name in ("assign_value", "assign_value_"))
    assert constant.attributes["values"] == [1.0, 2.0, 3.0, 4.0]
    assert constant.attributes["dtype"] == "float32"
    assert known(operation(model, "topk").inputs[1]) == 2.0
    assert operation(model, "strided_slice").attributes["axes"] == [1]


def test_infinities_and_missing_numbers(tmp_path: pathlib.Path) -> None:
    text = (FIXTURES / "values.json").read_text()
    for written, expected in (("INF", "inf"), ("-INF", "-inf"), ("NaN", "nan"), ("NAN", "nan")):
        (tmp_path / "m.json").write_text(text.replace('"D":0.25}', f'"VD":"{written}"}}'))
        model = read_model(tmp_path / "m")
        assert str(maker(model, operation(model, "clip").inputs[1]).attributes["value"]) == expected


# Where files are looked for


def test_prefix_file_and_folder(tmp_path: pathlib.Path) -> None:
    shutil.copy(FIXTURES / "loop.json", tmp_path / "inference.json")
    shutil.copy(FIXTURES / "loop.pdiparams", tmp_path / "inference.pdiparams")
    for given in (tmp_path / "inference", tmp_path / "inference.json", tmp_path, str(tmp_path)):
        assert len(read_model(given).parameters) == 2
    (tmp_path / "inference.pdiparams").rename(tmp_path / "weights")
    assert len(read_model(tmp_path / "inference", tmp_path / "weights").parameters) == 2
    with pytest.raises(FileNotFoundError, match=r"2 parameters \(linear.*pass its path as params"):
        read_model(tmp_path / "inference")
    with pytest.raises(FileNotFoundError, match=r"neither .*absent\.json nor .*absent\.pdmodel"):
        read_model(tmp_path / "absent")
    with pytest.raises(FileNotFoundError, match=r"there is no .*absent\.json; give"):
        read_model(tmp_path / "absent.json")
    with pytest.raises(FileNotFoundError, match=r"there is no .*absent, where the parameters of .*inference\.json are"):
        read_model(tmp_path / "inference", tmp_path / "absent")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"has no inference\.json"):
        read_model(tmp_path / "empty")


def test_one_file_for_each_parameter(tmp_path: pathlib.Path) -> None:
    """The oldest form: a folder with `__model__` and a file for each parameter."""
    combined = (FIXTURES / "loop_legacy.pdiparams").read_bytes()
    model = fixture("loop_legacy.pdmodel")
    shutil.copy(FIXTURES / "loop_legacy.pdmodel", tmp_path / "__model__")
    at = 0
    for name in sorted(model.parameters):
        # 20 bytes of versions and sizes; a description of two bytes for the type and two for each (small) size
        size = 20 + 2 * (1 + model.parameters[name].ndim) + model.parameters[name].nbytes
        (tmp_path / name).write_bytes(combined[at : at + size])
        at += size
    assert at == len(combined)
    found = read_model(tmp_path)
    for name, array in model.parameters.items():
        np.testing.assert_array_equal(found.parameters[name], array)


# What is refused


def test_parameters_of_another_model(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="pdiparams"):
        read_model(FIXTURES / "conv.json", FIXTURES / "loop.pdiparams")
    with pytest.raises(ValueError, match=r"is it the file of another model|are the two files of one model"):
        read_model(FIXTURES / "loop.json", FIXTURES / "conv.pdiparams")


def test_absurd_sizes_do_not_take_memory(tmp_path: pathlib.Path) -> None:
    data = bytearray((FIXTURES / "loop.pdiparams").read_bytes())
    at = data.index(b"\x10\x04")
    data[at : at + 2] = b"\x10\x7f"
    (tmp_path / "p").write_bytes(data)
    with pytest.raises(ValueError, match=r"sizes \[127\] does not|\[127\]"):
        read_model(FIXTURES / "loop.json", tmp_path / "p")


def test_messages_name_the_trouble(tmp_path: pathlib.Path) -> None:
    def attempt(change, match: str) -> None:
        tree = json.loads((FIXTURES / "loop.json").read_text())
        change(tree)
        (tmp_path / "m.json").write_text(json.dumps(tree))
        with pytest.raises(ValueError, match=match):
            read_model(tmp_path / "m.json", FIXTURES / "loop.pdiparams")

    def ops(tree) -> list:
        return tree["program"]["regions"][0]["blocks"][0]["ops"]

    attempt(lambda tree: tree["base_code"].update(magic="other"), "magic word is 'other'")
    attempt(lambda tree: ops(tree).reverse(), "used before it is defined")
    attempt(lambda tree: ops(tree)[3].update({"#": "7.full"}), "unknown dialect")
    attempt(lambda tree: ops(tree)[4]["A"][0]["AT"].update({"#": "1.a_new"}), "attributes of type '1.a_new'")
    attempt(lambda tree: ops(tree)[4]["O"][0]["TT"].update({"#": "1.t_new"}), "values of type '1.t_new'")
    (tmp_path / "m.json").write_text("{")
    with pytest.raises(ValueError, match="not JSON"):
        read_model(tmp_path / "m.json")
    (tmp_path / "m.pdmodel").write_bytes(b"\x0a\xff\xff\xff\xff\x0f")
    with pytest.raises(ValueError, match="protobuf"):
        read_model(tmp_path / "m.pdmodel")
    (tmp_path / "m.pdmodel").write_bytes(b"")
    with pytest.raises(ValueError, match="no blocks"):
        read_model(tmp_path / "m.pdmodel")
